// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPA (RFC 5044, 6581), DDP (RFC 5041) and RDMAP (RFC 5040) of one connection: every FPDU's CRC, every message's
 * place in its order, and each RDMA Read's answer.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/judge/bytes.h"
#include "tests/judge/judge.h"

#define MPA_BYTES      20u
#define MPA_MARKERS    0x80
#define MPA_CRC        0x40
#define MPA_REJECT     0x20
#define MPA_ENHANCED   0x10
#define DEPTH_MASK     0x3fffu
#define CM_MAGIC       0xf6ab0e18u /* RFC 8797 */
#define CM_BYTES       8u
#define INLINE_DEFAULT 1024u
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
	uint32_t stag;
	uint64_t to;
	uint32_t left; /* what is to come */
};

struct iwarp_side {
	bool started;          /* its MPA frame is in */
	uint32_t ird;          /* Reads it answers at once; zero: it did not say */
	uint32_t inline_bytes; /* what its receives hold */
	uint32_t msn[QUEUES];  /* of the last message */
	uint8_t *send;         /* the Send that comes */
	size_t send_len, send_room;
	bool in_send, in_tagged;
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
	struct book book;
};

struct iwarp *iwarp_new(void)
{
	struct iwarp *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	for (unsigned i = 0; i < 2; i++) {
		w->side[i].inline_bytes = INLINE_DEFAULT;
		w->side[i].reads_end = &w->side[i].reads;
	}
	book_init(&w->book, true);
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
	book_fini(&w->book);
	free(w);
}

unsigned iwarp_open_calls(const struct iwarp *w)
{
	return w->book.page[0].count + w->book.page[1].count;
}

unsigned iwarp_waits(const struct iwarp *w)
{
	unsigned count = iwarp_open_calls(w);

	for (unsigned i = 0; i < 2; i++)
		count += w->side[i].reads_count + w->side[i].in_send + w->side[i].in_tagged;
	return count;
}

/* ---------------------------------------------------------------- connection set-up */

static void private_data(struct iwarp *w, unsigned side, const uint8_t *data, size_t len)
{
	if (w->enhanced && len >= 4) {
		w->side[side].ird = get_be16(data) & DEPTH_MASK;
		data += 4;
		len -= 4;
	}
	if (len >= CM_BYTES && get_be32(data) == CM_MAGIC)
		w->side[side].inline_bytes = (data[7] + 1u) * 1024;
}

