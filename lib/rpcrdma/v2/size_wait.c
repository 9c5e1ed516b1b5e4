// SPDX-License-Identifier: BSD-3-Clause
/* One timer per connection serves all waiting Replies, set for the oldest. */
#include "rpcrdma/v2/size_wait.h"

bool size_wait_helps(const struct responder_rpc *rpc, uint32_t inline_bytes)
{
	return inline_bytes > responder_rpc_inline_max(rpc) &&
	       inline_bytes > responder_rpc_chunk_max(rpc) &&
	       inline_bytes <= responder_rpc_settled_inline_max(rpc) && !rpc->waited_for_size;
}

/* Returns the remaining wait; 0: it is over. */
static uint64_t left_us(const struct responder_rpc *rpc)
{
	uint64_t now_us = rdma_conn_now_us(rpc->rs->conn);
	uint64_t end_us = rpc->waits_since_us + SIZE_WAIT_US;

	return end_us > now_us ? end_us - now_us : 0;
}

/*
 * Sends the waiting Replies if no request is pending any more; otherwise only those that have
 * waited too long. The others do not fit until no request is pending.
 */
static void answer_ready(struct responder *rs)
{
	bool waits = size_wait_is_open(rs);
	struct exchange *x, *next;

	for (x = TAILQ_FIRST(&rs->calls); x; x = next) {
		struct responder_rpc *rpc = x->origin_priv;

		next = TAILQ_NEXT(x, origin_entry);
		if (!rpc->waits_for_size)
			continue;
		rpc->waited_for_size = !left_us(rpc);
		if (!waits || rpc->waited_for_size)
			rs->answer(rpc);
	}
}

static void on_timer(void *arg)
{
	struct responder *rs = arg;
	uint64_t next_us = SIZE_WAIT_US;
	struct exchange *x;

	if (!rdma_conn_is_up(rs->conn))
		return;
	answer_ready(rs);
	if (!rs->waiting_for_size)
		return;
	TAILQ_FOREACH(x, &rs->calls, origin_entry) {
		const struct responder_rpc *rpc = x->origin_priv;

		if (rpc->waits_for_size && left_us(rpc) < next_us)
			next_us = left_us(rpc);
	}
	loop_timer_set(rs->conn->fabric->loop, rs->size_timer, next_us);
}

bool size_wait_begin(struct responder_rpc *rpc)
{
	struct responder *rs = rpc->rs;
	struct loop *loop = rs->conn->fabric->loop;

	if (rpc->waits_for_size)
		return true;
	if (!rs->size_timer) {
		rs->size_timer = loop_timer_new(loop, on_timer, rs);
		if (!rs->size_timer)
			return false;
	}
	if (!rs->waiting_for_size++)
		loop_timer_set(loop, rs->size_timer, SIZE_WAIT_US);
	rpc->waits_for_size = true;
	rpc->waits_since_us = rdma_conn_now_us(rs->conn);
	return true;
}

void size_wait_settled(struct responder *rs)
{
	if (!size_wait_is_open(rs) && rs->waiting_for_size && rdma_conn_is_up(rs->conn))
		answer_ready(rs);
}
