// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/requester.h"

#include "rpc/msg.h"
#include "rpc/xdr.h"
#include "rpcrdma/draft03/requester_zero.h"
#include "rpcrdma/message.h"
#include "rpcrdma/v2/recv_sizing.h"

static void tell_ready(void *arg)
{
	struct requester *rq = arg;
	const struct leg_config *config = rq->conn->leg->config;

	if (rdma_conn_is_up(rq->conn) && requester_can_call(rq))
		config->events->call_ready(config->arg);
}

static void count_held(struct requester *rq)
{
	if (++rq->nheld >= REQUESTER_HELD_MAX && !rq->reverse)
		rq->full = true;
	if (rq->nheld == 1)
		requester_zero_watch(rq);
}

/* Queues a starved Call again, before all others, because it is older than they are. */
static void hold_first(struct requester_rpc *rpc)
{
	struct requester *rq = rpc->rq;

	TAILQ_INSERT_HEAD(&rq->held, rpc->x, target_entry);
	count_held(rq);
	/* Events during the invalidation found an empty queue, so run it again. */
	if (!rq->starved)
		loop_defer(rq->conn->fabric->loop, &rq->again_task);
}

static void send_again(void *arg)
{
	requester_pump(arg);
}

void requester_key_free(struct requester *rq)
{
	rq->starved = false;
	requester_pump(rq);
}

void requester_init(struct requester *rq, struct rdma_conn *conn)
{
	rq->conn = conn;
	rq->reverse = !conn->connector;
	TAILQ_INIT(&rq->held);
	requester_rpcs_init(rq, hold_first);
	loop_task_init(&rq->ready_task, tell_ready, rq);
	loop_task_init(&rq->again_task, send_again, rq);
}

void requester_end(struct requester *rq)
{
	struct exchange *x;

	loop_task_cancel(rq->conn->fabric->loop, &rq->ready_task);
	loop_task_cancel(rq->conn->fabric->loop, &rq->again_task);
	loop_timer_clear(rq->conn->fabric->loop, rq->conf.timer);
	requester_zero_end(rq);
	while ((x = TAILQ_FIRST(&rq->held))) {
		TAILQ_REMOVE(&rq->held, x, target_entry);
		requester_rpc_drop(x->target_priv);
	}
	rq->nheld = 0;
	requester_rpcs_end(rq);
}

void requester_fini(struct requester *rq)
{
	loop_task_cancel(rq->conn->fabric->loop, &rq->ready_task);
	loop_task_cancel(rq->conn->fabric->loop, &rq->again_task);
	loop_timer_free(rq->conn->fabric->loop, rq->conf.timer);
	requester_zero_fini(rq);
	requester_rpcs_fini(rq);
}

bool requester_is_idle(const struct requester *rq)
{
	return rq->count == rq->abandoned;
}

bool requester_can_call(const struct requester *rq)
{
	/* Reverse Calls are never stopped: that would stop Replies to the peer with them. */
	return rq->reverse || rq->nheld < REQUESTER_HELD_MAX;
}

/* Logs once per connection: a server can make any number of reverse Calls. */
static void note_reverse_refused(struct requester *rq, const struct requester_rpc *rpc)
{
	if (rq->refused)
		return;
	rq->refused = true;
	if (rpc->terms.reverse_calls)
		rdma_conn_note(rq->conn,
			       "reverse Call %#x of %u bytes is longer than this client accepts "
			       "(%u bytes): such Calls are answered SYSTEM_ERR",
			       rpc->x->facts.hdr.xid, rpc->x->call.len_bytes,
			       rpc->terms.send_bytes);
	else
		rdma_conn_note(rq->conn, "this client accepts no reverse Calls: they are answered "
					 "SYSTEM_ERR");
}

/* Fails a Call that cannot be sent: no header can hold it, the peer does not accept it, or memory is not available. */
static void refuse(struct requester *rq, struct requester_rpc *rpc)
{
	if (rq->reverse) {
		rq->conn->counters->reverse_refused++;
		note_reverse_refused(rq, rpc);
	} else {
		rq->conn->counters->calls_not_sendable++;
		rdma_conn_note(rq->conn, "Call %#x of %u bytes cannot be sent to this peer (%s%s)",
			       rpc->x->facts.hdr.xid, rpc->x->call.len_bytes, rq->conn->peer->name,
			       rpc->terms.reads_nothing ? ": it advertised no RDMA Reads" : "");
	}
	requester_rpc_fail(rpc, EXCHANGE_FAULT_CANT_SEND);
}

/*
 * Fills in the facts that only the complete Call shows. At most one payload per Call and one per Reply is moved,
 * because servers support no more.
 */
static void fill_facts(const struct rdma_conn *conn, const struct exchange *x,
		       struct call_form_ask *ask)
{
	const struct call_facts *facts = &x->facts;
	/* Rounded up, because some servers write the pad too. */
	uint64_t result = xdr_padded_bytes(facts->bounds_bytes[0]);

