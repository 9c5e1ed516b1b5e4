/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bench for TCP legs on stream pairs in memory: a leg and a raw end that the test reads and
 * writes, or two legs connected to each other. The test controls the time and every step.
 */
#ifndef TESTS_UNIT_TCP_BENCH_H
#define TESTS_UNIT_TCP_BENCH_H

#include "rpctcp/tcp_leg.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/stream_pair.h"
#include "tests/lib/test.h"
#include "tests/lib/test_budget.h"

#define BENCH_MAX_MESSAGE  (256u * 1024u)
#define BENCH_LONG_BYTES   (2u * 1024u * 1024u) /* the pool's buffers */
#define BENCH_BUDGET       (4u * 1024u * 1024u)
#define BENCH_STALL_US     60000000u
#define BENCH_CONNECT_US   10000000u
#define BENCH_CLOSE_US     2000000u /* for an orderly close */
#define BENCH_CALL_MIN     40u      /* bytes of the smallest Call, and of the smallest Reply */
#define BENCH_REPLY_MIN    24u

#define BENCH_AT_REQUESTED 1u
#define BENCH_AT_OPENED    2u
#define BENCH_AT_CALL      3u
#define BENCH_AT_REPLY     4u
#define BENCH_AT_END       5u

/* A leg, and its events. Exchanges stay here, with their reference, until they are forwarded. */
struct bench_side {
	struct leg *leg;
	struct tcp_leg_config config;
	unsigned requested, opened, secured, half_closed, notes, closing, closed, call_ready;
	const char *limit; /* what securing() returns */
	enum leg_close why;
	char detail[LEG_DETAIL_BYTES];
	struct exchange_list calls;   /* by target_entry */
	struct exchange_list replies; /* by origin_entry */
	unsigned ncalls, nreplies, nfaults, nmore_events;
	bool hold;         /* Calls are not answered immediately */
	unsigned close_at; /* BENCH_AT_*: the leg is closed from inside that event, once … */
	enum leg_close close_why; /* … for this */
	void (*on_call)(struct bench_side *side);
};

extern struct loop *bench_loop;
extern struct buf_pool *bench_pool;
extern struct test_budget bench_budget;
extern struct pair_net *bench_net;
extern struct tcp_worker bench_worker;
extern struct bench_side client, server; /* the leg that connects; the leg that is accepted */
extern struct stream *raw;               /* the test's end, instead of one of them */

/**
 * bench_setup, bench_teardown - For each test; teardown closes what is open and asserts that
 * nothing is left.
 */
void bench_setup(void);
void bench_teardown(void);
/** bench_renew - After bench_setup() or a run of the bench: makes a new one, with @faults. */
void bench_renew(const struct pair_faults *faults);
/** bench_connect - Connects `client` to `raw`; not yet up before bench_run(). */
void bench_connect(void);
/** bench_accept - Opens `server` by a first Call of `raw` that has been answered. */
void bench_accept(void);
/** bench_join - Connects `client` to `server`; bench_run() brings them up. */
void bench_join(void);
/** bench_run - Runs everything that needs no time. */
void bench_run(void);
/** bench_in_use - Returns the bytes of the pool in buffers. */
size_t bench_in_use(void);

/**
 * bench_call - Passes a Call of @len_bytes, of which @have_bytes have arrived, to @side's leg;
 * keeps a reference.
 */
struct exchange *bench_call(struct bench_side *side, uint32_t xid, uint32_t len_bytes,
			    uint32_t have_bytes);
/**
 * bench_answer - Answers the first Call that `hold` has kept; returns the exchange, and keeps a
 * reference.
 */
struct exchange *bench_answer(struct bench_side *side, uint32_t len_bytes, uint32_t have_bytes);
/** bench_grow - Reports that up to @have_bytes of a message have arrived. */
void bench_grow(struct bench_side *side, struct exchange *x, struct rpc_msg *msg,
		uint32_t have_bytes);

/**
 * put_call, put_reply - Write a message of @len_bytes; @xid determines the bytes after the header.
 */
void put_call(uint8_t *to, uint32_t xid, uint32_t len_bytes);
void put_reply(uint8_t *to, uint32_t xid, uint32_t len_bytes);
/** raw_send_call, raw_send_reply - Send it in one record. */
void raw_send_call(uint32_t xid, uint32_t len_bytes);
void raw_send_reply(uint32_t xid, uint32_t len_bytes);
/** raw_write - Writes bytes, running the bench while there is no space. */
void raw_write(const uint8_t *bytes, size_t len_bytes);
/** raw_read - Reads everything that has arrived, at most @max_bytes; returns the length. */
size_t raw_read(uint8_t *to, size_t max_bytes);
/** raw_expect_call, raw_expect_reply - Check that the next record is that message, whole. */
void raw_expect_call(uint32_t xid, uint32_t len_bytes);
void raw_expect_reply(uint32_t xid, uint32_t len_bytes);
/**
 * raw_expect - Checks that nothing has arrived except @want: 0 at the end of the stream, or a
 * negative errno.
 */
void raw_expect(ssize_t want);

#endif
