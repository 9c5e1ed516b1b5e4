// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/requester_late.h"

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

	TAILQ_FOREACH(x, &rq->begun, target_entry) {
		struct requester_rpc *rpc = x->target_priv;

		if (is_sent(rpc) && (!found || rpc->since_us < found->since_us))
			found = rpc;
	}
	TAILQ_FOREACH(x, &rq->held, target_entry) {
		struct requester_rpc *rpc = x->target_priv;

		if (!found || rpc->since_us < found->since_us)
			found = rpc;
	}
	return found;
}

/* Moves the exposed memory to the placeholder. The origin also keeps the Call until it has answered. */
static void take_memory(struct exchange *heir, struct exchange *x)
{
	heir->call = x->call;
	buf_ref(heir->call.buf);
	heir->reply = x->reply;
	x->reply = (struct rpc_msg){0};
	if (x->claim.state != BUDGET_CLAIM_HELD)
		return;
	budget_move(&heir->claim, &x->claim);
	budget_claim_nothing(heir->claim.holder, &x->claim);
}

/* Replaces the exchange of @rpc by @placeholder. Returns the old exchange, with the reference that the RPC had. */
static struct exchange *replace(struct requester_rpc *rpc, struct exchange *heir)
{
	struct requester *rq = rpc->rq;
	struct exchange *x = rpc->x;
	int rc;

	heir->facts.hdr.xid = x->facts.hdr.xid;
	heir->reply_max_bytes = x->reply_max_bytes;
	heir->target = x->target;
	heir->target_priv = rpc;
	if (rpc->lend.nkeys)
		take_memory(heir, x);
	xid_table_remove(&rq->table, x);
	/* in the slot of the old exchange, so it cannot fail */
	rc = xid_table_add(&rq->table, heir);
	assert(rc == 0);
	(void)rc;
	TAILQ_INSERT_AFTER(&rq->begun, x, heir, target_entry);
	TAILQ_REMOVE(&rq->begun, x, target_entry);
	rpc->x = heir;
	x->target = NULL;
	x->target_priv = NULL;
	return x;
}

/* Delivers the fault to the origin; @rpc continues with a placeholder. */
static void abandon(struct requester *rq, struct requester_rpc *rpc)
{
	struct rdma_conn *conn = rq->conn;
	const struct leg_config *config = conn->leg->config;
	struct exchange *heir = exchange_new(config->spares), *x;

	if (!heir) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES,
			       "no memory for the placeholder of a reverse Call");
		return;
	}
	x = replace(rpc, heir);
	requester_rpc_set_state(rpc, REQUESTER_ABANDONED);
	rq->abandoned++;
	x->fault = EXCHANGE_FAULT_LATE;
	config->events->reply(config->arg, x);
	rdma_conn_rpc_over(conn);
}

static void note(struct requester *rq, const struct requester_rpc *rpc)
{
	if (rq->late.noted)
		return;
	rq->late.noted = true;
	rdma_conn_note(rq->conn,
		       "reverse Call %#x (%s) timed out after %llu s: this and "
		       "later ones are answered SYSTEM_ERR",
		       rpc->x->facts.hdr.xid, is_sent(rpc) ? "sent" : "waiting for a credit",
		       (unsigned long long)(timeout_us(rq) / 1000000));
}

static void give_up(struct requester *rq, struct requester_rpc *rpc)
{
	if (!rpc_msg_is_whole(&rpc->x->call)) {
		rpc->since_us = rdma_conn_now_us(rq->conn);
		return;
	}
	note(rq, rpc);
	rq->conn->counters->reverse_timeouts++;
	if (is_sent(rpc))
		abandon(rq, rpc);
	else
		requester_held_late(rq, rpc);
}

static void set_timer(struct requester *rq, const struct requester_rpc *first)
{
	uint64_t at_us = due_us(rq, first), now = rdma_conn_now_us(rq->conn);

	rq->late.set = true;
	loop_timer_set(rq->conn->fabric->loop, rq->late.timer, at_us > now ? at_us - now : 0);
}

/* Expires every due Call. Each report can close the connection or expire other Calls. */
static void look(void *arg)
{
	struct requester *rq = arg;
	struct requester_rpc *rpc;

	rq->late.set = false;
	while (!rdma_conn_is_over(rq->conn) && (rpc = first_due(rq))) {
		if (rdma_conn_now_us(rq->conn) < due_us(rq, rpc)) {
			set_timer(rq, rpc);
			break;
		}
		give_up(rq, rpc);
	}
	/* A Call that blocked the queue can be gone, so send the Calls after it. */
	requester_pump(rq);
}

void requester_late_fini(struct requester *rq)
{
	loop_timer_free(rq->conn->fabric->loop, rq->late.timer);
}

void requester_late_watch(struct requester *rq)
{
	const struct requester_rpc *first;

	if (rq->late.set || !timeout_us(rq) || rdma_conn_is_over(rq->conn))
		return;
	first = first_due(rq);
	if (!first)
		return;
	if (!rq->late.timer)
		rq->late.timer = loop_timer_new(rq->conn->fabric->loop, look, rq);
	if (rq->late.timer)
		set_timer(rq, first);
	else
		rdma_conn_fail(rq->conn, LEG_CLOSE_RESOURCES, "no memory for a timer");
}

void requester_late_end(struct requester *rq)
{
	loop_timer_clear(rq->conn->fabric->loop, rq->late.timer);
}

/* The Call has already failed, so the answer only releases its credit and its exposed memory (D4.2-2). */
void requester_late_answered(struct requester *rq, struct requester_rpc *rpc)
{
	rq->conn->counters->reverse_late_replies++;
	requester_rpc_end(rpc, EXCHANGE_FAULT_LATE);
	requester_pump(rq);
}
