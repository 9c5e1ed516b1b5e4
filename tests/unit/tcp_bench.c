// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/tcp_bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"

#define FIRST_XID 0xf1u

struct loop *bench_loop;
struct buf_pool *bench_pool;
struct test_budget bench_budget;
struct pair_net *bench_net;
struct tcp_worker bench_worker;
struct bench_side client, server;
struct stream *raw;

static bool join_legs; /* what connects meets a leg, not the test */

/* Whether the leg has been closed from inside of this event. */
static bool closed_at(struct bench_side *side, unsigned event)
{
	if (side->close_at != event)
		return false;
	leg_close(side->leg, side->close_why);
	ck_assert_uint_eq(side->closing, 0);
	return true;
}

static void on_requested(void *arg)
{
	struct bench_side *side = arg;

	side->requested++;
	if (!closed_at(side, BENCH_AT_REQUESTED))
		leg_accept(side->leg);
}

static void on_opened(void *arg)
{
	struct bench_side *side = arg;

	side->opened++;
	closed_at(side, BENCH_AT_OPENED);
}

static void answer_now(struct bench_side *side)
{
	exchange_put(bench_answer(side, BENCH_REPLY_MIN, BENCH_REPLY_MIN));
}

static void on_call(void *arg, struct exchange *x)
{
	struct bench_side *side = arg;

	ck_assert_uint_eq(side->closing, 0);
	side->ncalls++;
	TAILQ_INSERT_TAIL(&side->calls, x, target_entry);
	if (closed_at(side, BENCH_AT_CALL))
		return;
	if (side->on_call)
		side->on_call(side);
	else if (!side->hold)
		answer_now(side);
}

static void on_reply(void *arg, struct exchange *x)
{
	struct bench_side *side = arg;

	ck_assert_uint_eq(side->closing, 0);
	side->nreplies++;
	if (x->fault != EXCHANGE_OK)
		side->nfaults++;
	TAILQ_INSERT_TAIL(&side->replies, x, origin_entry);
	closed_at(side, BENCH_AT_REPLY);
}

static void on_more(void *arg, struct exchange *x)
{
	struct bench_side *side = arg;

	ck_assert_uint_eq(side->closing, 0);
	side->nmore_events++;
}

static void on_call_ready(void *arg)
{
	((struct bench_side *)arg)->call_ready++;
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	struct bench_side *side = arg;

	ck_assert_uint_eq(side->closed, 0);
	side->closing++;
	side->why = why;
	strcpy(side->detail, detail);
}

static const char *on_securing(void *arg)
{
	return ((struct bench_side *)arg)->limit;
}

static void on_secured(void *arg)
{
	((struct bench_side *)arg)->secured++;
}

static void on_half_closed(void *arg)
{
	((struct bench_side *)arg)->half_closed++;
}

static void on_note(void *arg, const char *text)
{
	((struct bench_side *)arg)->notes++;
}

static void on_closed(void *arg)
{
	struct bench_side *side = arg;

	ck_assert_uint_eq(side->closing, 1);
	side->closed++;
}

static const struct leg_events leg_events = {
	.requested = on_requested,
	.opened = on_opened,
	.call = on_call,
	.reply = on_reply,
	.more = on_more,
	.call_ready = on_call_ready,
	.closing = on_closing,
	.closed = on_closed,
	.securing = on_securing,
	.secured = on_secured,
	.half_closed = on_half_closed,
	.note = on_note,
};

static void side_init(struct bench_side *side)
{
	*side = (struct bench_side){0};
	TAILQ_INIT(&side->calls);
	TAILQ_INIT(&side->replies);
	side->config = (struct tcp_leg_config){
		.leg = {.loop = bench_loop,
			.pool = bench_pool,
			.holder = &bench_budget.holder,
			.max_message_bytes = BENCH_MAX_MESSAGE,
			.stall_timeout_us = BENCH_STALL_US,
			.connect_timeout_us = BENCH_CONNECT_US,
			.events = &leg_events,
			.arg = side},
		.worker = &bench_worker,
	};
}

static void side_fini(struct bench_side *side)
{
	struct exchange *x;

	if (side->leg) {
		leg_close(side->leg, LEG_CLOSE_LOST);
		fake_loop_advance(bench_loop, BENCH_STALL_US);
		ck_assert_uint_eq(side->closing, 1);
		ck_assert_uint_eq(side->closed, 1);
		leg_free(side->leg);
		side->leg = NULL;
	}
	while ((x = TAILQ_FIRST(&side->calls))) {
		TAILQ_REMOVE(&side->calls, x, target_entry);
		exchange_put(x);
	}
	while ((x = TAILQ_FIRST(&side->replies))) {
		TAILQ_REMOVE(&side->replies, x, origin_entry);
		exchange_put(x);
	}
}

