// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPA (RFC 5044, 6581), DDP (RFC 5041) and RDMAP (RFC 5040) of one connection: every FPDU's CRC,
 * every message's place in its order, and each RDMA Read's answer.
 */
#include "tests/judge/iwarp.h"

#include <stdlib.h>
#include <string.h>

#include "tests/judge/bytes.h"
#include "tests/judge/transport.h"

#define MPA_BYTES      20u
#define MPA_MARKERS    0x80
#define MPA_CRC        0x40
#define MPA_REJECT     0x20
#define MPA_ENHANCED   0x10
#define DEPTH_MASK     0x3fffu
#define CM_MAGIC       0xf6ab0e18u /* RFC 8797 */
#define CM_VERSION     1u
#define CM_INVALIDATES 0x01
#define CM_BYTES       8u
#define TAGGED_BYTES   14u
#define UNTAGGED_BYTES 18u
#define READ_BYTES     28u
#define DDP_TAGGED     0x80
#define DDP_LAST       0x40
#define QUEUES         3u
#define QN_SEND        0u
#define QN_READ        1u

enum {
	OP_WRITE,
	OP_READ_REQUEST,
	OP_READ_RESPONSE,
	OP_SEND,
	OP_SEND_INV,
	OP_SEND_SE,
	OP_SEND_SE_INV,
	OP_TERMINATE
};

struct read_request {
	struct read_request *next;
	uint32_t source;
	uint32_t stag; /* where it goes */
	uint64_t to;
	uint32_t left; /* what is to come */
};

struct iwarp_side {
	bool started;         /* its MPA frame is in */
	uint32_t msn[QUEUES]; /* of the last message */
	uint8_t *send;        /* the Send that comes */
	size_t send_len, send_room;
	bool in_send, in_tagged;
	bool too_long;          /* the Send is, which has been said */
	uint32_t send_bytes[3]; /* what the Send may have, by the version of RPC-over-RDMA */
	uint8_t tagged_op;
	uint32_t tagged_stag;
	uint64_t tagged_to;
	struct book_moment then;                 /* when the Send began */
	struct read_request *reads, **reads_end; /* that it waits for */
	unsigned reads_count;
};

struct iwarp {
	struct iwarp_side side[2];
	bool crc, enhanced;
	struct session session;
};

struct iwarp *iwarp_new(struct hearing *hearing)
{
	struct iwarp *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	for (unsigned i = 0; i < 2; i++)
		w->side[i].reads_end = &w->side[i].reads;
	session_init(&w->session, hearing);
	return w;
}

static void read_drop(struct iwarp_side *side)
{
	struct read_request *read = side->reads;

	side->reads = read->next;
	if (!side->reads)
		side->reads_end = &side->reads;
	side->reads_count--;
	free(read);
}

void iwarp_free(struct iwarp *w)
{
	for (unsigned i = 0; i < 2; i++) {
		while (w->side[i].reads)
			read_drop(&w->side[i]);
		free(w->side[i].send);
	}
	session_fini(&w->session);
	free(w);
}

const struct book *iwarp_book(const struct iwarp *w)
{
	return &w->session.book;
}

unsigned iwarp_open_calls(const struct iwarp *w)
{
	return book_open_calls(&w->session.book);
}

unsigned iwarp_waits(const struct iwarp *w)
{
	unsigned count = session_waits(&w->session);

	for (unsigned i = 0; i < 2; i++)
		count += w->side[i].reads_count + w->side[i].in_send + w->side[i].in_tagged;
	return count;
}

/* ---------------------------------------------------------------- connection set-up */

/*
 * Finds the octets of RFC 8797: what begins with the identifier says it there; else they may stand behind data of others
 * (section 5.2). NULL if there are none of this version.
 */
static const uint8_t *find_cm(const uint8_t *data, size_t len)
{
	bool first = len >= CM_BYTES && get_be32(data) == CM_MAGIC;

	for (; len >= CM_BYTES; data++, len--) {
		if (get_be32(data) == CM_MAGIC && data[4] == CM_VERSION)
			return data;
		if (first)
			break;
	}
	return NULL;
}

static void private_data(struct iwarp *w, unsigned side, const uint8_t *data, size_t len)
{
	struct limits_end *end = &w->session.limits.end[side];

	if (w->enhanced && len >= 4) {
		end->has_ird = true;
		end->ird = get_be16(data) & DEPTH_MASK;
		data += 4;
		len -= 4;
	}
	data = find_cm(data, len);
	if (!data)
		return;
	end->invalidates = data[5] & CM_INVALIDATES;
	end->private_bytes = (data[7] + 1u) * 1024;
}

