// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/stub_leg.h"

#include <string.h>

#include "nfs/nfs.h"
#include "tests/sim/rig.h"

static struct stub_leg *stub_of(const struct leg *leg)
{
	return container_of((struct leg *)leg, struct stub_leg, leg);
}

/* ---- its end ---- */

static void let_go(struct stub_leg *stub)
{
	struct exchange *x;

	while ((x = TAILQ_FIRST(&stub->called))) {
		TAILQ_REMOVE(&stub->called, x, target_entry);
		x->target = NULL;
		exchange_put(x);
	}
	while ((x = TAILQ_FIRST(&stub->waiting))) {
		TAILQ_REMOVE(&stub->waiting, x, origin_entry);
		x->origin = NULL;
		exchange_put(x);
	}
}

static void say_closing(struct stub_leg *stub)
{
	stub->is_closing = true;
	stub->config.events->closing(stub->config.arg, stub->why, "");
}

static void on_task(void *arg)
{
	struct stub_leg *stub = arg;

	if (stub->open_due) {
		stub->open_due = false;
		stub->opened++;
		stub->config.events->opened(stub->config.arg);
	}
	if (stub->why == LEG_CLOSE_COUNT)
		return;
	if (!stub->is_closing)
		say_closing(stub);
	let_go(stub);
	stub->is_closed = true;
	stub->config.events->closed(stub->config.arg);
}

void stub_leg_break(struct stub_leg *stub, enum leg_close why)
{
	RIG_ASSERT(stub->why == LEG_CLOSE_COUNT);
	stub->why = why;
	say_closing(stub);
	loop_defer(stub->config.loop, &stub->task);
}

/* ---- the operations ---- */

void stub_leg_open(struct stub_leg *stub)
{
	stub->open_due = true;
	loop_defer(stub->config.loop, &stub->task);
}

static void op_accept(struct leg *leg)
{
	stub_leg_open(stub_of(leg));
}

static bool op_can_call(const struct leg *leg)
{
	return true;
}

static void op_call(struct leg *leg, struct exchange *x)
{
	struct stub_leg *stub = stub_of(leg);

	RIG_ASSERT(rpc_msg_is_whole(&x->call));
	if (stub->why != LEG_CLOSE_COUNT) {
		exchange_put(x);
		return;
	}
	stub->calls++;
	x->target = leg;
	TAILQ_INSERT_TAIL(&stub->called, x, target_entry);
}

static void op_reply(struct leg *leg, struct exchange *x)
{
	struct stub_leg *stub = stub_of(leg);

	if (x->origin == leg) {
		RIG_ASSERT(x->fault != EXCHANGE_OK || rpc_msg_is_whole(&x->reply));
		if (x->fault == EXCHANGE_OK)
			stub->last_reply_sum = rig_sum(x->reply.data, x->reply.len_bytes);
		stub->replies += x->fault == EXCHANGE_OK;
		stub->faults += x->fault != EXCHANGE_OK;
		TAILQ_REMOVE(&stub->waiting, x, origin_entry);
		x->origin = NULL;
		exchange_put(x);
	}
	exchange_put(x);
}

static void op_more(struct leg *leg, struct exchange *x)
{
	RIG_ASSERT(!"what a stub is given is complete");
}

static void op_pause(struct leg *leg, bool paused)
{
}

static void op_close(struct leg *leg, enum leg_close why)
{
	struct stub_leg *stub = stub_of(leg);

	if (stub->why != LEG_CLOSE_COUNT)
		return;
	stub->why = why;
	loop_defer(stub->config.loop, &stub->task);
}

static void op_drain(struct leg *leg)
{
	op_close(leg, LEG_CLOSE_SHUTDOWN);
}

static void op_info(const struct leg *leg, struct leg_info *info)
{
	*info = (struct leg_info){.kind = "stub", .state = "stub"};
}

static void op_free(struct leg *leg)
{
	struct stub_leg *stub = stub_of(leg);

	RIG_ASSERT(stub->is_closed && !stub->is_freed);
	stub->is_freed = true;
}

