/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet judge: what every part of it shares. A capture is put into order (tcp.h), each connection is
 * recognised by its first bytes (trial.c) and judged as iWARP (iwarp.c) or as records of ONC RPC (trial.c);
 * both end in the book of Calls and Replies (book.c). It shares no code with what it judges.
 */
#ifndef TESTS_JUDGE_JUDGE_H
#define TESTS_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/judge/tcp.h"

/* What was found in all connections together. */
struct judge {
	bool cuts_allowed; /* somebody was killed: connections may be refused, or end with Calls unanswered */
	bool bounded;  /* the capture ended before the work did */
	FILE *ordered; /* where the judged streams are written, in order; or NULL */
	unsigned violations;
	uint64_t iwarp_conns, tcp_conns, other_conns, cut_conns;
	uint64_t backward_calls; /* of the end that was connected to */
	uint64_t open_calls;     /* unanswered when their connection or the capture ended */
	uint64_t fpdus, crcs, reads, writes, sends;
	uint64_t calls, replies, errors; /* of both kinds of connection; errors: RDMA_ERROR */
	unsigned reads_most;             /* RDMA Reads under way at once */
	unsigned calls_most, grant_most; /* Calls under credits at once; the largest grant */
};

/** judge_violation - note what must not be, and say it on standard output. */
void judge_violation(struct judge *judge, const struct tcp_conn *conn, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---------------------------------------------------------------- Calls and Replies (book.c) */

/* The Calls that one end has made and that wait for a Reply. */
struct book_page {
	uint32_t *xids;
	unsigned count, room;
	uint32_t grant; /* one, until the first Reply grants more: RFC 8166 section 3.3.2 */
};

/* One connection's Calls, by the side that makes them. */
struct book {
	bool credits; /* they are RPC-over-RDMA's */
	struct book_page page[2];
};

/* What a side knew when it began to send a message. */
struct book_moment {
	unsigned outstanding;
	uint32_t grant;
};

void book_init(struct book *book, bool credits);
void book_fini(struct book *book);
/** book_now - how many Calls of @side wait, and what it was granted. */
struct book_moment book_now(const struct book *book, unsigned side);
/** book_call - @side makes a Call; @then is what it knew when it began. */
void book_call(struct judge *judge, const struct tcp_conn *conn, struct book *book, unsigned side,
	       uint32_t xid, struct book_moment then);
/** book_reply - @side answers a Call of the other's; @grant is zero if the answer grants nothing. */
void book_reply(struct judge *judge, const struct tcp_conn *conn, struct book *book, unsigned side,
		uint32_t xid, uint32_t grant);
/** book_message - an RPC message: a Call or a Reply of @side, as its type says. */
void book_message(struct judge *judge, const struct tcp_conn *conn, struct book *book,
		  unsigned side, const uint8_t *msg, size_t len, uint32_t grant,
		  struct book_moment then);

/* ---------------------------------------------------------------- iWARP (iwarp.c) */

struct iwarp;

struct iwarp *iwarp_new(void);
void iwarp_free(struct iwarp *iwarp);
/**
 * iwarp_unit - judge the first MPA frame or FPDU of a side's bytes
 *
 * Returns its length, zero if it is not whole yet, or -1 if the stream can not be followed any further.
 */
int iwarp_unit(struct judge *judge, const struct tcp_conn *conn, struct iwarp *iwarp, unsigned side,
	       const uint8_t *data, size_t len);
/** iwarp_open_calls - how many Calls wait for a Reply. */
unsigned iwarp_open_calls(const struct iwarp *iwarp);
/** iwarp_waits - how many Calls and RDMA Reads wait for an answer, and messages for their end. */
unsigned iwarp_waits(const struct iwarp *iwarp);

/* ---------------------------------------------------------------- RPC-over-RDMA (transport.c) */

/** transport_send - judge the message of a Send. */
void transport_send(struct judge *judge, const struct tcp_conn *conn, struct book *book,
		    unsigned side, const uint8_t *msg, size_t len, struct book_moment then);

/* ---------------------------------------------------------------- connections (trial.c) */

/** trial_data - a tcp_data_fn; @ctx is the judge. */
tcp_data_fn trial_data;
/** trial_end - judge how a connection ended, or how far it was captured; releases its user member. */
void trial_end(struct judge *judge, struct tcp_conn *conn);

#endif
