// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes the stream into a TCP leg, in any parts: it forwards, answers or closes, and holds nothing
 * afterwards.
 */
#include <string.h>

#include "rpctcp/tcp_leg.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/stream_pair.h"
#include "tests/lib/test_budget.h"

#define MAX_MESSAGE   4096u
#define BUDGET_BYTES  (64u * 1024u) /* for a few of the largest Calls, so that some have to wait */
#define REVERSE_CALLS 4u            /* Calls to the peer, whose XIDs a Reply can meet */
#define HELD_MAX      8u            /* Calls that are answered late */
#define DRAIN_SEED    240u          /* from this seed on the leg is drained halfway */

static struct loop *loop;
static struct buf_pool *pool;
static struct leg *leg;
static struct exchange *held[HELD_MAX];
static unsigned nheld;
static bool opened, closing, closed;

static void answer(struct exchange *x)
{
	FUZZ_ASSERT(x->call.len_bytes >= 40 && x->call.len_bytes <= MAX_MESSAGE);
	FUZZ_ASSERT(x->reply_max_bytes <= MAX_MESSAGE);
	if (x->call_info.hdr.xid % 3 == 0)
		x->fault = EXCHANGE_FAULT_BAD_REPLY;
	else
		FUZZ_ASSERT(!rpc_msg_get(pool, 24, &x->reply));
	if (x->reply.buf)
		memset(x->reply.data, 0, 24);
	leg_reply(leg, x);
}

static void answer_held(void)
{
	while (nheld > 0)
		answer(held[--nheld]);
}

static void on_call(void *arg, struct exchange *x)
{
	FUZZ_ASSERT(!closing);
	if (x->call_info.hdr.xid % 2 == 0 && nheld < HELD_MAX)
		held[nheld++] = x;
	else
		answer(x);
}

static void on_reply(void *arg, struct exchange *x)
{
	FUZZ_ASSERT(!closing);
	if (x->reply.buf)
		FUZZ_ASSERT(x->reply.len_bytes <= x->reply_max_bytes);
	else
		FUZZ_ASSERT(x->fault != EXCHANGE_OK);
	exchange_put(x);
}

static void on_requested(void *arg)
{
	leg_accept(leg);
}

static void on_opened(void *arg)
{
	opened = true;
}

static void on_call_ready(void *arg)
{
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	FUZZ_ASSERT(!closing);
	closing = true;
}

static void on_closed(void *arg)
{
	FUZZ_ASSERT(closing && !closed);
	closed = true;
}

static void send_calls(void)
{
	static const uint8_t words[40] = {[11] = RPC_VERSION};

	for (uint32_t xid = 0; xid < REVERSE_CALLS; xid++) {
		struct exchange *x = exchange_new(NULL);

		FUZZ_ASSERT(!rpc_msg_get(pool, sizeof(words), &x->call));
		memcpy(x->call.data, words, sizeof(words));
		x->call.data[3] = (uint8_t)xid;
		x->call_info.hdr.xid = xid;
		x->reply_max_bytes = 100 * xid;
		leg_call(leg, x);
	}
}

/* Parts of the input's own choice, while what the leg says is thrown away. */
static void feed(struct stream *peer, const uint8_t *data, size_t size, uint8_t seed)
{
	static uint8_t waste[65536];
	struct iovec sink = {waste, sizeof(waste)};
	size_t drain_at = seed >= DRAIN_SEED ? size / 2 : 0;

	while (size > 0 && !closed) {
		size_t n = 1 + (seed = seed * 5 + 1) % 61;
		struct iovec part = {(void *)data, n < size ? n : size};
		ssize_t sent = stream_writev(peer, &part, 1);

		if (sent > 0) {
			data += sent;
			size -= (size_t)sent;
		}
		fake_loop_run(loop);
		while (stream_readv(peer, &sink, 1) > 0)
			;
		if (seed % 4 == 0)
			answer_held();
		if (seed % 16 == 1)
			leg_pause(leg, seed % 32 == 1);
		if (size < drain_at)
			leg_drain(leg);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct leg_events events = {
		.requested = on_requested,
		.opened = on_opened,
		.call = on_call,
		.reply = on_reply,
		.call_ready = on_call_ready,
		.closing = on_closing,
		.closed = on_closed,
	};
	struct tcp_worker worker;
	struct test_budget budget;
	struct tcp_leg_config config = {.worker = &worker};
	struct pair_faults faults;
	struct pair_net *net;
	struct stream *ends[2];
	struct buf_pool_stats stats;

	if (size < 1)
		return 0;
	nheld = 0;
	opened = closing = closed = false;
	faults = (struct pair_faults){.seed = data[0], .short_reads = data[0] % 2};
	loop = fake_loop_new();
	net = pair_net_new(loop, &faults);
	pool = buf_pool_new(2 * MAX_MESSAGE, 8u << 20);
	test_budget_init(&budget, loop, BUDGET_BYTES);
	FUZZ_ASSERT(!tcp_worker_init(&worker, pair_net_streams(net)));
	config.leg = (struct leg_config){.loop = loop,
					 .pool = pool,
					 .holder = &budget.holder,
					 .max_message_bytes = MAX_MESSAGE,
					 .stall_timeout_us = 1000000000,
					 .events = &events};
	FUZZ_ASSERT(!pair_new(net, ends));
	FUZZ_ASSERT(!tcp_leg_accept(&config, ends[0], NULL, &leg));
	send_calls();
	feed(ends[1], data + 1, size - 1, data[0]);
	leg_pause(leg, false);
	stream_close(ends[1], false);
	stream_free(ends[1]);
	while (!closed) {
		answer_held();
		fake_loop_advance(loop, 1000000);
	}
	answer_held();
	leg_free(leg);
	buf_pool_stats_get(pool, &stats);
	FUZZ_ASSERT(stats.in_use_bytes == 0 && budget.account.used_bytes == 0);
	test_budget_fini(&budget);
	tcp_worker_fini(&worker);
	buf_pool_free(pool);
	fake_loop_run(loop);
	pair_net_free(net);
	fake_loop_free(loop);
	return 0;
}
