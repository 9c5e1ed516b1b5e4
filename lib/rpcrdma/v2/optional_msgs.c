// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/v2/optional_msgs.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "rpcrdma/rdma_conn_setup.h"
#include "rpcrdma/responder_reply.h"
#include "rpcrdma/v2/size_wait.h"
#include "rpcrdma/work_request.h"

static struct rdma_conn *conn_of(const struct optional_msgs *options)
{
	return options->rq->conn;
}

/* Returns the receive size for Sends of @bytes: never smaller than the initial size. */
static uint32_t receive_of(const struct rdma_conn *conn, uint32_t bytes)
{
	uint32_t first = rdma_recv_bytes(inline_threshold_offer(&conn->recv_limit),
					 negotiation_least_bytes(&conn->negotiation),
					 conn->config->config_protocol);

	return max_u32(first, bytes);
}

/* ---- memory ---- */

/*
 * Returns the memory that no claim of an RPC covers: all possible Receives, and reverse Calls with
 * their Replies.
 */
static size_t all_bytes(const struct rdma_conn *conn, uint32_t size)
{
	size_t recvs = RDMA_RECV_RESERVE + (size_t)conn->window.asked + conn->grant.max;

	return recvs * buf_pool_class_bytes(size) +
	       2 * (size_t)RDMA_REVERSE_CREDITS * rpc_msg_cost_bytes(size);
}

/* Returns how much more memory Receives of @bytes need than those of the initial size. */
static size_t cost_of(const struct rdma_conn *conn, uint32_t bytes)
{
	return all_bytes(conn, receive_of(conn, bytes)) - all_bytes(conn, receive_of(conn, 0));
}

/*
 * Returns the memory of the largest RPC: both messages, space for inline bytes, and work requests.
 */
static size_t largest_rpc_bytes(const struct rdma_conn *conn)
{
	uint32_t recv = receive_of(conn, conn->config->receive_max_bytes);

	return 2 * rpc_msg_cost_bytes(conn->leg->config->max_message_bytes) +
	       3 * rpc_msg_cost_bytes(recv) + work_request_cost_bytes(2 * RPCRDMA_MAX_SEGMENTS);
}

/*
 * Claims memory for larger Receives, for as long as they are posted. Enough must be left for such a
 * claim of another connection and for twice the largest RPC, or that RPC would never be admitted
 * (base/budget_account.h).
 *
 * While larger Receives are still posted the claim covers those, and can be more than needed.
 */
static bool claim(struct optional_msgs *options, size_t cost)
{
	const struct rdma_conn *conn = conn_of(options);
	bool held = options->claim.state == BUDGET_CLAIM_GRANTED;
	size_t most_held = cost_of(conn, conn->config->receive_max_bytes);

	/* The claim still covers earlier, larger Receives. */
	if (held && cost <= options->claim.bytes)
		return true;
	return budget_claim_now(conn->leg->config->holder, &options->claim, cost,
				most_held + 2 * largest_rpc_bytes(conn));
}

/* Shrinks the claim when the last large Receive is gone. */
static void release(struct optional_msgs *options)
{
	struct rdma_conn *conn = conn_of(options);

	if (options->claim.state != BUDGET_CLAIM_GRANTED ||
	    posted_recvs_largest(&conn->recvs) > conn->recv_size_bytes)
		return;
	if (conn->recv_size_bytes == receive_of(conn, 0))
		budget_claim_release(&options->claim);
	else
		budget_claim_shrink(&options->claim, cost_of(conn, conn->recv_size_bytes));
}

static bool resize(struct optional_msgs *options, uint32_t bytes)
{
	struct rdma_conn *conn = conn_of(options);
	uint32_t size = receive_of(conn, bytes);

	if (size > conn->recv_size_bytes) {
		if (!claim(options, cost_of(conn, bytes))) {
			conn->counters->recv_raises_refused++;
			rdma_conn_note(
				conn,
				"receives stay at %u bytes: memory_limit_mib is too small for "
				"larger ones in addition to the largest messages",
				conn->recv_size_bytes);
			return false;
		}
		conn->counters->recv_raises++;
	}
	rdma_conn_resize_receives(conn, size);
	return true;
}

/* ---- messages ---- */

static bool is_in_flight(const struct optional_msgs *options, uint32_t xid)
{
	return requester_rpc_find(options->rq, xid) || requester_is_control_xid(options->rq, xid) ||
	       xid_table_find(&options->rs->table, xid);
}