static int mpa_frame(struct iwarp *w, unsigned side, const uint8_t *data, size_t len)
{
	const char *key = side ? "MPA ID Rep Frame" : "MPA ID Req Frame";
	size_t private_len;

	if (len < MPA_BYTES)
		return 0;
	private_len = get_be16(data + 18);
	if (memcmp(data, key, 16)) {
		judge_violation(w->session.hearing, "no %s", key);
		return -1;
	}
	if (len < MPA_BYTES + private_len)
		return 0;
	if (data[16] & MPA_MARKERS) {
		judge_violation(w->session.hearing, "%s asks for markers", key);
		return -1;
	}
	/* So a proxy answers whose server is gone. */
	if (side && data[16] & MPA_REJECT && !w->session.hearing->judge->cuts_allowed)
		judge_violation(w->session.hearing, "the connection is rejected");
	w->enhanced = data[16] & MPA_ENHANCED;
	if (side)
		w->crc = data[16] & MPA_CRC;
	private_data(w, side, data + MPA_BYTES, private_len);
	w->side[side].started = true;
	return (int)(MPA_BYTES + private_len);
}

/* ---------------------------------------------------------------- messages */

static void send_append(struct iwarp_side *from, const uint8_t *data, size_t len)
{
	if (from->send_room - from->send_len < len) {
		from->send_room = 2 * (from->send_len + len);
		from->send = realloc(from->send, from->send_room);
		if (!from->send)
			abort();
	}
	memcpy(from->send + from->send_len, data, len);
	from->send_len += len;
}

/* What a Send may have counts from where it begins; which version it is of shows in its second word. */
static void send_begin(struct iwarp *w, unsigned side)
{
	struct iwarp_side *from = &w->side[side];

	from->then = book_now(&w->session.book, side);
	from->too_long = false;
	for (unsigned version = 1; version < 3; version++)
		from->send_bytes[version] = limits_send(&w->session.limits, side, version);
}

static void send_measure(struct iwarp *w, unsigned side)
{
	struct iwarp_side *from = &w->side[side];
	uint32_t version = from->send_len < 8 ? 0 : get_be32(from->send + 4);
	uint32_t most = from->send_bytes[version == 2 ? 2 : 1];

	if (from->send_len <= most || from->too_long)
		return;
	from->too_long = true;
	judge_violation(w->session.hearing, "a Send of %zu bytes for a receive of %u",
			from->send_len, most);
}

/* @stag: what it invalidates, if @op is of that kind. */
static void send_segment(struct iwarp *w, unsigned side, uint8_t op, uint32_t stag, bool last,
			 const uint8_t *data, size_t len)
{
	struct iwarp_side *from = &w->side[side];
	struct transport_send send;

	if (!from->in_send)
		send_begin(w, side);
	from->in_send = !last;
	if (len)
		send_append(from, data, len);
	send_measure(w, side);
	if (!last)
		return;
	w->session.hearing->judge->sends++;
	send = (struct transport_send){.msg = from->send,
				       .len = from->send_len,
				       .invalidates = op == OP_SEND_INV || op == OP_SEND_SE_INV,
				       .stag = stag,
				       .then = from->then};
	transport_judge(&w->session, side, &send);
	from->send_len = 0;
}

static void read_request(struct iwarp *w, unsigned side, const uint8_t *data, size_t len)
{
	struct judge *judge = w->session.hearing->judge;
	struct iwarp_side *from = &w->side[side];
	struct read_request *read;

	if (len != READ_BYTES) {
		judge_violation(w->session.hearing, "a Read Request with %zu bytes", len);
		return;
	}
	read = calloc(1, sizeof(*read));
	if (!read)
		abort();
	read->stag = get_be32(data);
	read->to = get_be64(data + 4);
	read->left = get_be32(data + 12);
	read->source = get_be32(data + 16);
	session_read_begin(&w->session, side, read->source);
	*from->reads_end = read;
	from->reads_end = &read->next;
	from->reads_count++;
	judge->reads++;
	if (from->reads_count > judge->reads_most)
		judge->reads_most = from->reads_count;
	if (from->reads_count > limits_reads(&w->session.limits, side))
		judge_violation(w->session.hearing, "%u Reads at once, where %u may be",
				from->reads_count, limits_reads(&w->session.limits, side));
}

static void terminate(struct iwarp *w, unsigned side, uint32_t word)
{
	if (!excuse_terminate(w->session.hearing, side, word))
		judge_violation(w->session.hearing, "%s terminates: 0x%08x", judge_side(side),
				word);
}

