// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/reverse_timeout.h"

#include <assert.h>

static uint64_t timeout_us(const struct requester *rq)
{
	return rq->conn->config->reverse_timeout_us;
}

static bool is_sent(const struct requester_rpc *rpc)
{
	return rpc->state == REQUESTER_SENT || rpc->state == REQUESTER_RESENT;
}

static uint64_t due_us(const struct requester *rq, const struct requester_rpc *rpc)
{
	return rpc->since_us + timeout_us(rq);
}

/* Returns the Call, sent or queued, that times out first, or NULL. They are few. */
static struct requester_rpc *first_due(const struct requester *rq)
{
	struct requester_rpc *found = NULL;
	const struct exchange *x;

	TAILQ_FOREACH(x, &rq->active, target_entry) {
		struct requester_rpc *rpc = x->target_priv;

		if (is_sent(rpc) && (!found || rpc->since_us < found->since_us))
			found = rpc;
	}
	TAILQ_FOREACH(x, &rq->queue, target_entry) {
		struct requester_rpc *rpc = x->target_priv;

		if (!found || rpc->since_us < found->since_us)
			found = rpc;
	}
	return found;
}

/*
 * Moves the exposed memory to the placeholder. The origin also keeps the Call until it has
 * answered.
 */
static void move_memory(struct exchange *placeholder, struct exchange *x)
{
	placeholder->call = x->call;
	buf_ref(placeholder->call.buf);
	placeholder->reply = x->reply;
	x->reply = (struct rpc_msg){0};
	if (x->claim.state != BUDGET_CLAIM_GRANTED)
		return;
	budget_claim_move(&placeholder->claim, &x->claim);
	budget_claim_empty(placeholder->claim.holder, &x->claim);
}

/*
 * Replaces the exchange of @rpc by @placeholder. Returns the old exchange, with the reference that
 * the RPC had.
 */
static struct exchange *replace(struct requester_rpc *rpc, struct exchange *placeholder)
{
	struct requester *rq = rpc->rq;
	struct exchange *x = rpc->x;
	int rc;

	placeholder->call_info.hdr.xid = x->call_info.hdr.xid;
	placeholder->reply_max_bytes = x->reply_max_bytes;
	placeholder->target = x->target;
	placeholder->target_priv = rpc;
	if (rpc->exposed_mem.nkeys)
		move_memory(placeholder, x);
	xid_table_remove(&rq->table, x);
	/* in the slot of the old exchange, so it cannot fail */
	rc = xid_table_add(&rq->table, placeholder);
	assert(rc == 0);
	(void)rc;
	TAILQ_INSERT_AFTER(&rq->active, x, placeholder, target_entry);
	TAILQ_REMOVE(&rq->active, x, target_entry);
	rpc->x = placeholder;
	x->target = NULL;
	x->target_priv = NULL;
	return x;
}

/* Delivers the fault to the origin; @rpc continues with a placeholder. */
static void abandon(struct requester *rq, struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rq->conn;
	const struct leg_config *config = conn->leg->config;
	struct exchange *placeholder = exchange_new(config->freelists), *x;

	if (!placeholder) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES,
			       "no memory for the placeholder of a reverse Call");
		return;
	}
	x = replace(rpc, placeholder);
	requester_rpc_set_state(rpc, REQUESTER_ABANDONED);
	rq->abandoned++;
	x->fault = EXCHANGE_FAULT_LATE;
	config->events->reply(config->arg, x);
	rdma_conn_rpc_done(conn);
}

static void note_timeout(struct requester *rq, const struct requester_rpc *rpc)
{
	if (rq->reverse_timeout.noted)
		return;
	rq->reverse_timeout.noted = true;
	rdma_conn_note(rq->conn,
		       "reverse Call %#x (%s) timed out after %llu s: this and "
		       "later ones are answered SYSTEM_ERR",
		       rpc->x->call_info.hdr.xid, is_sent(rpc) ? "sent" : "waiting for a credit",
		       (unsigned long long)(timeout_us(rq) / 1000000));
}

static void expire(struct requester *rq, struct requester_rpc *rpc)
{
	if (!rpc_msg_is_whole(&rpc->x->call)) {
		rpc->since_us = rdma_conn_now_us(rq->conn);
		return;
	}
	note_timeout(rq, rpc);
	rq->conn->counters->reverse_timeouts++;
	if (is_sent(rpc))
		abandon(rq, rpc);
	else
		requester_timeout(rq, rpc);
}

static void set_timer(struct requester *rq, const struct requester_rpc *first)
{
	uint64_t at_us = due_us(rq, first), now = rdma_conn_now_us(rq->conn);

	rq->reverse_timeout.set = true;
	loop_timer_set(rq->conn->fabric->loop, rq->reverse_timeout.timer,
		       at_us > now ? at_us - now : 0);
}

/* Expires every due Call. Each report can close the connection or expire other Calls. */
static void on_timer(void *arg)
{
	struct requester *rq = arg;
	struct requester_rpc *rpc;

	rq->reverse_timeout.set = false;
	while (!rdma_conn_is_closing(rq->conn) && (rpc = first_due(rq))) {
		if (rdma_conn_now_us(rq->conn) < due_us(rq, rpc)) {
			set_timer(rq, rpc);
			break;
		}
		expire(rq, rpc);
	}
	/* A Call that blocked the queue can be gone, so send the Calls after it. */
	requester_kick(rq);
}

void reverse_timeout_fini(struct requester *rq)
{
	loop_timer_free(rq->conn->fabric->loop, rq->reverse_timeout.timer);
}

void reverse_timeout_start(struct requester *rq)
{
	const struct requester_rpc *first;

	if (rq->reverse_timeout.set || !timeout_us(rq) || rdma_conn_is_closing(rq->conn))
		return;
	first = first_due(rq);
	if (!first)
		return;
	if (!rq->reverse_timeout.timer)
		rq->reverse_timeout.timer = loop_timer_new(rq->conn->fabric->loop, on_timer, rq);
	if (rq->reverse_timeout.timer)
		set_timer(rq, first);
	else
		rdma_conn_fail(rq->conn, LEG_CLOSE_RESOURCES, "no memory for a timer");
}

void reverse_timeout_stop(struct requester *rq)
{
	loop_timer_clear(rq->conn->fabric->loop, rq->reverse_timeout.timer);
}

/*
 * The Call has already failed, so the answer only releases its credit and its exposed memory
 * (D4.2-2).
 */
void reverse_timeout_late_reply(struct requester *rq, struct requester_rpc *rpc)
{
	rq->conn->counters->reverse_late_replies++;
	requester_rpc_end(rpc, EXCHANGE_FAULT_LATE);
	requester_kick(rq);
}
