// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/pair_legs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfs/nfs.h"
#include "rpc/xdr.h"
#include "rpcrdma/memory_bound.h"
#include "tests/lab/pair.h"

#define MAX_MESSAGE  (1u << 20)
#define BUDGET_BYTES (64u << 20)
#define TICK_US      1000u
#define OTHER_WAY    0x80000000u /* XIDs of Calls that the server makes */
#define NO_DATA      0x40000000u /* XIDs of Calls that are small, as their Replies are */
#define NFS_READ     6u
#define NFS_WRITE    7u

struct legs legs;

/* ---- what a message is ---- */

static bool is_write(uint32_t xid)
{
	return xid & 1;
}

/* Of all lengths, most of them short: a guest is slow. The bounds of receives are among them. */
static uint32_t data_bytes(uint32_t xid)
{
	static const uint32_t most[] = {2048, 4096, 8192, 2048, 4096, 16384, 2048, LEGS_DATA_MAX};
	uint32_t at_random = (xid >> 1) * 2654435761u;

	if (xid & NO_DATA)
		return 0;
	return (at_random >> 8) % (most[at_random % ARRAY_SIZE(most)] + 1);
}

struct filler {
	uint8_t *at;
	uint32_t xid;
};

static void fill_word(struct filler *to, uint32_t word)
{
	be32_put(to->at, word);
	to->at += 4;
}

static void fill_words(struct filler *to, const uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fill_word(to, words[i]);
}

static void fill_bytes(struct filler *to, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		*to->at++ = (uint8_t)(to->xid * 7 + i * 5 + (i >> 8) * 3);
}

static void fill_opaque(struct filler *to, uint32_t len)
{
	fill_word(to, len);
	fill_bytes(to, len);
	while ((uintptr_t)to->at % 4)
		*to->at++ = 0;
}

/* In whole words, so that an opaque's pad can be found by its address. */
static uint32_t room_needed(void)
{
	return LEGS_DATA_MAX + 512;
}

static uint32_t fill_call(uint8_t *start, uint32_t xid)
{
	const bool reverse = xid & OTHER_WAY;
	const uint32_t head[] = {xid,
				 RPC_CALL,
				 RPC_VERSION,
				 reverse ? 400000 : 100003,
				 reverse ? 1 : 3,
				 reverse         ? 7
				 : is_write(xid) ? NFS_WRITE
						 : NFS_READ,
				 0,
				 0,
				 0,
				 0};
	struct filler to = {start, xid};
	uint32_t len = data_bytes(xid & ~OTHER_WAY);

	fill_words(&to, head, ARRAY_SIZE(head));
	if (reverse) {
		fill_bytes(&to, 4 * (xid % 200));
		return (uint32_t)(to.at - start);
	}
	fill_opaque(&to, 32); /* the file's handle */
	fill_word(&to, 0);
	fill_word(&to, xid); /* offset */
	fill_word(&to, len);
	if (is_write(xid)) {
		fill_word(&to, 2); /* FILE_SYNC */
		fill_opaque(&to, len);
	}
	return (uint32_t)(to.at - start);
}

static uint32_t fill_reply(uint8_t *start, uint32_t xid)
{
	const uint32_t head[] = {xid, RPC_REPLY, RPC_MSG_ACCEPTED, 0, 0, RPC_SUCCESS};
	const uint32_t read[] = {0, 0, data_bytes(xid), 0};
	const uint32_t written[] = {0, 0, 0, data_bytes(xid), 2, xid, xid};
	struct filler to = {start, xid};

	fill_words(&to, head, ARRAY_SIZE(head));
	if (xid & OTHER_WAY) {
		fill_bytes(&to, 4 * (xid % 150));
	} else if (is_write(xid)) {
		fill_words(&to, written, ARRAY_SIZE(written));
	} else {
		fill_words(&to, read, ARRAY_SIZE(read));
		fill_opaque(&to, data_bytes(xid));
	}
	return (uint32_t)(to.at - start);
}