static uint32_t new_xid(const struct optional_msgs *options)
{
	/* Probably far from the XIDs of the client, which are unknown. */
	uint32_t xid = (uint32_t)(rdma_conn_now_us(conn_of(options)) * 2654435761u);

	while (is_in_flight(options, xid))
		xid++;
	return xid;
}

/* Requests or grants credits as a Call or Reply does. */
static void send_option(struct optional_msgs *options,
			const struct characteristics_message *message, uint32_t xid)
{
	struct rdma_conn *conn = conn_of(options);
	uint32_t credit = conn->connector ? conn->window.asked : credit_grant_value(&conn->grant);
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, dialect(DIALECT_V2)->version, credit, RPCRDMA_OPTIONAL);
	hdr.opttype = message->op;
	hdr.optinfo = message->info;
	hdr.optinfo_bytes = message->info_bytes;
	conn->counters->options_sent++;
	rdma_conn_replenish(conn);
	work_request_post_send(conn, &hdr, NULL, 0, NULL, NULL);
}

static void send_next(struct optional_msgs *options, const struct characteristics_message *message)
{
	struct rdma_conn *conn = conn_of(options);
	uint32_t xid = message->answers ? message->xid : new_xid(options);

	if (!message->answers)
		control_msgs_sent(&conn->control, xid, message->op == XCHAR_REQ);
	send_option(options, message, xid);
	characteristics_sent(&options->ch, xid);
}

uint32_t optional_msgs_send_first_init(struct optional_msgs *options)
{
	uint32_t xid = new_xid(options);
	struct characteristics_message message;

	characteristics_first_init(&options->ch, &message);
	control_msgs_sent(&conn_of(options)->control, xid, true);
	send_option(options, &message, xid);
	return xid;
}

/* ---- steps ---- */

static void take_snapshot(const struct optional_msgs *options,
			  struct characteristics_snapshot *snapshot)
{
	const struct rdma_conn *conn = conn_of(options);
	uint32_t counts_over = characteristics_counted_limit(&options->ch);
	uint32_t needs_over = characteristics_needed_limit(&options->ch);
	bool may = control_msgs_may_send(&conn->control);

	*snapshot = (struct characteristics_snapshot){
		.smallest_bytes = posted_recvs_smallest(&conn->recvs),
		.counted_bytes = requester_longest_reply_bytes(options->rq, counts_over),
		.needed_bytes = responder_longest_reply_bytes(options->rs, 0, needs_over),
		.is_allowed = may,
		.may_update = may,
	};
}

static void request_sizes(struct optional_msgs *options)
{
	struct conn_sizes *sizes = &options->sizes;

	if (sizes->wanted_there_bytes &&
	    rdma_conn_now_us(conn_of(options)) >= options->rejected_until_us)
		characteristics_request_size(&options->ch, sizes->wanted_there_bytes);
	if (sizes->wanted_here_bytes &&
	    rdma_conn_now_us(conn_of(options)) >= options->no_memory_until_us)
		characteristics_raise(&options->ch, sizes->wanted_here_bytes);
	sizes->wanted_there_bytes = sizes->wanted_here_bytes = 0;
}

/*
 * Returns the number after which Calls have not been examined for size @over. Under the same limits
 * the need of a Call never grows, so each is examined once.
 */
static uint64_t examined_before(struct optional_msgs *options, uint32_t over)
{
	const struct rpc_limits *limits = &conn_of(options)->limits;
	uint64_t before = options->last_examined.number;

	if (over != options->last_examined.over ||
	    limits->send_bytes != options->last_examined.send_bytes ||
	    limits->reply_bytes != options->last_examined.reply_bytes)
		before = 0;
	options->last_examined.number = options->rs->numbered;
	options->last_examined.over = over;
	options->last_examined.send_bytes = limits->send_bytes;
	options->last_examined.reply_bytes = limits->reply_bytes;
	return before;
}

/* A Call that crossed a REQ for a lower size counts on the present size, so request that again. */
static void revert_request(struct optional_msgs *options)
{
	uint32_t over = characteristics_revertible_bytes(&options->ch);
	uint64_t before = examined_before(options, over);

	if (over != UINT32_MAX && responder_longest_reply_bytes(options->rs, before, over) > over)
		characteristics_revert_request(&options->ch);
}

