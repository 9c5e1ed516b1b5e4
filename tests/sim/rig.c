// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfs/nfs.h"
#include "rpc/xdr.h"
#include "rpcrdma/memory_bound.h"
#include "tests/lib/fake_loop.h"
#include "tests/sim/raw.h"

#define BUDGET_BYTES (64u * 1024u * 1024u)

size_t rig_pool_bytes = RIG_POOL_BYTES;

const struct sockaddr_storage rig_addr = {.ss_family = AF_INET};

void rig_fill_call(uint8_t *to, uint32_t len, uint32_t xid, uint32_t reply_bytes)
{
	const uint32_t words[] = {xid, RPC_CALL, RPC_VERSION, 400000, 1,          7,
				  0,   0,        0,           0,      reply_bytes};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		be32_put(to + 4 * i, words[i]);
	for (uint32_t i = RIG_CALL_MIN; i < len; i++)
		to[i] = (uint8_t)(xid + i * 7 + (i >> 8));
}

void rig_fill_reply(uint8_t *to, uint32_t len, uint32_t xid)
{
	const uint32_t words[] = {xid, RPC_REPLY, RPC_MSG_ACCEPTED, 0, 0, RPC_SUCCESS};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		be32_put(to + 4 * i, words[i]);
	for (uint32_t i = RIG_REPLY_MIN; i < len; i++)
		to[i] = (uint8_t)(xid * 3 + i * 5 + (i >> 8));
}

uint32_t rig_sum(const uint8_t *data, size_t len)
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ data[i]) * 16777619u;
	return sum;
}

static void on_opened(void *arg)
{
	((struct rig_side *)arg)->opened++;
}

static void on_requested(void *arg)
{
	struct rig_side *side = arg;

	side->requested++;
	if (side->rig->reject)
		leg_close(side->leg, LEG_CLOSE_UNREACHABLE);
	else if (!side->rig->never_accept)
		leg_accept(side->leg);
}

static void answer(struct rig_side *side, struct exchange *x)
{
	uint32_t len = be32_get(x->call.data + x->call_info.hdr.args_offset);

	x->fault = side->answer_fault;
	if (x->fault == EXCHANGE_OK) {
		RIG_ASSERT(rpc_msg_get(side->rig->pool, len, &x->reply) == 0);
		rig_fill_reply(x->reply.data, len, x->call_info.hdr.xid);
	}
	leg_reply(side->leg, x);
}

static void on_call(void *arg, struct exchange *x)
{
	struct rig_side *side = arg;

	RIG_ASSERT(!side->closing && (side->config.leg.partial || rpc_msg_is_whole(&x->call)));
	side->calls++;
	side->last_call_bytes = x->call.len_bytes;
	side->last_reply_max = x->reply_max_bytes;
	side->last_xid = x->call_info.hdr.xid;
	side->last_call_sum = rig_sum(x->call.data, x->call.have_bytes);
	if (side->on_call)
		side->on_call(side, x);
	else if (side->hold)
		TAILQ_INSERT_TAIL(&side->held, x, target_entry);
	else
		answer(side, x);
}

void rig_answer_held(struct rig_side *side)
{
	struct exchange *x;

	while ((x = TAILQ_FIRST(&side->held))) {
		TAILQ_REMOVE(&side->held, x, target_entry);
		answer(side, x);
	}
}

static void check_reply(struct rig_side *side, const struct exchange *x)
{
	uint32_t len = be32_get(x->call.data + x->call_info.hdr.args_offset);
	uint8_t *want = malloc(len);

	rig_fill_reply(want, len, x->call_info.hdr.xid);
	if (len != x->reply.len_bytes || memcmp(want, x->reply.data, len))
		side->wrong++;
	free(want);
}

static void on_reply(void *arg, struct exchange *x)
{
	struct rig_side *side = arg;

	RIG_ASSERT(!side->closing && rpc_msg_is_whole(&x->reply));
	TAILQ_REMOVE(&side->waiting, x, origin_entry);
	side->last_fault = x->fault;
	/*
	 * A key that is still bound holds a reference, because the peer could still write or read
	 * it. It can Read a Call that was abandoned without its answer.
	 */
	RIG_ASSERT(x->call.buf->refs == 1 || x->fault == EXCHANGE_FAULT_LATE);
	RIG_ASSERT(!x->reply.buf || x->reply.buf->refs == 1);
	if (side->on_reply) {
		side->on_reply(side, x);
	} else if (x->fault != EXCHANGE_OK) {
		side->faults++;
		RIG_ASSERT(!x->reply.buf);
	} else {
		side->answered++;
		side->last_reply_bytes = x->reply.len_bytes;
		memcpy(side->last_reply, x->reply.data,
		       x->reply.len_bytes < 64 ? x->reply.len_bytes : 64);
		check_reply(side, x);
	}
	exchange_put(x);
	exchange_put(x);
}

static void on_call_ready(void *arg)
{
	((struct rig_side *)arg)->call_ready++;
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	struct rig_side *side = arg;

	RIG_ASSERT(detail && !side->closing);
	side->closing++;
	side->closing_us = loop_now_us(side->rig->loop);
	side->waiting_at_closing = side->config.leg.holder->account->waiting;
	side->why = why;
	side->close_errno = side->leg->close_errno;
	snprintf(side->detail, sizeof(side->detail), "%s", detail);
}

