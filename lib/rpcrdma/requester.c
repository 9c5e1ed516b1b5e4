// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/requester.h"

#include "rpc/rpc_header.h"
#include "rpc/xdr.h"
#include "rpcrdma/draft03/zero_grant_timeout.h"
#include "rpcrdma/send_msg.h"
#include "rpcrdma/v2/recv_sizing.h"

static void report_call_ready(void *arg)
{
	struct requester *rq = arg;
	const struct leg_config *config = rq->conn->leg->config;

	if (rdma_conn_is_up(rq->conn) && requester_can_call(rq))
		config->events->call_ready(config->arg);
}

static void count_queued(struct requester *rq)
{
	if (++rq->nqueued >= REQUESTER_QUEUE_MAX && !rq->reverse)
		rq->full = true;
	if (rq->nqueued == 1)
		zero_grant_timeout_start(rq);
}

/* Queues a starved Call again, before all others, because it is older than they are. */
static void requeue_first(struct requester_rpc *rpc)
{
	struct requester *rq = rpc->rq;

	TAILQ_INSERT_HEAD(&rq->queue, rpc->x, target_entry);
	count_queued(rq);
	/*
	 * Credits and keys that became free during the invalidation found an empty queue, so run
	 * the queue again.
	 */
	if (!rq->starved)
		loop_defer(rq->conn->fabric->loop, &rq->run_queue_task);
}

static void run_queue_again(void *arg)
{
	requester_kick(arg);
}

void requester_key_free(struct requester *rq)
{
	rq->starved = false;
	requester_kick(rq);
}

void requester_init(struct requester *rq, struct rdma_conn *conn)
{
	rq->conn = conn;
	rq->reverse = !conn->connector;
	TAILQ_INIT(&rq->queue);
	requester_rpcs_init(rq, requeue_first);
	loop_task_init(&rq->ready_task, report_call_ready, rq);
	loop_task_init(&rq->run_queue_task, run_queue_again, rq);
}

void requester_end(struct requester *rq)
{
	struct exchange *x;

	loop_task_cancel(rq->conn->fabric->loop, &rq->ready_task);
	loop_task_cancel(rq->conn->fabric->loop, &rq->run_queue_task);
	loop_timer_clear(rq->conn->fabric->loop, rq->ccp.timer);
	zero_grant_timeout_stop(rq);
	while ((x = TAILQ_FIRST(&rq->queue))) {
		TAILQ_REMOVE(&rq->queue, x, target_entry);
		requester_rpc_drop(x->target_priv);
	}
	rq->nqueued = 0;
	requester_rpcs_end(rq);
}

void requester_fini(struct requester *rq)
{
	loop_task_cancel(rq->conn->fabric->loop, &rq->ready_task);
	loop_task_cancel(rq->conn->fabric->loop, &rq->run_queue_task);
	loop_timer_free(rq->conn->fabric->loop, rq->ccp.timer);
	zero_grant_timeout_fini(rq);
	requester_rpcs_fini(rq);
}

bool requester_is_idle(const struct requester *rq)
{
	return rq->count == rq->abandoned;
}

bool requester_can_call(const struct requester *rq)
{
	/*
	 * Never stop reverse Calls: the bridge would pause the server leg, which also receives the
	 * Replies to the peer.
	 */
	return rq->reverse || rq->nqueued < REQUESTER_QUEUE_MAX;
}

/* Logs once per connection: a server can make any number of reverse Calls. */
static void note_reverse_refused(struct requester *rq, const struct requester_rpc *rpc)
{
	if (rq->refused)
		return;
	rq->refused = true;
	if (rpc->limits.reverse_calls)
		rdma_conn_note(rq->conn,
			       "reverse Call %#x of %u bytes is longer than this client accepts "
			       "(%u bytes): such Calls are answered SYSTEM_ERR",
			       rpc->x->call_info.hdr.xid, rpc->x->call.len_bytes,
			       rpc->limits.send_bytes);
	else
		rdma_conn_note(rq->conn, "this client accepts no reverse Calls: they are answered "
					 "SYSTEM_ERR");
}

/*
 * Fails a Call that cannot be sent: no header can hold it, the peer does not accept it, or memory
 * is not available.
 */
static void fail_unsendable(struct requester *rq, struct requester_rpc *rpc)
{
	if (rq->reverse) {
		rq->conn->counters->reverse_refused++;
		note_reverse_refused(rq, rpc);
	} else {
		rq->conn->counters->calls_not_sendable++;
		rdma_conn_note(rq->conn, "Call %#x of %u bytes cannot be sent to this peer (%s%s)",
			       rpc->x->call_info.hdr.xid, rpc->x->call.len_bytes,
			       rq->conn->peer->name,
			       rpc->limits.reads_nothing ? ": it advertised no RDMA Reads" : "");
	}
	requester_rpc_fail(rpc, EXCHANGE_FAULT_CANT_SEND);
}

/*
 * Fills in the facts that only a fully parsed Call has. A payload goes into a chunk only if it is
 * the only one of its Call or Reply, because servers support no more.
 */