	ask->known = CALL_FORM_RESULT | CALL_FORM_PAYLOAD;
	/* A longer Reply than reply_max_bytes cannot be delivered, so no more memory is needed. */
	if (result > xdr_padded_bytes(x->reply_max_bytes))
		result = xdr_padded_bytes(x->reply_max_bytes);
	if (facts->nresult_payloads == 1 && result <= UINT32_MAX) {
		ask->result_bytes = (uint32_t)result;
		ask->reply_bytes = facts->ceiling_bytes < x->reply_max_bytes ? facts->ceiling_bytes
									     : x->reply_max_bytes;
	}
	if (facts->narg_payloads == 1) {
		ask->payload_at = facts->arg.offset_bytes;
		ask->payload_bytes = facts->arg.len_bytes;
		ask->payload_is_data = conn->peer->data_apart && facts->arg_is_data;
	}
}

static bool moves_payloads(const struct rdma_conn *conn)
{
	return conn->config->ddp || conn->peer->ddp;
}

static void fill_ask(const struct requester *rq, const struct requester_rpc *rpc,
		     struct call_form_ask *ask)
{
	const struct rdma_conn *conn = rq->conn;
	bool inline_only = rq->reverse && !rpc->terms.reverse_chunks;

	*ask = (struct call_form_ask){
		.call_bytes = rpc->x->call.len_bytes,
		.reply_max_bytes = rpc->x->reply_max_bytes,
		.max_message_bytes = conn->leg->config->max_message_bytes,
		.terms = rpc->terms,
		.max_segment_bytes = conn->max_segment_bytes,
		.peer = conn->peer,
		.inline_only = inline_only,
		.moves_payloads = !inline_only && moves_payloads(conn),
	};
	if (ask->moves_payloads && rpc->x->facts.stage == FACTS_WHOLE)
		fill_facts(conn, rpc->x, ask);
}

enum outlook { PLAN_READY, PLAN_WAIT, PLAN_IMPOSSIBLE };

/* Returns true if all inline bytes have arrived; exposed bytes can follow later. */
static bool is_inline_here(const struct msg_form *form, const struct rpc_msg *call)
{
	uint64_t end = form->chunk_at + xdr_padded_bytes(form->chunk_bytes);

	return rpc_msg_is_whole(call) ||
	       (form->form != MESSAGE_FORM_SHORT && form->chunk_at <= call->have_bytes &&
		end >= call->len_bytes);
}

/* Decides whether the Call can be sent now, and in which form (A5.1-1, A5.2-1). */
static enum outlook plan(const struct requester *rq, struct requester_rpc *rpc)
{
	bool whole = rpc_msg_is_whole(&rpc->x->call);
	struct call_form_ask ask;

	if (requester_is_ours(rq, rpc->x->facts.hdr.xid))
		return PLAN_WAIT;
	/* Missing bytes can follow only in Reads. */
	if (!whole && !rq->conn->late_reads)
		return PLAN_WAIT;
	rpc->terms = rq->conn->terms;
	if (rq->reverse && !rpc->terms.reverse_calls)
		return whole ? PLAN_IMPOSSIBLE : PLAN_WAIT;
	if (whole && !moves_payloads(rq->conn) &&
	    call_form_is_plain(&rpc->terms, rpc->x->call.len_bytes, rpc->x->reply_max_bytes)) {
		rpc->form = call_form_plain();
		return PLAN_READY;
	}
	fill_ask(rq, rpc, &ask);
	if (ask.moves_payloads && call_form_needs(&ask))
		return PLAN_WAIT;
	if (!call_form_choose(&ask, &rpc->form))
		return whole ? PLAN_IMPOSSIBLE : PLAN_WAIT;
	if (!is_inline_here(&rpc->form.call, &rpc->x->call))
		return PLAN_WAIT;
	if (rpc->form.landing_cut)
		rq->conn->counters->landings_cut++;
	return PLAN_READY;
}

/* Records a Call or Reply that goes by chunk, for the choice of receive sizes. */
static void note_sizes(struct rdma_conn *conn, const struct requester_rpc *rpc)
{
	uint64_t call = 0, reply = 0;

	if (rpc->form.call.form != MESSAGE_FORM_SHORT)
		call = RPCRDMA_MIN_HDR_BYTES + (uint64_t)rpc->x->call.len_bytes;
	if (rpc->form.landing != LANDING_NONE)
		reply = RPCRDMA_MIN_HDR_BYTES + xdr_padded_bytes(rpc->x->reply_max_bytes);
	conn_sizes_note(conn->sizes, call, reply, &conn->terms, rdma_conn_now_us(conn));
}

/* The time limit of a reverse Call starts when it arrives (requester_late.h). */
static void note_time(const struct requester *rq, struct requester_rpc *rpc)
{
	if (rq->reverse)
		rpc->since_us = rdma_conn_now_us(rq->conn);
}

static void begin(struct requester *rq, struct requester_rpc *rpc, enum outlook outlook)
{
	if (outlook == PLAN_IMPOSSIBLE || !requester_rpc_send(rpc))
		refuse(rq, rpc);
	else if (rq->conn->sizes)
		note_sizes(rq->conn, rpc);
}