static int mpa_frame(struct judge *judge, const struct tcp_conn *conn, struct iwarp *w,
		     unsigned side, const uint8_t *data, size_t len)
{
	const char *key = side ? "MPA ID Rep Frame" : "MPA ID Req Frame";
	size_t private_len;

	if (len < MPA_BYTES)
		return 0;
	private_len = get_be16(data + 18);
	if (memcmp(data, key, 16)) {
		judge_violation(judge, conn, "no %s", key);
		return -1;
	}
	if (len < MPA_BYTES + private_len)
		return 0;
	if (data[16] & MPA_MARKERS) {
		judge_violation(judge, conn, "%s asks for markers", key);
		return -1;
	}
	/* So a proxy answers whose server is gone. */
	if (side && data[16] & MPA_REJECT && !judge->cuts_allowed)
		judge_violation(judge, conn, "the connection is rejected");
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

static void send_segment(struct judge *judge, const struct tcp_conn *conn, struct iwarp *w,
			 unsigned side, bool last, const uint8_t *data, size_t len)
{
	struct iwarp_side *from = &w->side[side];

	if (!from->in_send)
		from->then = book_now(&w->book, side);
	from->in_send = !last;
	if (len)
		send_append(from, data, len);
	if (from->send_len > w->side[!side].inline_bytes)
		judge_violation(judge, conn, "a Send of %zu bytes for a receive of %u",
				from->send_len, w->side[!side].inline_bytes);
	if (!last)
		return;
	judge->sends++;
	transport_send(judge, conn, &w->book, side, from->send, from->send_len, from->then);
	from->send_len = 0;
}

static void read_request(struct judge *judge, const struct tcp_conn *conn, struct iwarp *w,
			 unsigned side, const uint8_t *data, size_t len)
{
	struct iwarp_side *from = &w->side[side];
	struct read_request *read;

	if (len != READ_BYTES) {
		judge_violation(judge, conn, "a Read Request with %zu bytes", len);
		return;
	}
	read = calloc(1, sizeof(*read));
	if (!read)
		abort();
	read->stag = get_be32(data);
	read->to = get_be64(data + 4);
	read->left = get_be32(data + 12);
	*from->reads_end = read;
	from->reads_end = &read->next;
	from->reads_count++;
	judge->reads++;
	if (from->reads_count > judge->reads_most)
		judge->reads_most = from->reads_count;
	if (w->enhanced && from->reads_count > w->side[!side].ird)
		judge_violation(judge, conn, "%u Reads at once, where %u may be", from->reads_count,
				w->side[!side].ird);
}

static void untagged(struct judge *judge, const struct tcp_conn *conn, struct iwarp *w,
		     unsigned side, const uint8_t *data, size_t len)
{
	struct iwarp_side *from = &w->side[side];
	uint8_t op = data[1] & 15;
	uint32_t qn = get_be32(data + 6), msn = get_be32(data + 10), mo = get_be32(data + 14);
	bool last = data[0] & DDP_LAST, begins = qn != QN_SEND || !from->in_send;
	uint32_t expected_qn = op == OP_READ_REQUEST ? QN_READ : QN_SEND;

	data += UNTAGGED_BYTES;
	len -= UNTAGGED_BYTES;
	if (op == OP_TERMINATE) {
		judge_violation(judge, conn, "%s terminates: 0x%08x",
				side ? "the acceptor" : "the initiator",
				len >= 4 ? get_be32(data) : 0);
		return;
	}
	if (qn != expected_qn || (qn == QN_READ && !last)) {
		judge_violation(judge, conn, "operation %u on queue %u", op, qn);
		return;
	}
	if (begins)
		from->msn[qn]++;
	if (msn != from->msn[qn] || mo != (begins ? 0 : from->send_len))
		judge_violation(judge, conn, "message %u at %u on queue %u, not %u at %zu", msn, mo,
				qn, from->msn[qn], begins ? 0 : from->send_len);
	if (op == OP_READ_REQUEST)
		read_request(judge, conn, w, side, data, len);
	else
		send_segment(judge, conn, w, side, last, data, len);
}

/* A response fits the oldest Read that waits for one: RFC 5040 section 5.2, RFC 5041 section 5.3. */
static void read_response(struct judge *judge, const struct tcp_conn *conn, struct iwarp_side *to,
			  uint32_t stag, uint64_t offset, size_t len, bool last)
{
	struct read_request *read = to->reads;

	if (!read) {
		judge_violation(judge, conn, "a Read Response to no Read");
		return;
	}
	if (read->stag != stag || read->to != offset || len > read->left ||
	    last != (len == read->left))
		judge_violation(judge, conn, "a Read Response that does not fit the oldest Read");
	read->to += len;
	read->left -= len < read->left ? (uint32_t)len : read->left;
	if (last)
		read_drop(to);
}

static void tagged(struct judge *judge, const struct tcp_conn *conn, struct iwarp *w, unsigned side,
		   const uint8_t *data, size_t len)
{
	struct iwarp_side *from = &w->side[side];
	uint8_t op = data[1] & 15;
	bool last = data[0] & DDP_LAST;
	uint32_t stag = get_be32(data + 2);
	uint64_t to = get_be64(data + 6);

	len -= TAGGED_BYTES;
	if (from->in_tagged &&
	    (op != from->tagged_op || stag != from->tagged_stag || to != from->tagged_to))
		judge_violation(judge, conn, "a tagged message is cut into by another");
	from->in_tagged = !last;
	from->tagged_op = op;
	from->tagged_stag = stag;
	from->tagged_to = to + len;
	if (op == OP_WRITE)
		judge->writes += last;
	else
		read_response(judge, conn, &w->side[!side], stag, to, len, last);
}

/* ---------------------------------------------------------------- FPDUs */

static int fpdu(struct judge *judge, const struct tcp_conn *conn, struct iwarp *w, unsigned side,
		const uint8_t *data, size_t len)
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
		judge_violation(judge, conn, "an FPDU of %zu bytes", ulpdu);
		return -1;
	}
	if (len < total)
		return 0;
	judge->fpdus++;
	if (w->crc) {
		judge->crcs++;
		if (crc32c_of(data, bare) != get_le32(data + bare))
			judge_violation(judge, conn, "a bad CRC");
	}
	data += 2;
	is_tagged = data[0] & DDP_TAGGED;
	op = data[1] & 15;
	if ((data[0] & 3) != 1 || data[1] >> 6 != 1 || op > OP_TERMINATE ||
	    is_tagged != (op == OP_WRITE || op == OP_READ_RESPONSE) ||
	    (!is_tagged && ulpdu < UNTAGGED_BYTES)) {
		judge_violation(judge, conn, "a DDP segment that begins 0x%04x", get_be16(data));
		return (int)total;
	}
	if (is_tagged)
		tagged(judge, conn, w, side, data, ulpdu);
	else
		untagged(judge, conn, w, side, data, ulpdu);
	return (int)total;
}

int iwarp_unit(struct judge *judge, const struct tcp_conn *conn, struct iwarp *w, unsigned side,
	       const uint8_t *data, size_t len)
{
	if (!w->side[side].started)
		return mpa_frame(judge, conn, w, side, data, len);
	if (!w->side[!side].started) {
		judge_violation(judge, conn, "an FPDU before the reply");
		return -1;
	}
	return fpdu(judge, conn, w, side, data, len);
}
