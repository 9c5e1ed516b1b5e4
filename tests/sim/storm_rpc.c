// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/storm_rpc.h"

#include <stdlib.h>
#include <string.h>

#include "nfs/proc_table.h"
#include "rpc/rpc_header.h"
#include "rpc/xdr.h"
#include "tests/sim/rig.h"

#define KIB             1024u
#define OTHER_PROGRAM   0x20000099u /* nobody knows it, so nothing bounds its Replies */
#define REVERSE_PROGRAM 0x40000099u
#define OTHER_MAX       (300 * KIB)
#define LONG_REPLY_MIN  (KIB * KIB)
#define LONG_EVERY      32u /* one of so many directories, where there are long ones */
#define NFS3_NULL       0u
#define NFS3_READ       6u
#define NFS3_WRITE      7u
#define NFS3_READDIR    16u
#define NFS4_COMPOUND   1u
#define PUTROOTFH       24u
#define READ4           25u
#define COMPOUND_EVERY  8u    /* one of so many Calls of NULL is a COMPOUND instead … */
#define COMPOUND_MAX    1100u /* … of up to so many operations: more than are walked */
#define GSS_SEED        0x6753u
#define GSS_OF          12u /* one of so many Calls is of each service of RPCSEC_GSS */
#define HANDLE          0x68646cu
#define READDIR_BESIDE  64u /* of its results, what is not the name of its one entry */

/* What is called, and how many bytes of data go each way. */
struct shape {
	uint32_t program, procedure;
	uint32_t call_data, reply_data;
	uint32_t ops; /* of a COMPOUND, the last of which is a READ; else 0 */
};

uint64_t storm_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t mixed(uint64_t seed, uint32_t xid)
{
	uint64_t z = seed * 0x9e3779b97f4a7c15u + (xid + 1ull) * 0xbf58476d1ce4e5b9u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) | 1;
}

/* Most are small, three of a thousand are 2 MiB. */
static uint32_t some_size(uint64_t *state)
{
	unsigned of_thousand = (unsigned)(storm_random(state) % 1000);
	uint32_t most = of_thousand < 700   ? 460
			: of_thousand < 920 ? 8 * KIB
			: of_thousand < 985 ? 64 * KIB
					    : 300 * KIB;

	return of_thousand >= 997 ? 2 * KIB * KIB : (uint32_t)(storm_random(state) % (most + 1));
}

static uint32_t at_most(uint32_t size, uint32_t most)
{
	return size < most ? size : size % (most + 1);
}

/* A Reply of no payload that could move by itself. */
static uint32_t some_directory(const struct storm_traffic *traffic, uint64_t *state, uint32_t size)
{
	if (traffic->long_replies && storm_random(state) % LONG_EVERY == 0)
		return LONG_REPLY_MIN + (uint32_t)(storm_random(state) % LONG_REPLY_MIN);
	return at_most(size, OTHER_MAX);
}

static struct shape null_or_compound(uint64_t *state, uint32_t size)
{
	uint64_t pick = storm_random(state);

	if (pick % COMPOUND_EVERY)
		return (struct shape){NFS_PROGRAM_NFS, NFS3_NULL, 0, 0, 0};
	return (struct shape){NFS_PROGRAM_NFS, NFS4_COMPOUND, 0, at_most(size, OTHER_MAX),
			      1 + (uint32_t)(pick / COMPOUND_EVERY % COMPOUND_MAX)};
}

static struct shape shape_of(const struct storm_traffic *traffic, uint32_t xid)
{
	uint64_t state = mixed(traffic->seed, xid);
	uint32_t first = some_size(&state), second = some_size(&state);

	if (xid & STORM_REVERSE_XID)
		return (struct shape){REVERSE_PROGRAM, 1, at_most(first, traffic->reverse_max),
				      at_most(second, traffic->reverse_max), 0};
	switch (storm_random(&state) % 5) {
	case 0:
		return (struct shape){NFS_PROGRAM_NFS, NFS3_WRITE, first, 0, 0};
	case 1:
		return (struct shape){NFS_PROGRAM_NFS, NFS3_READ, 0, first, 0};
	case 2:
		return (struct shape){OTHER_PROGRAM, 1, at_most(first, OTHER_MAX),
				      at_most(second, OTHER_MAX), 0};
	case 3:
		return (struct shape){NFS_PROGRAM_NFS, NFS3_READDIR, 0,
				      some_directory(traffic, &state, first), 0};
	default:
		return null_or_compound(&state, first);
	}
}

static uint8_t *reserve(struct storm_msg *msg, size_t bytes)
{
	uint8_t *at;

	if (msg->len_bytes + bytes > msg->room_bytes) {
		msg->room_bytes = 2 * (msg->len_bytes + bytes);
		msg->bytes = realloc(msg->bytes, msg->room_bytes);
		RIG_ASSERT(msg->bytes);
	}
	at = msg->bytes + msg->len_bytes;
	msg->len_bytes += (uint32_t)bytes;
	return at;
}