/* Does steps until none is left. */
static void run_steps(struct optional_msgs *options)
{
	struct rdma_conn *conn = conn_of(options);
	struct characteristics_message message;
	struct characteristics_snapshot now;
	uint32_t bytes;

	for (;;) {
		bool done;

		take_snapshot(options, &now);
		switch (characteristics_next(&options->ch, &now, &message, &bytes)) {
		case CHARACTERISTICS_NOTHING:
			rdma_conn_update_limits(conn);
			return;
		case CHARACTERISTICS_SEND:
			send_next(options, &message);
			break;
		case CHARACTERISTICS_RESIZE:
			done = resize(options, bytes);
			if (!done)
				options->no_memory_until_us =
					rdma_conn_now_us(conn_of(options)) + RECV_SIZING_US;
			characteristics_resized(&options->ch, done);
			break;
		}
	}
}

/* Returns false on a connection that has fallen back to version one. */
static bool may_send(const struct rdma_conn *conn)
{
	return rdma_conn_is_up(conn) &&
	       (conn->negotiation.stage != NEGOTIATION_SETTLED || conn->limits.dialect->options);
}

void optional_msgs_run(struct optional_msgs *options)
{
	struct rdma_conn *conn = conn_of(options);
	bool waits;

	release(options);
	revert_request(options);
	request_sizes(options);
	if (characteristics_has_work(&options->ch) && may_send(conn))
		run_steps(options);
	waits = characteristics_has_work(&options->ch) && !control_msgs_may_send(&conn->control);
	if (control_msgs_wait(&conn->control, waits))
		requester_kick(options->rq);
}

/* ---- received messages ---- */

static void note_violations(struct rdma_conn *conn, unsigned what)
{
	struct rdma_leg_counters *counters = conn->counters;

	if (what & CHARACTERISTICS_LOWERED) {
		counters->recv_lowered_unasked++;
		rdma_conn_note(conn, "peer lowered its receives to %u bytes unasked",
			       characteristics_peer_size(conn->characteristics));
	}
	if (what & CHARACTERISTICS_INCONSTANT) {
		counters->characteristics_wrong++;
		rdma_conn_note(conn, "peer changed a characteristic that it had declared constant");
	}
	if (what & CHARACTERISTICS_STRAY) {
		counters->characteristics_wrong++;
		rdma_conn_note(conn, "RESP_XCHAR matches no request");
	}
	if (what & CHARACTERISTICS_CONFUSED) {
		counters->characteristics_wrong++;
		rdma_conn_note(conn, "RESP_XCHAR does not cover the request");
	}
	if (what & CHARACTERISTICS_UNASKED) {
		counters->characteristics_wrong++;
		rdma_conn_note(conn, "UPD_XCHAR ends a request that was never made");
	}
}

/* Reads the credit field: a request from the end that connected, a grant from the other. */
static void receive_credit(struct rdma_conn *conn, uint32_t credit)
{
	if (!conn->connector)
		credit_grant_request(&conn->grant, credit);
	else if (!credit_window_grant(&conn->window, credit))
		conn->counters->credit_zero_received++;
}

static void reject_option(struct rdma_conn *conn, const struct rpcrdma_header *hdr,
			  enum rpcrdma_err err)
{
	if (err == RPCRDMA_ERR_CHUNK) {
		conn->counters->bad_calls++;
		rdma_conn_note(conn, "RDMA_OPTIONAL %u does not decode", hdr->opttype);
	}
	responder_send_error(conn, hdr->xid, hdr->vers, err);
}

void optional_msgs_receive(struct optional_msgs *options, const struct rpcrdma_header *hdr)
{
	struct rdma_conn *conn = conn_of(options);
	unsigned what = 0;

	conn->counters->options_received++;
	receive_credit(conn, hdr->credit);
	switch (characteristics_receive(&options->ch, hdr->xid, hdr->opttype, hdr->optinfo,
					hdr->optinfo_bytes, &what)) {
	case XCHAR_OK:
		if (hdr->opttype == XCHAR_RESP)
			(void)control_msgs_answered(&conn->control, hdr->xid);
		note_violations(conn, what);
		if (what & CHARACTERISTICS_UNANSWERED)
			reject_option(conn, hdr, RPCRDMA_ERR_CHUNK);
		/* A request that merely ended without success can be repeated. */
		if (what & CHARACTERISTICS_REJECTED && hdr->opttype == XCHAR_RESP)
			options->rejected_until_us =
				rdma_conn_now_us(conn_of(options)) + RECV_SIZING_US;
		rdma_conn_update_limits(conn);
		break;
	case XCHAR_UNKNOWN_OP:
		reject_option(conn, hdr, RPCRDMA_ERR_INVAL_OPTION);
		break;
	case XCHAR_BAD:
		reject_option(conn, hdr, RPCRDMA_ERR_CHUNK);
		break;
	}
	size_wait_settled(options->rs);
	optional_msgs_run(options);
}