static void untagged(struct iwarp *w, unsigned side, const uint8_t *data, size_t len)
{
	struct iwarp_side *from = &w->side[side];
	uint8_t op = data[1] & 15;
	uint32_t qn = get_be32(data + 6), msn = get_be32(data + 10), mo = get_be32(data + 14);
	bool last = data[0] & DDP_LAST, begins = qn != QN_SEND || !from->in_send;
	uint32_t stag = get_be32(data + 2);
	uint32_t expected_qn = op == OP_READ_REQUEST ? QN_READ : QN_SEND;

	data += UNTAGGED_BYTES;
	len -= UNTAGGED_BYTES;
	if (op == OP_TERMINATE) {
		terminate(w, side, len >= 4 ? get_be32(data) : 0);
		return;
	}
	if (qn != expected_qn || (qn == QN_READ && !last)) {
		judge_violation(w->session.hearing, "operation %u on queue %u", op, qn);
		return;
	}
	if (begins)
		from->msn[qn]++;
	if (msn != from->msn[qn] || mo != (begins ? 0 : from->send_len))
		judge_violation(w->session.hearing, "message %u at %u on queue %u, not %u at %zu",
				msn, mo, qn, from->msn[qn], begins ? 0 : from->send_len);
	if (op == OP_READ_REQUEST)
		read_request(w, side, data, len);
	else
		send_segment(w, side, op, stag, last, data, len);
}

/* A response fits the oldest Read that waits for one: RFC 5040 section 5.2, RFC 5041 section 5.3. */
static void read_response(struct iwarp *w, unsigned reader, uint32_t stag, uint64_t offset,
			  size_t len, bool last)
{
	struct iwarp_side *to = &w->side[reader];
	struct read_request *read = to->reads;

	if (!read) {
		judge_violation(w->session.hearing, "a Read Response to no Read");
		return;
	}
	if (read->stag != stag || read->to != offset || len > read->left ||
	    last != (len == read->left))
		judge_violation(w->session.hearing,
				"a Read Response that does not fit the oldest Read");
	read->to += len;
	read->left -= len < read->left ? (uint32_t)len : read->left;
	if (!last)
		return;
	session_read_end(&w->session, reader, read->source);
	read_drop(to);
}

static void tagged(struct iwarp *w, unsigned side, const uint8_t *data, size_t len)
{
	struct iwarp_side *from = &w->side[side];
	uint8_t op = data[1] & 15;
	bool last = data[0] & DDP_LAST;
	uint32_t stag = get_be32(data + 2);
	uint64_t to = get_be64(data + 6);

	len -= TAGGED_BYTES;
	if (from->in_tagged &&
	    (op != from->tagged_op || stag != from->tagged_stag || to != from->tagged_to))
		judge_violation(w->session.hearing, "a tagged message is cut into by another");
	from->in_tagged = !last;
	from->tagged_op = op;
	from->tagged_stag = stag;
	from->tagged_to = to + len;
	if (op == OP_WRITE)
		w->session.hearing->judge->writes += last;
	else
		read_response(w, !side, stag, to, len, last);
}

/* ---------------------------------------------------------------- FPDUs */

/* Returns false if the FPDU counts for nothing. */
static bool crc_judge(struct iwarp *w, unsigned side, const uint8_t *fpdu, size_t bare)
{
	struct hearing *hearing = w->session.hearing;
	bool wrong = w->crc && crc32c_of(fpdu, bare) != get_le32(fpdu + bare);

	if (wrong && excuse_fault(hearing, side, fpdu[3] & 15))
		return false;
	hearing->tally.fpdus++;
	hearing->tally.crcs += w->crc;
	if (wrong)
		judge_violation(hearing, "a bad CRC of %s", judge_side(side));
	if (hearing->excuse.terminated)
		judge_violation(hearing, "%s goes on after its Terminate", judge_side(side));
	return true;
}

static int fpdu(struct iwarp *w, unsigned side, const uint8_t *data, size_t len)
{
	size_t ulpdu, bare, total;
	bool is_tagged;
	uint8_t op;

	if (len < 2)
		return 0;
	ulpdu = get_be16(data);
	bare = (2 + ulpdu + 3) & ~(size_t)3;
	total = bare + 4;
	if (ulpdu < TAGGED_BYTES) {
		judge_violation(w->session.hearing, "an FPDU of %zu bytes", ulpdu);
		return -1;
	}
	if (len < total)
		return 0;
	if (!crc_judge(w, side, data, bare))
		return (int)total;
	data += 2;
	is_tagged = data[0] & DDP_TAGGED;
	op = data[1] & 15;
	if ((data[0] & 3) != 1 || data[1] >> 6 != 1 || op > OP_TERMINATE ||
	    is_tagged != (op == OP_WRITE || op == OP_READ_RESPONSE) ||
	    (!is_tagged && ulpdu < UNTAGGED_BYTES)) {
		judge_violation(w->session.hearing, "a DDP segment that begins 0x%04x",
				get_be16(data));
		return (int)total;
	}
	if (is_tagged)
		tagged(w, side, data, ulpdu);
	else
		untagged(w, side, data, ulpdu);
	return (int)total;
}

int iwarp_unit(struct iwarp *w, unsigned side, const uint8_t *data, size_t len)
{
	if (!w->side[side].started)
		return mpa_frame(w, side, data, len);
	if (!w->side[!side].started) {
		judge_violation(w->session.hearing, "an FPDU before the reply");
		return -1;
	}
	return fpdu(w, side, data, len);
}