static void on_closed(void *arg)
{
	struct rig_side *side = arg;
	struct exchange *x;

	RIG_ASSERT(side->closing == 1);
	side->closed++;
	while ((x = TAILQ_FIRST(&side->waiting))) {
		TAILQ_REMOVE(&side->waiting, x, origin_entry);
		exchange_put(x);
	}
	while ((x = TAILQ_FIRST(&side->held))) {
		TAILQ_REMOVE(&side->held, x, target_entry);
		exchange_put(x);
	}
	/* The hardest moment to free it. */
	leg_free(side->leg);
	side->leg = NULL;
}

static void on_note(void *arg, const char *text)
{
	((struct rig_side *)arg)->notes++;
	if (getenv("RIG_VERBOSE"))
		printf("# note: %s\n", text);
}

static void on_more(void *arg, struct exchange *x)
{
	struct rig_side *side = arg;

	RIG_ASSERT(!side->closing && side->config.leg.partial);
	side->more_events++;
}

static const struct leg_events events = {
	.opened = on_opened,
	.requested = on_requested,
	.call = on_call,
	.reply = on_reply,
	.more = on_more,
	.call_ready = on_call_ready,
	.closing = on_closing,
	.closed = on_closed,
	.note = on_note,
};

static void on_incoming(void *arg, struct fabric_incoming *in)
{
	struct rig *rig = arg;

	if (rig->drop)
		fabric_incoming_drop(in);
	else if (rig->raw_server)
		raw_adopt(rig->raw_server, in);
	else
		RIG_ASSERT(rdma_leg_adopt(&rig->server.config, rig->fabric, in, &rig->server.leg) ==
			   0);
}

static void side_init(struct rig *rig, struct rig_side *side, struct test_budget *budget)
{
	side->rig = rig;
	TAILQ_INIT(&side->waiting);
	TAILQ_INIT(&side->held);
	side->config = (struct rdma_leg_config){
		.leg =
			{
				.loop = rig->loop,
				.pool = rig->pool,
				.holder = &budget->holder,
				.max_message_bytes = RIG_MAX_MSG,
				.stall_timeout_us = 60 * 1000000,
				.connect_timeout_us = 5 * 1000000,
				.events = &events,
				.arg = side,
			},
		.credits = 32,
		.inline_threshold_bytes = 4096,
		.remote_invalidation = true,
		.strict_chunks = true,
		.counters = &side->counters,
	};
}

struct rig *rig_new(const struct sim_faults *faults)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	rig->loop = fake_loop_new();
	rig->pool = buf_pool_new(rig_pool_bytes, 8u << 20);
	test_budget_init(&rig->budget, rig->loop, BUDGET_BYTES);
	test_budget_init(&rig->client_budget, rig->loop, BUDGET_BYTES);
	rig->net = sim_net_new(rig->loop, faults);
	rig->fabric = sim_fabric_new(rig->net, rig->pool);
	rig->next_xid = 0x1000;
	RIG_ASSERT(fabric_listen(&sim_fabric_ops, rig->net, rig->loop,
				 (const struct sockaddr *)&rig_addr, 1, on_incoming, rig,
				 &rig->listener) == 0);
	side_init(rig, &rig->client, &rig->client_budget);
	side_init(rig, &rig->server, &rig->budget);
	return rig;
}

void rig_connect(struct rig *rig)
{
	rig->client.closing = 0;
	RIG_ASSERT(rdma_leg_connect(&rig->client.config, rig->fabric,
				    (const struct sockaddr *)&rig_addr, &rig->client.leg) == 0);
}

void rig_run_for(struct rig *rig, uint64_t us)
{
	fake_loop_advance(rig->loop, us);
}

void rig_run(struct rig *rig)
{
	rig_run_for(rig, 10 * 1000000);
}

struct rig *rig_open(const struct sim_faults *faults)
{
	struct rig *rig = rig_new(faults);

	rig_connect(rig);
	rig_run(rig);
	RIG_ASSERT(rig->client.opened == 1);
	RIG_ASSERT(rig->server.opened == 1);
	return rig;
}

void rig_end(struct rig *rig)
{
	struct buf_pool_stats stats;

	for (int i = 0; i < 2; i++) {
		struct rig_side *side = i ? &rig->server : &rig->client;

		if (side->leg)
			leg_close(side->leg, LEG_CLOSE_LOCAL);
		rig_run(rig);
		RIG_ASSERT(!side->leg);
		RIG_ASSERT(side->closed <= 1);
	}
	buf_pool_stats_get(rig->pool, &stats);
	RIG_ASSERT(stats.in_use_bytes == 0);
	RIG_ASSERT(rig->budget.account.used_bytes == 0);
	RIG_ASSERT(rig->client_budget.account.used_bytes == 0);
	fabric_listener_free(rig->listener);
	fabric_free(rig->fabric);
	sim_net_free(rig->net);
	test_budget_fini(&rig->budget);
	test_budget_fini(&rig->client_budget);
	buf_pool_free(rig->pool);
	fake_loop_free(rig->loop);
	free(rig);
}