static void fill_facts(const struct rdma_conn *conn, const struct exchange *x,
		       struct chunk_select_input *input)
{
	const struct call_info *call_info = &x->call_info;
	/* Rounded up, because some servers write the pad too. */
	uint64_t result = xdr_padded_bytes(call_info->bounds_bytes[0]);

	input->known = CHUNK_SELECT_RESULT | CHUNK_SELECT_PAYLOAD;
	/* A Reply longer than reply_max_bytes is never delivered, so it needs no memory. */
	if (result > xdr_padded_bytes(x->reply_max_bytes))
		result = xdr_padded_bytes(x->reply_max_bytes);
	if (call_info->nresult_payloads == 1 && result <= UINT32_MAX) {
		input->result_bytes = (uint32_t)result;
		input->reply_bytes = call_info->reply_bound_bytes < x->reply_max_bytes
					     ? call_info->reply_bound_bytes
					     : x->reply_max_bytes;
	}
	if (call_info->narg_payloads == 1) {
		input->payload_at = call_info->arg.offset_bytes;
		input->payload_bytes = call_info->arg.len_bytes;
		input->payload_is_data = conn->peer->data_in_chunk && call_info->arg_is_data;
	}
}

static bool moves_payloads(const struct rdma_conn *conn)
{
	return conn->config->ddp || conn->peer->ddp;
}

static void fill_input(const struct requester *rq, const struct requester_rpc *rpc,
		       struct chunk_select_input *input)
{
	const struct rdma_conn *conn = rq->conn;
	bool inline_only = rq->reverse && !rpc->limits.reverse_chunks;

	*input = (struct chunk_select_input){
		.call_bytes = rpc->x->call.len_bytes,
		.reply_max_bytes = rpc->x->reply_max_bytes,
		.max_message_bytes = conn->leg->config->max_message_bytes,
		.limits = rpc->limits,
		.max_segment_bytes = conn->max_segment_bytes,
		.peer = conn->peer,
		.inline_only = inline_only,
		.moves_payloads = !inline_only && moves_payloads(conn),
	};
	if (input->moves_payloads && rpc->x->call_info.stage == CALL_INFO_COMPLETE)
		fill_facts(conn, rpc->x, input);
}

enum send_decision { SEND_NOW, SEND_LATER, SEND_IMPOSSIBLE };

/* Returns true if all inline bytes have arrived; exposed bytes can follow later. */
static bool is_inline_here(const struct msg_form *form, const struct rpc_msg *call)
{
	uint64_t end = form->chunk_at + xdr_padded_bytes(form->chunk_bytes);

	return rpc_msg_is_whole(call) ||
	       (form->form != MESSAGE_FORM_SHORT && form->chunk_at <= call->have_bytes &&
		end >= call->len_bytes);
}

/* Decides whether the Call can be sent now, and in which form (A5.1-1, A5.2-1). */
static enum send_decision plan_call(const struct requester *rq, struct requester_rpc *rpc)
{
	bool whole = rpc_msg_is_whole(&rpc->x->call);
	struct chunk_select_input input;

	if (requester_is_control_xid(rq, rpc->x->call_info.hdr.xid))
		return SEND_LATER;
	/* Missing bytes can follow only in Reads. */
	if (!whole && !rq->conn->deferred_reads)
		return SEND_LATER;
	rpc->limits = rq->conn->limits;
	if (rq->reverse && !rpc->limits.reverse_calls)
		return whole ? SEND_IMPOSSIBLE : SEND_LATER;
	if (whole && !moves_payloads(rq->conn) &&
	    call_form_is_plain(&rpc->limits, rpc->x->call.len_bytes, rpc->x->reply_max_bytes)) {
		rpc->form = call_form_plain();
		return SEND_NOW;
	}
	fill_input(rq, rpc, &input);
	if (input.moves_payloads && chunk_select_needs(&input))
		return SEND_LATER;
	if (!chunk_select_choose(&input, &rpc->form))
		return whole ? SEND_IMPOSSIBLE : SEND_LATER;
	if (!is_inline_here(&rpc->form.call, &rpc->x->call))
		return SEND_LATER;
	if (rpc->form.placement_truncated)
		rq->conn->counters->landings_cut++;
	return SEND_NOW;
}

/* Records the lengths of a Call or Reply that uses a chunk, to choose receive sizes. */
static void note_sizes(struct rdma_conn *conn, const struct requester_rpc *rpc)
{
	uint64_t call = 0, reply = 0;

	if (rpc->form.call.form != MESSAGE_FORM_SHORT)
		call = RPCRDMA_MIN_HDR_BYTES + (uint64_t)rpc->x->call.len_bytes;
	if (rpc->form.placement != PLACEMENT_NONE)
		reply = RPCRDMA_MIN_HDR_BYTES + xdr_padded_bytes(rpc->x->reply_max_bytes);
	conn_sizes_note(conn->sizes, call, reply, &conn->limits, rdma_conn_now_us(conn));
}

/* The timeout of a reverse Call counts from leg_call(), not from its Send (reverse_timeout.h). */
static void note_time(const struct requester *rq, struct requester_rpc *rpc)
{
	if (rq->reverse)
		rpc->since_us = rdma_conn_now_us(rq->conn);
}

