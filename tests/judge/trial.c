// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/trial.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/judge/book.h"
#include "tests/judge/bytes.h"
#include "tests/judge/iwarp.h"
#include "tests/judge/ordered.h"

#define RECORD_LAST 0x80000000u
#define RECORD_MAX  (8u << 20)
#define FIRST_BYTES 12u /* of a connection: record mark, XID, Call; or what MPA's key begins with */
#define SHOWN       20u /* violations that are shown */

enum trial_kind { TRIAL_NEW, TRIAL_IWARP, TRIAL_TCP, TRIAL_OTHER, TRIAL_LOST };

struct trial {
	enum trial_kind kind;
	struct hearing hearing;
	struct iwarp *iwarp;
	struct book book; /* of a TCP connection */
	uint64_t written[2];
	bool partial[2]; /* bytes wait for the rest of their unit */
};

__attribute__((format(printf, 2, 0))) static void say(const struct hearing *hearing,
						      const char *fmt, va_list args)
{
	const struct tcp_conn *conn = hearing->conn;
	char from[INET_ADDRSTRLEN], to[INET_ADDRSTRLEN];
	struct in_addr addr[2] = {{htonl(conn->side[0].addr)}, {htonl(conn->side[1].addr)}};

	inet_ntop(AF_INET, &addr[0], from, sizeof(from));
	inet_ntop(AF_INET, &addr[1], to, sizeof(to));
	printf("%s:%u to %s:%u: ", from, conn->side[0].port, to, conn->side[1].port);
	vprintf(fmt, args);
	printf(" [byte %llu there, %llu back]\n", (unsigned long long)conn->side[0].next,
	       (unsigned long long)conn->side[1].next);
}

void judge_violation(struct hearing *hearing, const char *fmt, ...)
{
	va_list args;

	if (++hearing->judge->violations > SHOWN)
		return;
	va_start(args, fmt);
	say(hearing, fmt, args);
	va_end(args);
}

void judge_remark(const struct hearing *hearing, const char *fmt, ...)
{
	va_list args;

	printf("remark: ");
	va_start(args, fmt);
	say(hearing, fmt, args);
	va_end(args);
}

/* ---------------------------------------------------------------- what a connection carries */

/* A record of ONC RPC over TCP (RFC 5531 section 11), in one fragment, as all peers send them. */
static int record_unit(struct trial *trial, unsigned side, const uint8_t *data, size_t len)
{
	uint32_t mark;

	if (len < 4)
		return 0;
	mark = get_be32(data);
	if (!(mark & RECORD_LAST) || (mark & ~RECORD_LAST) > RECORD_MAX) {
		judge_violation(&trial->hearing, "a record mark of 0x%08x", mark);
		return -1;
	}
	mark &= ~RECORD_LAST;
	if (len - 4 < mark)
		return 0;
	book_message(&trial->hearing, &trial->book, side, data + 4, mark);
	return (int)(4 + mark);
}

