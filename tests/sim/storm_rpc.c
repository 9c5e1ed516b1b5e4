// SPDX-License-Identifier: BSD-3-Clause
/* RPCs of all sizes. */
#include "tests/sim/storm_rpc.h"

#include <stdlib.h>
#include <string.h>

#include "nfs/table.h"
#include "rpc/msg.h"
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
#define READDIR_BESIDE  64u   /* of its results, what is not the name of its one entry */

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
	xdr_store_u32(reserve(msg, 4), word);
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

void storm_call(struct storm_msg *msg, const struct storm_traffic *traffic, uint32_t xid)
{
	const struct shape shape = shape_of(traffic, xid);
	uint64_t state = mixed(~traffic->seed, xid);

	msg->len_bytes = 0;
	put(msg, xid);
	put(msg, 0); /* CALL */
	put(msg, 2);
	put(msg, shape.program);
	put(msg, shape.ops ? 4 : shape.program == NFS_PROGRAM_NFS ? 3 : 1);
	put(msg, shape.procedure);
	put_zeros(msg, 4); /* AUTH_NONE, twice */
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

void storm_reply(struct storm_msg *msg, const struct storm_traffic *traffic, uint32_t xid)
{
	const struct shape shape = shape_of(traffic, xid);
	uint64_t state = mixed(~traffic->seed, ~xid);

	msg->len_bytes = 0;
	put(msg, xid);
	put(msg, 1);       /* REPLY */
	put_zeros(msg, 4); /* accepted, AUTH_NONE, SUCCESS */
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

void storm_failure(struct storm_msg *msg, uint32_t xid)
{
	msg->len_bytes = 0;
	put(msg, xid);
	put(msg, RPC_REPLY);
	put_zeros(msg, 3); /* accepted, AUTH_NONE */
	put(msg, RPC_SYSTEM_ERR);
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