static enum pair_answer on_asked(void *arg, const struct stream_target *target)
{
	return PAIR_ACCEPT;
}

static void on_accepted(void *arg, struct stream *stream)
{
	if (join_legs)
		ck_assert_int_eq(tcp_leg_accept(&server.config, stream, NULL, &server.leg), 0);
	else
		raw = stream;
}

static void bench_new(const struct pair_faults *faults)
{
	const struct pair_server answers = {.asked = on_asked, .accepted = on_accepted};

	bench_loop = fake_loop_new();
	bench_pool = buf_pool_new(BENCH_LONG_BYTES, 8u << 20);
	test_budget_init(&bench_budget, bench_loop, BENCH_BUDGET);
	bench_net = pair_net_new(bench_loop, faults);
	pair_net_serve(bench_net, &answers);
	ck_assert_int_eq(tcp_worker_init(&bench_worker, pair_net_streams(bench_net)), 0);
	side_init(&client);
	side_init(&server);
	raw = NULL;
}

void bench_setup(void)
{
	bench_new(NULL);
}

void bench_teardown(void)
{
	side_fini(&client);
	side_fini(&server);
	if (raw) {
		stream_close(raw, false);
		stream_free(raw);
	}
	fake_loop_advance(bench_loop, BENCH_STALL_US);
	ck_assert_uint_eq(bench_in_use(), 0);
	ck_assert_uint_eq(bench_budget.account.used_bytes, 0);
	ck_assert_uint_eq(bench_budget.account.waiting, 0);
	tcp_worker_fini(&bench_worker);
	pair_net_free(bench_net);
	test_budget_fini(&bench_budget);
	buf_pool_free(bench_pool);
	fake_loop_free(bench_loop);
}

void bench_renew(const struct pair_faults *faults)
{
	bench_teardown();
	bench_new(faults);
}

void bench_run(void)
{
	fake_loop_run(bench_loop);
}

size_t bench_in_use(void)
{
	struct buf_pool_stats stats;

	buf_pool_stats_get(bench_pool, &stats);
	return stats.in_use_bytes;
}

void bench_connect(void)
{
	const struct stream_target target = {.addr.ss_family = AF_INET};

	join_legs = false;
	ck_assert_int_eq(tcp_leg_connect(&client.config, &target, &client.leg), 0);
}

void bench_join(void)
{
	bench_connect();
	join_legs = true;
}

void bench_accept(void)
{
	struct stream *ends[2];

	ck_assert_int_eq(pair_new(bench_net, ends), 0);
	raw = ends[1];
	ck_assert_int_eq(tcp_leg_accept(&server.config, ends[0], NULL, &server.leg), 0);
	raw_send_call(FIRST_XID, BENCH_CALL_MIN);
	bench_run();
	raw_expect_reply(FIRST_XID, BENCH_REPLY_MIN);
	ck_assert_uint_eq(server.opened, 1);
	server.ncalls = 0;
	server.hold = true;
}

static void put_words(uint8_t *to, const uint32_t *words, unsigned nwords, uint32_t len_bytes)
{
	for (unsigned i = 0; i < 4 * nwords; i++)
		to[i] = words[i / 4] >> (24 - 8 * (i % 4)) & 0xff;
	for (uint32_t i = 4 * nwords; i < len_bytes; i++)
		to[i] = (uint8_t)(words[0] + i * 7 + (i >> 8));
}

void put_call(uint8_t *to, uint32_t xid, uint32_t len_bytes)
{
	const uint32_t words[10] = {xid, RPC_CALL, RPC_VERSION, 100003, 3, 1};

	put_words(to, words, 10, len_bytes);
}

void put_reply(uint8_t *to, uint32_t xid, uint32_t len_bytes)
{
	const uint32_t words[6] = {xid, RPC_REPLY};

	put_words(to, words, 6, len_bytes);
}