static const struct leg_ops stub_ops = {
	.accept = op_accept,
	.can_call = op_can_call,
	.call = op_call,
	.reply = op_reply,
	.more = op_more,
	.pause = op_pause,
	.drain = op_drain,
	.close = op_close,
	.info = op_info,
	.free = op_free,
};

void stub_leg_init(struct stub_leg *stub, const struct leg_config *config)
{
	*stub = (struct stub_leg){
		.config = *config,
		.why = LEG_CLOSE_COUNT,
	};
	stub->leg = (struct leg){.ops = &stub_ops, .config = &stub->config};
	stub->config.partial = true;
	TAILQ_INIT(&stub->called);
	TAILQ_INIT(&stub->waiting);
	loop_task_init(&stub->task, on_task, stub);
}

/* ---- messages in pieces ---- */

/* Bytes that have not arrived are garbage. */
static void begin(struct buf_pool *pool, struct rpc_msg *msg, const uint8_t *whole,
		  uint32_t len_bytes, uint32_t have_bytes)
{
	RIG_ASSERT(have_bytes <= len_bytes && rpc_msg_get(pool, len_bytes, msg) == 0);
	memset(msg->data, 0xdd, len_bytes);
	memcpy(msg->data, whole, have_bytes);
	msg->have_bytes = have_bytes;
}

static void grow(struct rpc_msg *msg, const uint8_t *whole, uint32_t have_bytes)
{
	RIG_ASSERT(have_bytes >= msg->have_bytes && have_bytes <= msg->len_bytes);
	memcpy(msg->data + msg->have_bytes, whole + msg->have_bytes, have_bytes - msg->have_bytes);
	msg->have_bytes = have_bytes;
}

static void look(const struct stub_leg *stub, struct exchange *x)
{
	const struct xdr_sg_entry piece = {x->call.data, x->call.have_bytes};
	const struct xdr_sg pieces = {&piece, 1, x->call.len_bytes};

	nfs_call_walk_continue(&x->call_info, stub->config.sessions, &pieces, NULL);
}

struct exchange *stub_leg_call(struct stub_leg *stub, const uint8_t *call, uint32_t len_bytes,
			       uint32_t have_bytes)
{
	struct exchange *x = exchange_new(NULL);

	RIG_ASSERT(x);
	begin(stub->config.pool, &x->call, call, len_bytes, have_bytes);
	RIG_ASSERT(rpc_call_decode(x->call.data, have_bytes, &x->call_info.hdr) == RPC_OK);
	nfs_call_walk_begin(&x->call_info, stub->config.max_message_bytes);
	look(stub, x);
	x->reply_max_bytes = x->call_info.reply_bound_bytes;
	budget_claim_empty(stub->config.holder, &x->claim);
	x->origin = &stub->leg;
	x->origin_priv = (void *)call;
	TAILQ_INSERT_TAIL(&stub->waiting, x, origin_entry);
	stub->config.events->call(stub->config.arg, exchange_ref(x));
	return x;
}

void stub_leg_call_grow(struct stub_leg *stub, struct exchange *x, uint32_t have_bytes)
{
	grow(&x->call, x->origin_priv, have_bytes);
	look(stub, x);
	stub->config.events->more(stub->config.arg, x);
}

struct exchange *stub_leg_answer(struct stub_leg *stub, const uint8_t *reply, uint32_t len_bytes,
				 uint32_t have_bytes)
{
	struct exchange *x = TAILQ_FIRST(&stub->called);

	RIG_ASSERT(x && have_bytes < len_bytes);
	begin(stub->config.pool, &x->reply, reply, len_bytes, have_bytes);
	x->target_priv = (void *)reply;
	stub->config.events->reply(stub->config.arg, exchange_ref(x));
	return x;
}

void stub_leg_reply_grow(struct stub_leg *stub, struct exchange *x, uint32_t have_bytes)
{
	grow(&x->reply, x->target_priv, have_bytes);
	stub->config.events->more(stub->config.arg, x);
	if (!rpc_msg_is_whole(&x->reply))
		return;
	TAILQ_REMOVE(&stub->called, x, target_entry);
	x->target = NULL;
	exchange_put(x);
}