/* Returns true if the connection allows the next Call to be sent. */
static inline bool may_send(const struct requester *rq)
{
	return rdma_conn_is_up(rq->conn) && !rq->starved &&
	       negotiation_may_call(&rq->conn->negotiation) &&
	       credit_window_open(&rq->conn->window) && rq->conf.state != CONF_ASKED;
}

void requester_send_held(struct requester *rq)
{
	struct exchange *x;

	while (may_send(rq) && (x = TAILQ_FIRST(&rq->held))) {
		enum outlook outlook = plan(rq, x->target_priv);

		if (outlook == PLAN_WAIT)
			break;
		TAILQ_REMOVE(&rq->held, x, target_entry);
		rq->nheld--;
		begin(rq, x->target_priv, outlook);
	}
	if (rq->full && rq->nheld < REQUESTER_HELD_MAX && rdma_conn_is_up(rq->conn)) {
		rq->full = false;
		/* A task, because a call into the leg can be on the stack. */
		loop_defer(rq->conn->fabric->loop, &rq->ready_task);
	}
}

static void hold(struct requester *rq, struct requester_rpc *rpc)
{
	if (rq->reverse && rq->nheld >= REQUESTER_HELD_MAX_REVERSE) {
		rq->conn->counters->reverse_refused++;
		requester_rpc_fail(rpc, EXCHANGE_FAULT_CANT_SEND);
		return;
	}
	if (!may_send(rq))
		rq->conn->counters->credit_waits++;
	TAILQ_INSERT_TAIL(&rq->held, rpc->x, target_entry);
	count_held(rq);
}

void requester_held_late(struct requester *rq, struct requester_rpc *rpc)
{
	TAILQ_REMOVE(&rq->held, rpc->x, target_entry);
	rq->nheld--;
	requester_rpc_fail(rpc, EXCHANGE_FAULT_LATE);
}

void requester_call(struct requester *rq, struct exchange *x)
{
	struct requester_rpc *rpc;
	enum outlook outlook = PLAN_WAIT;

	if (rdma_conn_is_over(rq->conn)) {
		exchange_put(x);
		return;
	}
	rpc = requester_rpc_new(rq, x);
	if (!rpc) {
		rdma_conn_fail(rq->conn, LEG_CLOSE_RESOURCES, "no memory for a Call");
		exchange_put(x);
		return;
	}
	note_time(rq, rpc);
	if (!rq->nheld && may_send(rq))
		outlook = plan(rq, rpc);
	if (outlook == PLAN_WAIT)
		hold(rq, rpc);
	else
		begin(rq, rpc, outlook);
}

void requester_more(struct requester *rq, struct exchange *x)
{
	struct requester_rpc *rpc = x->target_priv;

	switch (rpc->state) {
	case REQUESTER_HELD:
		requester_send_held(rq);
		break;
	case REQUESTER_SENT:
	case REQUESTER_RESENT:
	/* answered, but the peer can still be reading the Call */
	case REQUESTER_PULLING:
	case REQUESTER_ENDING:
	case REQUESTER_FAILING:
		requester_rpc_more(rpc);
		break;
	case REQUESTER_ABANDONED:
	case REQUESTER_STARVED:
	case REQUESTER_FAILED:
		break;
	}
}

/* ---- NULL Calls originated by the proxy ---- */

void requester_null_reserve(struct requester *rq)
{
	rq->conn->window.reserved = 1;
}

const struct call_facts *requester_null_like(const struct requester *rq)
{
	const struct exchange *x;

	TAILQ_FOREACH(x, &rq->begun, target_entry) {
		const struct requester_rpc *rpc = x->target_priv;

		if (rpc->state == REQUESTER_SENT || rpc->state == REQUESTER_RESENT)
			return &x->facts;
	}
	return NULL;
}

bool requester_null_send(struct requester *rq, uint32_t xid, const struct call_facts *like)
{
	struct null_calls *nulls = &rq->nulls;
	struct rdma_conn *conn = rq->conn;
	uint8_t call[RPC_NULL_CALL_BYTES];
	struct message m;

	if (nulls->count == NULL_CALLS_MAX || !credit_window_left(&conn->window))
		return false;
	nulls->xids[nulls->count++] = xid;
	credit_window_take(&conn->window);
	/* The reserved credit is in use. */
	conn->window.reserved = 0;
	message_init(&m, conn->terms.dialect, xid);
	message_add_bytes(
		&m, call,
		(uint32_t)rpc_encode_null_call(call, xid, like->hdr.prog, like->hdr.vers));
	conn->counters->null_calls_sent++;
	rdma_conn_replenish(conn);
	message_send(&m, conn, conn->window.asked, NULL, NULL);
	return true;
}

bool requester_null_answered(struct requester *rq, uint32_t xid)
{
	struct null_calls *nulls = &rq->nulls;
	unsigned at = 0;

	while (at < nulls->count && nulls->xids[at] != xid)
		at++;
	if (at == nulls->count)
		return false;
	nulls->xids[at] = nulls->xids[--nulls->count];
	credit_window_give(&rq->conn->window);
	if (!nulls->count)
		rq->conn->window.reserved = 1;
	rq->conn->counters->null_calls_answered++;
	return true;
}