bool optional_msgs_rejected(struct optional_msgs *options, uint32_t xid)
{
	struct rdma_conn *conn = conn_of(options);
	bool ours = control_msgs_answered(&conn->control, xid);

	if (characteristics_rejected(&options->ch, xid)) {
		options->rejected_until_us = rdma_conn_now_us(conn_of(options)) + RECV_SIZING_US;
		/* The rejected lower size no longer limits Sends (B3.1-4). */
		rdma_conn_update_limits(conn);
		size_wait_settled(options->rs);
		ours = true;
	}
	return ours;
}

/* ---- idle minutes ---- */

/*
 * Releases the credit of a REQ that has been unanswered for a minute; a server that grants one
 * credit would otherwise get no more Calls. The request stays open, and its lower size in force,
 * because the RESP can still come.
 */
static void release_old_credit(struct optional_msgs *options)
{
	struct rdma_conn *conn = conn_of(options);
	bool open = options->ch.size_request == SIZE_REQUEST_OPEN;

	if (open && options->old_req && options->old_req_xid == options->ch.size_request_xid &&
	    control_msgs_answered(&conn->control, options->old_req_xid))
		requester_kick(options->rq);
	options->old_req = open;
	options->old_req_xid = options->ch.size_request_xid;
}

/*
 * If no recent Send needed the size that the peer raised for us, ask for the initial size (as
 * B3.1-7 allows).
 */
static void on_timer(void *arg)
{
	struct optional_msgs *options = arg;
	struct rdma_conn *conn = conn_of(options);
	uint32_t first = options->ch.peer_first_bytes;

	if (rdma_conn_is_closing(conn))
		return;
	if (first && conn->longest_send_bytes <= first && options->ch.value[XCHAR_RBSIZ] > first)
		characteristics_request_size(&options->ch, first);
	conn->longest_send_bytes = 0;
	release_old_credit(options);
	optional_msgs_run(options);
	loop_timer_set(conn->fabric->loop, options->timer, RECV_SIZING_US);
}

/* ---- create and destroy ---- */

static struct characteristics_config config_of(const struct rdma_conn *conn)
{
	const struct rdma_leg_config *config = conn->config;
	uint32_t recv = max_u32(inline_threshold_offer(&conn->recv_limit), XCHAR_RBSIZ_DEFAULT);
	uint32_t send = max_u32(inline_threshold_offer(&conn->send_limit), XCHAR_RBSIZ_DEFAULT);

	return (struct characteristics_config){
		.connector = conn->connector,
		.enabled = config->characteristics,
		.recv_bytes = recv,
		.receive_max_bytes = config->receive_max_bytes,
		.send_max_bytes = max_u32(send, config->receive_max_bytes),
		.invalidate = conn->accepts_invalidation,
		.reverse = config->reverse_chunks ? XCHAR_BRS_GENL : XCHAR_BRS_SZLIM,
	};
}

struct optional_msgs *optional_msgs_new(struct requester *rq, struct responder *rs)
{
	struct optional_msgs *options = calloc(1, sizeof(*options));
	struct rdma_conn *conn = rq->conn;
	struct characteristics_config config = config_of(conn);

	if (!options)
		return NULL;
	options->rq = rq;
	options->rs = rs;
	options->timer = loop_timer_new(conn->fabric->loop, on_timer, options);
	if (!options->timer) {
		free(options);
		return NULL;
	}
	characteristics_init(&options->ch, &config);
	budget_claim_init(&options->claim, NULL, NULL);
	recv_sizing_init(&options->sizes.calls, config.send_max_bytes,
			 rdma_conn_now_us(conn_of(options)));
	recv_sizing_init(&options->sizes.replies, config.receive_max_bytes,
			 rdma_conn_now_us(conn_of(options)));
	conn->characteristics = &options->ch;
	if (conn->connector && config.enabled)
		conn->sizes = &options->sizes;
	loop_timer_set(conn->fabric->loop, options->timer, RECV_SIZING_US);
	return options;
}

void optional_msgs_end(struct optional_msgs *options)
{
	if (!options)
		return;
	loop_timer_clear(conn_of(options)->fabric->loop, options->timer);
	budget_claim_release(&options->claim);
}

void optional_msgs_free(struct optional_msgs *options)
{
	if (!options)
		return;
	loop_timer_free(conn_of(options)->fabric->loop, options->timer);
	free(options);
}