static int make(uint32_t (*fill)(uint8_t *, uint32_t), uint32_t xid, struct rpc_msg *msg)
{
	static uint8_t *scratch;
	uint32_t len;

	if (!scratch)
		scratch = aligned_alloc(4096, (room_needed() + 4095) & ~4095u);
	len = fill(scratch, xid);
	if (rpc_msg_get(pool, len, msg))
		return -1;
	memcpy(msg->data, scratch, len);
	return 0;
}

static bool is_right(uint32_t (*fill)(uint8_t *, uint32_t), uint32_t xid, const struct rpc_msg *msg)
{
	struct rpc_msg want;
	bool right;

	if (make(fill, xid, &want))
		return false;
	right = want.len_bytes == msg->len_bytes && !memcmp(want.data, msg->data, want.len_bytes);
	rpc_msg_put(&want);
	return right;
}

/* ---- instead of bridges ---- */

static const struct memory_bound_params sizes = {.inline_threshold_bytes = LEGS_FIRST,
						 .recv_max_bytes = LEGS_RAISED};

static void call(struct leg_end *end, uint32_t xid)
{
	struct reply_memory room = memory_bound_reply(&sizes);
	struct exchange *x = exchange_new(NULL);
	struct xdr_sg_entry piece;
	struct xdr_sg pieces = {&piece, 1, 0};

	if (!x || make(fill_call, xid, &x->call) ||
	    rpc_call_decode(x->call.data, x->call.len_bytes, &x->call_info.hdr) != RPC_OK)
		abort();
	piece = (struct xdr_sg_entry){x->call.data, x->call.len_bytes};
	pieces.len_bytes = x->call.len_bytes;
	nfs_call_walk_begin(&x->call_info, MAX_MESSAGE);
	nfs_call_walk_continue(&x->call_info, NULL, &pieces, NULL);
	x->reply_max_bytes = xid & OTHER_WAY ? 1000 : x->call_info.reply_bound_bytes;
	if (!budget_claim(&end->budget.holder, &x->claim,
			  exchange_cost_bytes(rpc_msg_cost_bytes(x->call.len_bytes),
					      x->reply_max_bytes, &x->call_info, &room)))
		abort();
	TAILQ_INSERT_TAIL(&end->waiting, x, origin_entry);
	end->in_flight++;
	leg_call(end->leg, exchange_ref(x));
}

void legs_set_load(unsigned load)
{
	struct leg_end *end = &legs.client;

	legs.load = load;
	while (!end->closed && end->in_flight < load)
		call(end, (end->next_xid++ & ~NO_DATA) | (legs.small ? NO_DATA : 0));
}

static void on_tick(void *arg)
{
	struct leg_end *end = &legs.server;

	uint64_t due = (loop_now_us(loop) - legs.since_us) / TICK_US;

	loop_timer_set(loop, legs.timer, TICK_US);
	/*
	 * A turn of a busy loop takes longer than that. No server calls a client back that has not
	 * called it.
	 */
	while (legs.both_ways && legs.client.answered && !end->closed && end->next_xid < due &&
	       end->in_flight < LEGS_REVERSING)
		call(end, end->next_xid++ | OTHER_WAY | NO_DATA);
}

static void on_opened(void *arg)
{
	((struct leg_end *)arg)->opened = true;
}

static void on_leg_requested(void *arg)
{
	leg_accept(((struct leg_end *)arg)->leg);
}

static void on_call(void *arg, struct exchange *x)
{
	struct leg_end *end = arg;
	uint32_t xid = x->call_info.hdr.xid;

	if (!is_right(fill_call, xid, &x->call))
		end->wrong++;
	if (make(fill_reply, xid, &x->reply))
		abort();
	leg_reply(end->leg, x);
}

static void on_reply(void *arg, struct exchange *x)
{
	struct leg_end *end = arg;
	uint32_t xid = x->call_info.hdr.xid;

	TAILQ_REMOVE(&end->waiting, x, origin_entry);
	end->in_flight--;
	if (x->fault != EXCHANGE_OK) {
		printf("# XID %#x: fault %d\n", xid, x->fault);
		end->faults++;
	} else {
		end->answered++;
		end->wrong += !is_right(fill_reply, xid, &x->reply);
		if (!(xid & OTHER_WAY))
			legs.data_bytes += data_bytes(xid);
	}
	exchange_put(x);
	exchange_put(x);
	if (end == &legs.client)
		legs_set_load(legs.load);
	else
		on_tick(NULL);
}