static void put(struct storm_msg *msg, uint32_t word)
{
	be32_put(reserve(msg, 4), word);
}

static void put_zeros(struct storm_msg *msg, unsigned words)
{
	memset(reserve(msg, 4 * (size_t)words), 0, 4 * (size_t)words);
}

static void put_data(struct storm_msg *msg, uint64_t state, uint32_t bytes)
{
	uint32_t padded = (uint32_t)xdr_padded_bytes(bytes);
	uint8_t *at;

	put(msg, bytes);
	at = reserve(msg, padded);
	for (uint32_t i = 0; i < padded; i += 8) {
		uint64_t word = storm_random(&state);

		memcpy(at + i, &word, padded - i < 8 ? padded - i : 8);
	}
	memset(at + bytes, 0, padded - bytes);
}

/* A tag, minor version 0, and the operations. */
static void put_compound_call(struct storm_msg *msg, const struct shape *shape)
{
	put_zeros(msg, 2);
	put(msg, shape->ops);
	for (uint32_t i = 1; i < shape->ops; i++)
		put(msg, PUTROOTFH);
	put(msg, READ4);
	put_zeros(msg, 6); /* stateid, offset */
	put(msg, shape->reply_data);
}

static void put_compound_reply(struct storm_msg *msg, const struct shape *shape, uint64_t state)
{
	put_zeros(msg, 2); /* NFS4_OK, the tag */
	put(msg, shape->ops);
	for (uint32_t i = 1; i < shape->ops; i++) {
		put(msg, PUTROOTFH);
		put(msg, 0);
	}
	put(msg, READ4);
	put(msg, 0);
	put(msg, 1); /* the end of the file */
	put_data(msg, state, shape->reply_data);
}

/*
 * For RPCSEC_GSS: the service, or 0 for a Call of AUTH_NONE. The longest Calls are not encrypted:
 * with their segments a header can lack space for the reply chunk of a Reply that has no maximum
 * size.
 */
static uint32_t service_of(const struct storm_traffic *traffic, uint32_t xid)
{
	uint64_t state = mixed(traffic->seed ^ GSS_SEED, xid);
	uint32_t choice = (uint32_t)(storm_random(&state) % GSS_OF);

	if (choice == RPC_GSS_PRIVACY && shape_of(traffic, xid).call_data > OTHER_MAX)
		return RPC_GSS_INTEGRITY;
	return choice <= RPC_GSS_PRIVACY ? choice : 0;
}

bool storm_is_gss(const struct storm_traffic *traffic, uint32_t xid)
{
	return service_of(traffic, xid) != 0;
}

bool storm_is_encrypted(const struct storm_traffic *traffic, uint32_t xid)
{
	return service_of(traffic, xid) == RPC_GSS_PRIVACY;
}

static void put_mic(struct storm_msg *msg, uint32_t seq)
{
	put(msg, 8);
	put(msg, seq);
	put(msg, ~seq);
}

/* The credential, and a verifier that is the sequence number's. */
static void put_auth(struct storm_msg *msg, uint32_t service, uint32_t seq)
{
	if (!service) {
		put_zeros(msg, 4); /* AUTH_NONE, twice */
		return;
	}
	put(msg, RPC_AUTH_GSS);
	put(msg, 24);
	put(msg, 1);
	put(msg, RPC_GSS_DATA);
	put(msg, seq);
	put(msg, service);
	put(msg, 4);
	put(msg, HANDLE);
	put(msg, RPC_AUTH_GSS);
	put_mic(msg, seq);
}

/* The signed or encrypted part begins at the returned offset. */
static uint32_t begin_body(struct storm_msg *msg, uint32_t service, uint32_t seq)
{
	uint32_t start = msg->len_bytes;

	if (service >= RPC_GSS_INTEGRITY) {
		put(msg, 0); /* its length, set at its end */
		put(msg, seq);
	}
	return start;
}

static void end_body(struct storm_msg *msg, uint32_t service, uint32_t seq, uint32_t start)
{
	if (service < RPC_GSS_INTEGRITY)
		return;
	be32_put(msg->bytes + start, msg->len_bytes - start - 4);
	if (service == RPC_GSS_INTEGRITY)
		put_mic(msg, seq);
	else
		for (uint32_t at = start + 4; at < msg->len_bytes; at += 4)
			be32_put(msg->bytes + at, be32_get(msg->bytes + at) ^ (seq * 0x9e3779b9u));
}

static void put_args(struct storm_msg *msg, const struct shape *shape_at, uint64_t state)
{
	const struct shape shape = *shape_at;

	if (shape.program != NFS_PROGRAM_NFS) {
		put_data(msg, state, shape.call_data);
		return;
	}
	if (shape.ops)
		put_compound_call(msg, &shape);
	if (shape.ops || shape.procedure == NFS3_NULL)
		return;
	put_data(msg, state, 28); /* the file's handle */
	put_zeros(msg, 2);        /* offset, or cookie */
	if (shape.procedure == NFS3_READDIR) {
		put_zeros(msg, 2); /* the verifier of the cookie */
		put(msg, shape.reply_data + READDIR_BESIDE);
		return;
	}
	put(msg, shape.call_data + shape.reply_data);
	if (shape.procedure == NFS3_READ)
		return;
	put(msg, 0); /* UNSTABLE */
	put_data(msg, state, shape.call_data);
}