static struct exchange *new_call(struct rig *rig, uint32_t call_bytes, uint32_t reply_bytes,
				 uint32_t reply_max)
{
	struct exchange *x = exchange_new(NULL);
	uint32_t xid = rig->next_xid++;

	RIG_ASSERT(rpc_msg_get(rig->pool, call_bytes, &x->call) == 0);
	rig_fill_call(x->call.data, call_bytes, xid, reply_bytes);
	RIG_ASSERT(rpc_call_decode(x->call.data, call_bytes, &x->call_info.hdr) == RPC_OK);
	x->reply_max_bytes = reply_max;
	return x;
}

uint32_t rig_call(struct rig_side *side, uint32_t call_bytes, uint32_t reply_bytes,
		  uint32_t reply_max)
{
	struct exchange *x = new_call(side->rig, call_bytes, reply_bytes, reply_max);
	uint32_t xid = x->call_info.hdr.xid;

	rig_give(side, x);
	return xid;
}

void rig_look(struct rig_side *side, struct exchange *x)
{
	const struct xdr_sg_entry piece = {x->call.data, x->call.have_bytes};
	const struct xdr_sg pieces = {&piece, 1, x->call.len_bytes};

	if (x->call_info.stage == CALL_INFO_NONE)
		nfs_call_walk_begin(&x->call_info, side->config.leg.max_message_bytes);
	nfs_call_walk_continue(&x->call_info, side->config.leg.sessions, &pieces, NULL);
}

static void hide(struct rpc_msg *msg, uint32_t have_bytes)
{
	RIG_ASSERT(have_bytes <= msg->len_bytes);
	memset(msg->data + have_bytes, 0xdd, msg->len_bytes - have_bytes);
	msg->have_bytes = have_bytes;
}

static void show(struct rpc_msg *msg, const uint8_t *whole, uint32_t have_bytes)
{
	RIG_ASSERT(have_bytes >= msg->have_bytes && have_bytes <= msg->len_bytes);
	memcpy(msg->data + msg->have_bytes, whole + msg->have_bytes, have_bytes - msg->have_bytes);
	msg->have_bytes = have_bytes;
}

struct exchange *rig_call_in_pieces(struct rig_side *side, uint32_t call_bytes,
				    uint32_t reply_bytes, uint32_t reply_max, uint32_t have_bytes)
{
	struct exchange *x = new_call(side->rig, call_bytes, reply_bytes, reply_max);

	RIG_ASSERT(have_bytes >= RIG_CALL_MIN);
	hide(&x->call, have_bytes);
	rig_give(side, x);
	return x;
}

void rig_call_grow(struct rig_side *side, struct exchange *x, uint32_t have_bytes)
{
	uint8_t *whole = malloc(x->call.len_bytes);

	rig_fill_call(whole, x->call.len_bytes, x->call_info.hdr.xid,
		      be32_get(x->call.data + x->call_info.hdr.args_offset));
	show(&x->call, whole, have_bytes);
	free(whole);
	rig_look(side, x);
	leg_more(side->leg, x);
}

struct exchange *rig_answer_in_pieces(struct rig_side *side, uint32_t have_bytes)
{
	struct exchange *x = TAILQ_FIRST(&side->held);
	uint32_t len = be32_get(x->call.data + x->call_info.hdr.args_offset);

	TAILQ_REMOVE(&side->held, x, target_entry);
	RIG_ASSERT(rpc_msg_get(side->rig->pool, len, &x->reply) == 0);
	rig_fill_reply(x->reply.data, len, x->call_info.hdr.xid);
	hide(&x->reply, have_bytes);
	leg_reply(side->leg, exchange_ref(x));
	return x;
}

void rig_reply_grow(struct rig_side *side, struct exchange *x, uint32_t have_bytes)
{
	uint8_t *whole = malloc(x->reply.len_bytes);

	rig_fill_reply(whole, x->reply.len_bytes, x->call_info.hdr.xid);
	show(&x->reply, whole, have_bytes);
	free(whole);
	leg_more(side->leg, x);
}

void rig_give(struct rig_side *side, struct exchange *x)
{
	const struct memory_bound_params sizes = {
		.inline_threshold_bytes = side->config.inline_threshold_bytes,
		.config_protocol = side->config.config_protocol,
		.recv_max_bytes = side->config.receive_max_bytes,
	};
	struct reply_memory room = memory_bound_reply(&sizes);

	rig_look(side, x);
	if (!budget_claim(side->config.leg.holder, &x->claim,
			  exchange_cost_bytes(rpc_msg_cost_bytes(x->call.len_bytes),
					      x->reply_max_bytes, &x->call_info, &room))) {
		/* The rig's own ends wait for nothing. */
		budget_claim_release(&x->claim);
		budget_claim_empty(side->config.leg.holder, &x->claim);
	}
	TAILQ_INSERT_TAIL(&side->waiting, x, origin_entry);
	leg_call(side->leg, exchange_ref(x));
}
