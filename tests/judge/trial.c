// SPDX-License-Identifier: BSD-3-Clause
/*
 * One connection's trial: what it carries is seen from its first bytes, and how it ends is judged too. Streams
 * are also written in order, each FPDU or record in segments of its own, for tshark, which loses its place where
 * segments were sent again in other pieces, and follows one RPC only in a segment of several.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/judge/bytes.h"
#include "tests/judge/capture.h"
#include "tests/judge/judge.h"

#define IP_TCP_BYTES  40u
#define SEGMENT_BYTES 60000u
#define FLAG_SYN      0x02
#define FLAG_PUSH     0x08
#define FLAG_ACK      0x10
#define RECORD_LAST   0x80000000u
#define RECORD_MAX    (8u << 20)
#define FIRST_BYTES   12u /* of a connection: record mark, XID, Call; or what MPA's key begins with */
#define SHOWN         20u /* violations that are shown */

enum trial_kind { TRIAL_NEW, TRIAL_IWARP, TRIAL_TCP, TRIAL_OTHER, TRIAL_LOST };

struct trial {
	enum trial_kind kind;
	struct iwarp *iwarp;
	struct book book; /* of a TCP connection */
	uint64_t written[2];
	bool partial[2]; /* bytes wait for the rest of their unit */
};

void judge_violation(struct judge *judge, const struct tcp_conn *conn, const char *fmt, ...)
{
	char from[INET_ADDRSTRLEN], to[INET_ADDRSTRLEN];
	struct in_addr addr[2] = {{htonl(conn->side[0].addr)}, {htonl(conn->side[1].addr)}};
	va_list args;

	if (++judge->violations > SHOWN)
		return;
	inet_ntop(AF_INET, &addr[0], from, sizeof(from));
	inet_ntop(AF_INET, &addr[1], to, sizeof(to));
	printf("%s:%u to %s:%u: ", from, conn->side[0].port, to, conn->side[1].port);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(" [byte %llu there, %llu back]\n", (unsigned long long)conn->side[0].next,
	       (unsigned long long)conn->side[1].next);
}

/* ---------------------------------------------------------------- streams in order */

/*
 * tshark takes the MPA request of a connection for an FPDU if one before it had the same ends. From the second on, the
 * connector has another address in the copy.
 */
static uint32_t addr_in_copy(const struct tcp_conn *conn, unsigned side)
{
	return conn->side[side].addr + (side == 0 ? conn->again << 24 : 0);
}

static void put_segment(struct judge *judge, const struct tcp_conn *conn, const struct trial *trial,
			unsigned side, uint8_t flags, const uint8_t *data, size_t len,
			uint64_t at_us)
{
	const struct tcp_side *from = &conn->side[side], *to = &conn->side[!side];
	uint8_t head[IP_TCP_BYTES] = {0x45};
	uint8_t *tcp = head + 20;

	put_be16(head + 2, (unsigned)(sizeof(head) + len));
	head[8] = 64;
	head[9] = 6;
	put_be32(head + 12, addr_in_copy(conn, side));
	put_be32(head + 16, addr_in_copy(conn, !side));
	put_be16(tcp, from->port);
	put_be16(tcp + 2, to->port);
	put_be32(tcp + 4, from->first + (uint32_t)trial->written[side] - !!(flags & FLAG_SYN));
	if (flags & FLAG_ACK)
		put_be32(tcp + 8, to->first + (uint32_t)trial->written[!side]);
	tcp[12] = 0x50;
	tcp[13] = flags;
	put_be16(tcp + 14, 0xffff);
	capture_put(judge->ordered, at_us, head, sizeof(head), data, len);
}

static void put_handshake(struct judge *judge, const struct tcp_conn *conn,
			  const struct trial *trial, uint64_t at_us)
{
	if (!judge->ordered)
		return;
	put_segment(judge, conn, trial, 0, FLAG_SYN, NULL, 0, at_us);
	put_segment(judge, conn, trial, 1, FLAG_SYN | FLAG_ACK, NULL, 0, at_us);
	put_segment(judge, conn, trial, 0, FLAG_ACK, NULL, 0, at_us);
}

static void put_unit(struct judge *judge, const struct tcp_conn *conn, struct trial *trial,
		     unsigned side, const uint8_t *data, size_t len, uint64_t at_us)
{
	while (judge->ordered && len) {
		size_t part = len < SEGMENT_BYTES ? len : SEGMENT_BYTES;

		put_segment(judge, conn, trial, side, FLAG_ACK | FLAG_PUSH, data, part, at_us);
		trial->written[side] += part;
		data += part;
		len -= part;
	}
}

/* ---------------------------------------------------------------- what a connection carries */