void storm_call(struct storm_msg *msg, const struct storm_traffic *traffic, uint32_t xid,
		uint32_t seq)
{
	const struct shape shape = shape_of(traffic, xid);
	uint32_t service = service_of(traffic, xid), start;

	msg->len_bytes = 0;
	put(msg, xid);
	put(msg, 0); /* CALL */
	put(msg, 2);
	put(msg, shape.program);
	put(msg, shape.ops ? 4 : shape.program == NFS_PROGRAM_NFS ? 3 : 1);
	put(msg, shape.procedure);
	put_auth(msg, service, seq);
	start = begin_body(msg, service, seq);
	put_args(msg, &shape, mixed(~traffic->seed, xid));
	end_body(msg, service, seq, start);
}

static void put_results(struct storm_msg *msg, const struct shape *shape_at, uint64_t state)
{
	const struct shape shape = *shape_at;

	if (shape.program != NFS_PROGRAM_NFS) {
		put_data(msg, state, shape.reply_data);
		return;
	}
	if (shape.ops) {
		put_compound_reply(msg, &shape, state);
	} else if (shape.procedure == NFS3_READ) {
		put_zeros(msg, 2); /* NFS3_OK, no attributes */
		put(msg, shape.reply_data);
		put(msg, 1); /* the end of the file */
		put_data(msg, state, shape.reply_data);
	} else if (shape.procedure == NFS3_WRITE) {
		put_zeros(msg, 3); /* NFS3_OK, no attributes before and after */
		put(msg, shape.call_data);
		put_zeros(msg, 3); /* UNSTABLE, the verifier */
	} else if (shape.procedure == NFS3_READDIR) {
		put_zeros(msg, 4); /* NFS3_OK, no attributes, the verifier of the cookies */
		put(msg, 1);       /* an entry: */
		put_zeros(msg, 2); /* its number */
		put_data(msg, state, shape.reply_data);
		put_zeros(msg, 2); /* its cookie */
		put(msg, 0);       /* no more of them … */
		put(msg, 1);       /* … in the directory */
	}
}

void storm_reply(struct storm_msg *msg, const struct storm_traffic *traffic, uint32_t xid,
		 uint32_t seq)
{
	const struct shape shape = shape_of(traffic, xid);
	uint32_t service = service_of(traffic, xid), start;

	msg->len_bytes = 0;
	put(msg, xid);
	put(msg, 1); /* REPLY */
	put(msg, 0); /* accepted */
	if (service) {
		put(msg, RPC_AUTH_GSS);
		put_mic(msg, seq);
	} else {
		put_zeros(msg, 2);
	}
	put(msg, 0); /* SUCCESS */
	start = begin_body(msg, service, seq);
	put_results(msg, &shape, mixed(~traffic->seed, ~xid));
	end_body(msg, service, seq, start);
}

static uint32_t word_at(const uint8_t *bytes, uint32_t len_bytes, uint32_t at)
{
	return len_bytes < at + 4 ? 0 : be32_get(bytes + at);
}

uint32_t storm_call_seq(const uint8_t *bytes, uint32_t len_bytes)
{
	return word_at(bytes, len_bytes, 24) == RPC_AUTH_GSS ? word_at(bytes, len_bytes, 40) : 0;
}

uint32_t storm_reply_seq(const uint8_t *bytes, uint32_t len_bytes)
{
	return word_at(bytes, len_bytes, 12) == RPC_AUTH_GSS ? word_at(bytes, len_bytes, 20) : 0;
}

bool storm_is_failure(const struct storm_traffic *traffic, uint32_t xid, const uint8_t *bytes,
		      uint32_t len_bytes)
{
	const uint32_t failed[] = {htobe32(xid),           htobe32(RPC_REPLY), 0, 0, 0,
				   htobe32(RPC_SYSTEM_ERR)};
	const uint32_t denied[] = {htobe32(xid), htobe32(RPC_REPLY), htobe32(RPC_MSG_DENIED),
				   htobe32(1) /* AUTH_ERROR */, htobe32(RPC_AUTH_FAILED)};

	if (len_bytes == sizeof(denied) && (storm_is_gss(traffic, xid) || xid & STORM_REVERSE_XID))
		return !memcmp(bytes, denied, sizeof(denied));
	return len_bytes == sizeof(failed) && !storm_is_gss(traffic, xid) &&
	       !memcmp(bytes, failed, sizeof(failed));
}

bool storm_same(const struct storm_msg *msg, const uint8_t *bytes, uint32_t len_bytes)
{
	return msg->len_bytes == len_bytes && !memcmp(msg->bytes, bytes, len_bytes);
}

void storm_msg_free(struct storm_msg *msg)
{
	free(msg->bytes);
	*msg = (struct storm_msg){0};
}