static void on_call_ready(void *arg)
{
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	struct leg_end *end = arg;

	end->why = why;
	snprintf(end->detail, sizeof(end->detail), "%s", detail);
}

static void on_leg_closed(void *arg)
{
	struct leg_end *end = arg;
	struct exchange *x;

	end->closed = true;
	while ((x = TAILQ_FIRST(&end->waiting))) {
		TAILQ_REMOVE(&end->waiting, x, origin_entry);
		exchange_put(x);
	}
}

static void on_leg_note(void *arg, const char *text)
{
	printf("# %s: %s\n", arg == &legs.client ? "client" : "server", text);
}

static const struct leg_events leg_events = {
	.opened = on_opened,
	.requested = on_leg_requested,
	.call = on_call,
	.reply = on_reply,
	.call_ready = on_call_ready,
	.closing = on_closing,
	.closed = on_leg_closed,
	.note = on_leg_note,
};

/* ---- both of them ---- */

static void end_init(struct leg_end *end, bool ddp)
{
	*end = (struct leg_end){0};
	TAILQ_INIT(&end->waiting);
	test_budget_init(&end->budget, loop, BUDGET_BYTES);
	end->config = (struct rdma_leg_config){
		.leg = {.loop = loop,
			.pool = pool,
			.holder = &end->budget.holder,
			.max_message_bytes = MAX_MESSAGE,
			.reply_memory = memory_bound_reply(&sizes),
			.stall_timeout_us = WAIT_US,
			.connect_timeout_us = WAIT_US,
			.events = &leg_events,
			.arg = end},
		.credits = LEGS_CREDITS,
		.inline_threshold_bytes = LEGS_FIRST,
		.remote_invalidation = true,
		.ddp = ddp,
		.highest_version = 2,
		.receive_max_bytes = LEGS_RAISED,
		.characteristics = true,
		.counters = &end->counters,
	};
}

static void adopt(struct fabric_incoming *in)
{
	if (rdma_leg_adopt(&legs.server.config, fabric, in, &legs.server.leg))
		printf("# adopt failed\n");
}

static bool both_open(void)
{
	return legs_lost() || (legs.client.opened && legs.server.opened);
}

bool legs_lost(void)
{
	return legs.client.closed || legs.server.closed;
}

bool legs_open(bool ddp)
{
	legs = (struct legs){.since_us = loop_now_us(loop)};
	end_init(&legs.client, ddp);
	end_init(&legs.server, ddp);
	legs.timer = loop_timer_new(loop, on_tick, NULL);
	loop_timer_set(loop, legs.timer, TICK_US);
	incoming_taken = adopt;
	if (rdma_leg_connect(&legs.client.config, client_fabric, (struct sockaddr *)&listen_addr,
			     &legs.client.leg))
		return false;
	return wait_until(both_open) && !legs_lost();
}

static bool nothing_in_flight(void)
{
	return legs_lost() || (!legs.client.in_flight && !legs.server.in_flight);
}

bool legs_quiet(void)
{
	legs.load = 0;
	legs.both_ways = false;
	return wait_until(nothing_in_flight) && !legs_lost();
}

static bool both_over(void)
{
	return (!legs.client.leg || legs.client.closed) && (!legs.server.leg || legs.server.closed);
}

static bool end_fini(struct leg_end *end)
{
	bool clean = end->budget.account.used_bytes == 0;

	leg_free(end->leg);
	test_budget_fini(&end->budget);
	return clean;
}

bool legs_close(void)
{
	struct buf_pool_stats stats;
	bool clean;

	legs.load = 0;
	if (legs.client.leg && !legs.client.closed)
		leg_close(legs.client.leg, LEG_CLOSE_LOCAL);
	if (!wait_until(both_over))
		return false;
	loop_timer_free(loop, legs.timer);
	incoming_taken = NULL;
	clean = end_fini(&legs.client);
	clean &= end_fini(&legs.server);
	buf_pool_stats_get(pool, &stats);
	return clean && stats.in_use_bytes == 0;
}