/* A record of ONC RPC over TCP (RFC 5531 section 11), in one fragment, as all peers send them. */
static int record_unit(struct judge *judge, const struct tcp_conn *conn, struct trial *trial,
		       unsigned side, const uint8_t *data, size_t len)
{
	uint32_t mark;

	if (len < 4)
		return 0;
	mark = get_be32(data);
	if (!(mark & RECORD_LAST) || (mark & ~RECORD_LAST) > RECORD_MAX) {
		judge_violation(judge, conn, "a record mark of 0x%08x", mark);
		return -1;
	}
	mark &= ~RECORD_LAST;
	if (len - 4 < mark)
		return 0;
	book_message(judge, conn, &trial->book, side, data + 4, mark, 0,
		     book_now(&trial->book, side));
	return (int)(4 + mark);
}

static void recognise(struct judge *judge, struct trial *trial, unsigned side, const uint8_t *data)
{
	if (side == 0 && !memcmp(data, "MPA ID Req F", FIRST_BYTES)) {
		trial->kind = TRIAL_IWARP;
		trial->iwarp = iwarp_new();
		judge->iwarp_conns++;
	} else if (side == 0 && data[0] & 0x80 && !get_be32(data + 8)) {
		trial->kind = TRIAL_TCP;
		book_init(&trial->book, false);
		judge->tcp_conns++;
	} else {
		trial->kind = TRIAL_OTHER;
		judge->other_conns++;
	}
}

static int trial_unit(struct judge *judge, const struct tcp_conn *conn, struct trial *trial,
		      unsigned side, const uint8_t *data, size_t len)
{
	switch (trial->kind) {
	case TRIAL_IWARP:
		return iwarp_unit(judge, conn, trial->iwarp, side, data, len);
	case TRIAL_TCP:
		return record_unit(judge, conn, trial, side, data, len);
	default:
		return (int)len;
	}
}

size_t trial_data(void *ctx, struct tcp_conn *conn, unsigned side, uint64_t at_us)
{
	struct judge *judge = ctx;
	struct trial *trial = conn->user;
	const struct tcp_side *from = &conn->side[side];
	size_t taken = 0;

	if (!trial) {
		trial = conn->user = calloc(1, sizeof(*trial));
		if (!trial)
			abort();
	}
	if (trial->kind == TRIAL_NEW) {
		if (from->len < FIRST_BYTES)
			return 0;
		recognise(judge, trial, side, from->data);
		if (trial->kind != TRIAL_OTHER)
			put_handshake(judge, conn, trial, at_us);
	}
	while (taken < from->len) {
		int unit =
			trial_unit(judge, conn, trial, side, from->data + taken, from->len - taken);

		if (unit == 0)
			break;
		if (unit < 0) {
			trial->kind = TRIAL_LOST;
			return from->len;
		}
		if (trial->kind == TRIAL_IWARP || trial->kind == TRIAL_TCP)
			put_unit(judge, conn, trial, side, from->data + taken, (size_t)unit, at_us);
		taken += (size_t)unit;
	}
	trial->partial[side] = taken < from->len;
	return taken;
}

/* ---------------------------------------------------------------- how it ended */

static unsigned open_calls(const struct trial *trial)
{
	return trial->kind == TRIAL_IWARP ? iwarp_open_calls(trial->iwarp)
					  : trial->book.page[0].count + trial->book.page[1].count;
}

static unsigned waits(const struct trial *trial)
{
	return trial->partial[0] + trial->partial[1] +
	       (trial->kind == TRIAL_IWARP ? iwarp_waits(trial->iwarp) : open_calls(trial));
}

void trial_end(struct judge *judge, struct tcp_conn *conn)
{
	struct trial *trial = conn->user;
	bool ended = conn->reset || conn->side[0].fin || conn->side[1].fin;

	for (unsigned i = 0; i < 2; i++) {
		if (tcp_missing(&conn->side[i]) ||
		    (conn->side[i].early && !ended && !judge->bounded))
			judge_violation(judge, conn, "the capture lacks bytes");
	}
	if (!conn->begun && conn->stray_bytes)
		judge_violation(judge, conn,
				"%llu bytes of a connection that began before the capture",
				(unsigned long long)conn->stray_bytes);
	if (!trial)
		return;
	judge->open_calls += open_calls(trial);
	if (waits(trial)) {
		if (ended && judge->cuts_allowed)
			judge->cut_conns++;
		else if (ended || !judge->bounded)
			judge_violation(judge, conn,
					"it ends with %u Calls, Reads or messages open",
					waits(trial));
	}
	if (trial->iwarp)
		iwarp_free(trial->iwarp);
	book_fini(&trial->book);
	free(trial);
}