static void recognise(struct trial *trial, unsigned side, const uint8_t *data)
{
	struct judge *judge = trial->hearing.judge;

	trial->hearing.tally.conns = 1;
	if (side == 0 && !memcmp(data, "MPA ID Req F", FIRST_BYTES)) {
		trial->kind = TRIAL_IWARP;
		trial->iwarp = iwarp_new(&trial->hearing);
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

static int trial_unit(struct trial *trial, unsigned side, const uint8_t *data, size_t len)
{
	switch (trial->kind) {
	case TRIAL_IWARP:
		return iwarp_unit(trial->iwarp, side, data, len);
	case TRIAL_TCP:
		return record_unit(trial, side, data, len);
	default:
		return (int)len;
	}
}

/* An FPDU with a wrong CRC is not the last that its sender had sent: what was behind it counts for nothing. */
static bool is_void(const struct hearing *hearing, unsigned side)
{
	return hearing->excuse.given && hearing->excuse.side == side;
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
		trial->hearing.judge = judge;
		trial->hearing.conn = conn;
	}
	if (trial->kind == TRIAL_NEW) {
		if (from->len < FIRST_BYTES)
			return 0;
		recognise(trial, side, from->data);
		if (trial->kind != TRIAL_OTHER)
			ordered_handshake(judge->ordered, conn, at_us);
	}
	while (taken < from->len) {
		int unit;

		if (is_void(&trial->hearing, side)) {
			taken = from->len;
			break;
		}
		unit = trial_unit(trial, side, from->data + taken, from->len - taken);
		if (unit == 0)
			break;
		if (unit < 0) {
			trial->kind = TRIAL_LOST;
			return from->len;
		}
		if ((trial->kind == TRIAL_IWARP || trial->kind == TRIAL_TCP) &&
		    !is_void(&trial->hearing, side))
			ordered_unit(judge->ordered, conn, trial->written, side, from->data + taken,
				     (size_t)unit, at_us);
		taken += (size_t)unit;
	}
	trial->partial[side] = taken < from->len;
	return taken;
}

/* ---------------------------------------------------------------- how it ended */

static unsigned open_calls(const struct trial *trial)
{
	return trial->kind == TRIAL_IWARP ? iwarp_open_calls(trial->iwarp)
					  : book_open_calls(&trial->book);
}

static unsigned waits(const struct trial *trial)
{
	return trial->partial[0] + trial->partial[1] +
	       (trial->kind == TRIAL_IWARP ? iwarp_waits(trial->iwarp) : open_calls(trial));
}

/* What a capture lacks of a connection is seen without knowing what it carries. */
static void judge_gaps(struct hearing *hearing, bool ended)
{
	const struct tcp_conn *conn = hearing->conn;

	for (unsigned i = 0; i < 2; i++) {
		if (tcp_missing(&conn->side[i]) ||
		    (conn->side[i].early && !ended && !hearing->judge->bounded))
			judge_violation(hearing, "the capture lacks bytes");
	}
	if (!conn->begun && conn->stray_bytes)
		judge_violation(hearing, "%llu bytes of a connection that began before the capture",
				(unsigned long long)conn->stray_bytes);
}

static void add_up(struct tally *sum, const struct tally *more)
{
	sum->conns += more->conns;
	sum->fpdus += more->fpdus;
	sum->crcs += more->crcs;
	sum->calls += more->calls;
	sum->replies += more->replies;
	sum->errors += more->errors;
	sum->open_calls += more->open_calls;
	sum->configs += more->configs;
}

static bool has_ended(const struct tcp_conn *conn)
{
	return conn->reset || conn->side[0].fin || conn->side[1].fin;
}

void trial_excuse(struct tcp_conn *conn)
{
	struct trial *trial = conn->user;

	if (trial && trial->hearing.excuse.given)
		excuse_end(&trial->hearing, iwarp_book(trial->iwarp), has_ended(conn));
}

/* A Call of which a part is there has its XID behind the record mark. */
static bool is_excused_leg(const struct trial *trial, const struct tcp_conn *conn)
{
	const struct tcp_side *caller = &conn->side[0];
	bool partial = trial->partial[0] && caller->len >= 8;
	uint32_t xid = partial ? get_be32(caller->data + 4) : 0;

	return trial->kind == TRIAL_TCP &&
	       excuse_leg(trial->hearing.judge, &trial->book, partial ? &xid : NULL);
}

static bool may_be_cut(const struct trial *trial, const struct tcp_conn *conn)
{
	return has_ended(conn) && (trial->hearing.judge->cuts_allowed ||
				   trial->hearing.excuse.given || is_excused_leg(trial, conn));
}

void trial_end(struct judge *judge, struct tcp_conn *conn)
{
	struct trial *trial = conn->user;
	struct hearing unheard = {.judge = judge, .conn = conn};
	struct hearing *hearing = trial ? &trial->hearing : &unheard;
	bool ended = has_ended(conn);

	judge_gaps(hearing, ended);
	if (!trial)
		return;
	hearing->tally.open_calls = open_calls(trial);
	if (waits(trial)) {
		if (may_be_cut(trial, conn))
			judge->cut_conns++;
		else if (ended || !judge->bounded)
			judge_violation(hearing, "it ends with %u Calls, Reads or messages open",
					waits(trial));
	}
	add_up(&judge->all, &hearing->tally);
	if (hearing->unread) {
		add_up(&judge->unread, &hearing->tally);
		ordered_leave_out(judge->ordered, conn);
	}
	if (trial->iwarp)
		iwarp_free(trial->iwarp);
	book_fini(&trial->book);
	free(trial);
}