struct exchange *bench_call(struct bench_side *side, uint32_t xid, uint32_t len_bytes,
			    uint32_t have_bytes)
{
	struct exchange *x = exchange_new(NULL);

	ck_assert_int_eq(rpc_msg_get(bench_pool, len_bytes, &x->call), 0);
	put_call(x->call.data, xid, len_bytes);
	ck_assert_int_eq(rpc_call_decode(x->call.data, len_bytes, &x->call_info.hdr), RPC_OK);
	memset(x->call.data + have_bytes, 0xee, len_bytes - have_bytes);
	x->call.have_bytes = have_bytes;
	x->reply_max_bytes = side->config.leg.max_message_bytes;
	leg_call(side->leg, exchange_ref(x));
	return x;
}

struct exchange *bench_answer(struct bench_side *side, uint32_t len_bytes, uint32_t have_bytes)
{
	struct exchange *x = TAILQ_FIRST(&side->calls);

	ck_assert_ptr_nonnull(x);
	TAILQ_REMOVE(&side->calls, x, target_entry);
	ck_assert_int_eq(rpc_msg_get(bench_pool, len_bytes, &x->reply), 0);
	put_reply(x->reply.data, x->call_info.hdr.xid, len_bytes);
	memset(x->reply.data + have_bytes, 0xee, len_bytes - have_bytes);
	x->reply.have_bytes = have_bytes;
	leg_reply(side->leg, exchange_ref(x));
	return x;
}

void bench_grow(struct bench_side *side, struct exchange *x, struct rpc_msg *msg,
		uint32_t have_bytes)
{
	uint8_t *whole = malloc(msg->len_bytes);

	if (msg == &x->call)
		put_call(whole, x->call_info.hdr.xid, msg->len_bytes);
	else
		put_reply(whole, x->call_info.hdr.xid, msg->len_bytes);
	memcpy(msg->data, whole, have_bytes);
	free(whole);
	msg->have_bytes = have_bytes;
	leg_more(side->leg, x);
}

void raw_write(const uint8_t *bytes, size_t len_bytes)
{
	while (len_bytes > 0) {
		struct iovec iov = {(void *)bytes, len_bytes};
		ssize_t n = stream_writev(raw, &iov, 1);

		ck_assert(n > 0 || n == -EAGAIN);
		if (n > 0) {
			bytes += n;
			len_bytes -= (size_t)n;
		}
		bench_run();
	}
}

static void send_record(uint8_t *record, uint32_t len_bytes)
{
	record_mark_encode(record, len_bytes);
	raw_write(record, RECORD_MARK_BYTES + len_bytes);
	free(record);
}

void raw_send_call(uint32_t xid, uint32_t len_bytes)
{
	uint8_t *record = malloc(RECORD_MARK_BYTES + len_bytes);

	put_call(record + RECORD_MARK_BYTES, xid, len_bytes);
	send_record(record, len_bytes);
}

void raw_send_reply(uint32_t xid, uint32_t len_bytes)
{
	uint8_t *record = malloc(RECORD_MARK_BYTES + len_bytes);

	put_reply(record + RECORD_MARK_BYTES, xid, len_bytes);
	send_record(record, len_bytes);
}

size_t raw_read(uint8_t *to, size_t max_bytes)
{
	size_t have = 0;

	for (;;) {
		struct iovec iov = {to + have, max_bytes - have};
		ssize_t n;

		bench_run();
		n = have < max_bytes ? stream_readv(raw, &iov, 1) : 0;
		if (n <= 0)
			return have;
		have += (size_t)n;
	}
}

static void expect_record(uint8_t *want, uint32_t len_bytes)
{
	uint8_t *got = malloc(RECORD_MARK_BYTES + len_bytes);

	record_mark_encode(want, len_bytes);
	ck_assert_uint_eq(raw_read(got, RECORD_MARK_BYTES + len_bytes),
			  RECORD_MARK_BYTES + len_bytes);
	ck_assert(!memcmp(got, want, RECORD_MARK_BYTES + len_bytes));
	free(got);
	free(want);
}

void raw_expect_call(uint32_t xid, uint32_t len_bytes)
{
	uint8_t *want = malloc(RECORD_MARK_BYTES + len_bytes);

	put_call(want + RECORD_MARK_BYTES, xid, len_bytes);
	expect_record(want, len_bytes);
}

void raw_expect_reply(uint32_t xid, uint32_t len_bytes)
{
	uint8_t *want = malloc(RECORD_MARK_BYTES + len_bytes);

	put_reply(want + RECORD_MARK_BYTES, xid, len_bytes);
	expect_record(want, len_bytes);
}

void raw_expect(ssize_t want)
{
	char byte;
	struct iovec iov = {&byte, 1};

	bench_run();
	ck_assert_int_eq(stream_readv(raw, &iov, 1), want);
}