static void start_call(struct requester *rq, struct requester_rpc *rpc,
		       enum send_decision send_decision)
{
	if (send_decision == SEND_IMPOSSIBLE || !requester_rpc_send(rpc))
		fail_unsendable(rq, rpc);
	else if (rq->conn->sizes)
		note_sizes(rq->conn, rpc);
}

/* Returns true if the connection allows the next Call to be sent. */
static inline bool may_send(const struct requester *rq)
{
	return rdma_conn_is_up(rq->conn) && !rq->starved &&
	       negotiation_may_call(&rq->conn->negotiation) &&
	       credit_window_open(&rq->conn->window) && rq->ccp.state != CCP_CLIENT_SENT;
}

void requester_run_queue(struct requester *rq)
{
	struct exchange *x;

	while (may_send(rq) && (x = TAILQ_FIRST(&rq->queue))) {
		enum send_decision send_decision = plan_call(rq, x->target_priv);

		if (send_decision == SEND_LATER)
			break;
		TAILQ_REMOVE(&rq->queue, x, target_entry);
		rq->nqueued--;
		start_call(rq, x->target_priv, send_decision);
	}
	if (rq->full && rq->nqueued < REQUESTER_QUEUE_MAX && rdma_conn_is_up(rq->conn)) {
		rq->full = false;
		/* A task, because a call into the leg can be on the stack. */
		loop_defer(rq->conn->fabric->loop, &rq->ready_task);
	}
}

static void queue_call(struct requester *rq, struct requester_rpc *rpc)
{
	if (rq->reverse && rq->nqueued >= REQUESTER_QUEUE_MAX_REVERSE) {
		rq->conn->counters->reverse_refused++;
		requester_rpc_fail(rpc, EXCHANGE_FAULT_CANT_SEND);
		return;
	}
	if (!may_send(rq))
		rq->conn->counters->credit_waits++;
	TAILQ_INSERT_TAIL(&rq->queue, rpc->x, target_entry);
	count_queued(rq);
}

void requester_timeout(struct requester *rq, struct requester_rpc *rpc)
{
	TAILQ_REMOVE(&rq->queue, rpc->x, target_entry);
	rq->nqueued--;
	requester_rpc_fail(rpc, EXCHANGE_FAULT_LATE);
}

void requester_call(struct requester *rq, struct exchange *x)
{
	struct requester_rpc *rpc;
	enum send_decision send_decision = SEND_LATER;

	if (rdma_conn_is_closing(rq->conn)) {
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
	if (!rq->nqueued && may_send(rq))
		send_decision = plan_call(rq, rpc);
	if (send_decision == SEND_LATER)
		queue_call(rq, rpc);
	else
		start_call(rq, rpc, send_decision);
}

void requester_more(struct requester *rq, struct exchange *x)
{
	struct requester_rpc *rpc = x->target_priv;

	switch (rpc->state) {
	case REQUESTER_QUEUED:
		requester_run_queue(rq);
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

void requester_null_reserve_credit(struct requester *rq)
{
	rq->conn->window.reserved = 1;
}

const struct call_info *requester_null_template(const struct requester *rq)
{
	const struct exchange *x;

	TAILQ_FOREACH(x, &rq->active, target_entry) {
		const struct requester_rpc *rpc = x->target_priv;

		if (rpc->state == REQUESTER_SENT || rpc->state == REQUESTER_RESENT)
			return &x->call_info;
	}
	return NULL;
}

bool requester_null_send(struct requester *rq, uint32_t xid, const struct call_info *like)
{
	struct null_calls *sent_null_calls = &rq->sent_null_calls;
	struct rdma_conn *conn = rq->conn;
	uint8_t call[RPC_NULL_CALL_BYTES];
	struct send_msg m;

	if (sent_null_calls->count == NULL_CALLS_MAX || !credit_window_has_credit(&conn->window))
		return false;
	sent_null_calls->xids[sent_null_calls->count++] = xid;
	credit_window_consume(&conn->window);
	/* The reserved credit is in use. */
	conn->window.reserved = 0;
	send_msg_init(&m, conn->limits.dialect, xid);
	send_msg_add_bytes(
		&m, call,
		(uint32_t)rpc_encode_null_call(call, xid, like->hdr.prog, like->hdr.vers));
	conn->counters->null_calls_sent++;
	rdma_conn_replenish(conn);
	send_msg_post(&m, conn, conn->window.asked, NULL, NULL);
	return true;
}

bool requester_null_answered(struct requester *rq, uint32_t xid)
{
	struct null_calls *sent_null_calls = &rq->sent_null_calls;
	unsigned at = 0;

	while (at < sent_null_calls->count && sent_null_calls->xids[at] != xid)
		at++;
	if (at == sent_null_calls->count)
		return false;
	sent_null_calls->xids[at] = sent_null_calls->xids[--sent_null_calls->count];
	credit_window_release(&rq->conn->window);
	if (!sent_null_calls->count)
		rq->conn->window.reserved = 1;
	rq->conn->counters->null_calls_answered++;
	return true;
}
