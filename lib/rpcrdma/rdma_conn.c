// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/rdma_conn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/minmax.h"
#include "rpcrdma/reject_reason.h"
#include "rpcrdma/v2/characteristics.h"

STATE_TABLE(rdma_conn_states, RDMA_CONN_STATES);
COUNTER_TABLE(rdma_leg_counters, RDMA_LEG_COUNTERS);

void rdma_conn_set_state(struct rdma_conn *conn, enum rdma_conn_state to)
{
	state_move(&conn->state, &rdma_conn_states, to, rdma_conn_now_us(conn));
}

static void report_closed(void *arg)
{
	struct rdma_conn *conn = arg;
	const struct leg_config *config = conn->leg->config;

	config->events->closed(config->arg);
}

/* Call it before closing starts: a close by this end is no failure. */
static void count_failure(struct rdma_conn *conn)
{
	if (conn->state.now == RDMA_CONNECTING)
		conn->counters->connect_failures++;
}

static void on_timer(void *arg)
{
	struct rdma_conn *conn = arg;
	struct fabric_ep_info info;

	if (rdma_conn_is_closing(conn)) {
		if (conn->ep)
			fabric_ep_abort(conn->ep);
		return;
	}
	count_failure(conn);
	fabric_ep_info(conn->ep, &info);
	if (info.silence)
		rdma_conn_fail(conn, LEG_CLOSE_TIMEOUT, "%s", info.silence);
	else
		rdma_conn_fail(conn, LEG_CLOSE_TIMEOUT, "no answer while %s",
			       state_name(&rdma_conn_states, conn->state.now));
}

int rdma_conn_init(struct rdma_conn *conn, struct leg *leg, const struct rdma_leg_config *config,
		   struct fabric *fabric, enum rdma_conn_state state)
{
	conn->leg = leg;
	conn->config = config;
	conn->counters = config->counters;
	conn->fabric = fabric;
	conn->connector = state == RDMA_CONNECTING;
	conn->state = (struct state){state, loop_now_us(fabric->loop)};
	conn->notes_left = RDMA_NOTES_MAX;
	loop_task_init(&conn->closed_task, report_closed, conn);
	posted_recvs_init(&conn->recvs);
	conn->timer = loop_timer_new(fabric->loop, on_timer, conn);
	return conn->timer ? 0 : -ENOMEM;
}

void rdma_conn_fini(struct rdma_conn *conn)
{
	loop_task_cancel(conn->fabric->loop, &conn->closing_task);
	loop_task_cancel(conn->fabric->loop, &conn->closed_task);
	loop_task_cancel(conn->fabric->loop, &conn->idle_task);
	loop_task_cancel(conn->fabric->loop, &conn->settled_task);
	loop_timer_free(conn->fabric->loop, conn->timer);
	posted_recvs_fini(&conn->recvs);
	fabric_ep_free(conn->ep);
}

void rdma_conn_note(struct rdma_conn *conn, const char *fmt, ...)
{
	const struct leg_config *config = conn->leg->config;
	char text[200];
	va_list ap;

	if (!conn->notes_left || !config->events->note)
		return;
	conn->notes_left--;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	config->events->note(config->arg, text);
}

void rdma_conn_peer_found(struct rdma_conn *conn, enum peer_id id, const char *why)
{
	conn->peer = peer_profile(id);
	conn->peer_why = why;
}

/* After this only closing() and closed() are called. */
static void begin_closing(struct rdma_conn *conn, enum leg_close why)
{
	rdma_conn_set_state(conn, RDMA_CLOSING);
	conn->why = why;
	loop_timer_clear(conn->fabric->loop, conn->timer);
	loop_defer(conn->fabric->loop, &conn->closing_task);
}

void rdma_conn_fail(struct rdma_conn *conn, enum leg_close why, const char *fmt, ...)
{
	bool requested = conn->state.now == RDMA_REQUESTED;
	uint8_t reason[REJECT_REASON_BYTES];
	va_list ap;

	if (rdma_conn_is_closing(conn))
		return;
	va_start(ap, fmt);
	vsnprintf(conn->detail, sizeof(conn->detail), fmt, ap);
	va_end(ap);
	begin_closing(conn, why);
	if (requested)
		fabric_ep_reject(conn->ep, reason, reject_reason_encode(why, reason));
	else if (conn->connector && why != LEG_CLOSE_LOCAL && why != LEG_CLOSE_SHUTDOWN)
		/*
		 * Abort, because the client can reconnect immediately and must reach the server
		 * from the same port.
		 */
		fabric_ep_abort(conn->ep);
	else
		fabric_ep_close(conn->ep);
}

static enum leg_close close_reason_of(const struct rdma_conn *conn, enum fabric_close why)
{
	static const enum leg_close map[] = {
		[FABRIC_CLOSE_LOCAL] = LEG_CLOSE_LOCAL,
		[FABRIC_CLOSE_PEER] = LEG_CLOSE_PEER,
		[FABRIC_CLOSE_LOST] = LEG_CLOSE_LOST,
		[FABRIC_CLOSE_SILENT] = LEG_CLOSE_SILENT,
		[FABRIC_CLOSE_REFUSED] = LEG_CLOSE_REFUSED,
		[FABRIC_CLOSE_TIMEOUT] = LEG_CLOSE_TIMEOUT,
		[FABRIC_CLOSE_PROTOCOL] = LEG_CLOSE_PROTOCOL,
		[FABRIC_CLOSE_TERMINATED] = LEG_CLOSE_TERMINATED,
		[FABRIC_CLOSE_RESOURCES] = LEG_CLOSE_RESOURCES,
		[FABRIC_CLOSE_PROXY_HEADER] = LEG_CLOSE_PROXY_HEADER,
		[FABRIC_CLOSE_PORT] = LEG_CLOSE_NO_SOURCE_PORT,
	};

	if (why == FABRIC_CLOSE_LOST && conn->state.now == RDMA_CONNECTING)
		return LEG_CLOSE_UNREACHABLE;
	return map[why];
}

void rdma_conn_fabric_ended(struct rdma_conn *conn, enum fabric_close why, int err,
			    const char *detail)
{
	if (rdma_conn_is_closing(conn))
		return;
	count_failure(conn);
	/* A normal close by the peer needs no detail. */
	if (why == FABRIC_CLOSE_PEER && rdma_conn_is_up(conn))
		detail = NULL;
	snprintf(conn->detail, sizeof(conn->detail), "%s", detail ? detail : "");
	conn->close_errno = err;
	begin_closing(conn, close_reason_of(conn, why));
}

void rdma_conn_limit_closing(struct rdma_conn *conn)
{
	if (conn->state.now != RDMA_CLOSING || conn->close_limited)
		return;
	conn->close_limited = true;
	loop_timer_set(conn->fabric->loop, conn->timer, LEG_STOP_US);
}

void rdma_conn_released(struct rdma_conn *conn)
{
	loop_timer_clear(conn->fabric->loop, conn->timer);
	rdma_conn_set_state(conn, RDMA_CLOSED);
	/*
	 * A task, because closed() must follow closing() and can free the endpoint, which must not
	 * happen in its callback.
	 */
	loop_defer(conn->fabric->loop, &conn->closed_task);
}

int rdma_conn_first_receives(struct rdma_conn *conn, unsigned count, uint32_t size_bytes)
{
	posted_recvs_fini(&conn->recvs);
	conn->recvs_posted = count;
	return posted_recvs_add(&conn->recvs, count, size_bytes);
}

void rdma_conn_replenish(struct rdma_conn *conn)
{
	const struct credit_grant *grant = &conn->grant;
	unsigned want =
		RDMA_RECV_RESERVE + conn->window.in_flight + grant->granted + grant->exposed;
	unsigned more;

	/*
	 * An unanswered Call keeps its Receive in use, so a peer that exceeds its credits finds
	 * none.
	 */
	if (!rdma_conn_is_established(conn) || conn->recvs_posted + grant->in_flight >= want)
		return;
	more = want - grant->in_flight - conn->recvs_posted;
	if (posted_recvs_add(&conn->recvs, more, conn->recv_size_bytes)) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for receives");
		return;
	}
	fabric_recv_post(conn->ep, more, conn->recv_size_bytes);
	conn->recvs_posted += more;
}

void rdma_conn_resize_receives(struct rdma_conn *conn, uint32_t size_bytes)
{
	unsigned kept = fabric_recv_resize(conn->ep, size_bytes);

	conn->recv_size_bytes = size_bytes;
	if (kept != FABRIC_RECV_KEPT)
		posted_recvs_resize(&conn->recvs, kept, size_bytes);
}

/*
 * Sets the limits of reverse Calls. Their sender obeys what the other end advertised, their
 * receiver what it advertised itself. If nothing was advertised, reverse Calls without chunks are
 * sent (B3.3-2).
 */
static void agree_on_reverse(struct rdma_conn *conn)
{
	const struct rdma_leg_config *config = conn->config;
	enum xchar_brs peer = characteristics_peer_reverse(conn->characteristics);

	conn->limits.reverse_calls = conn->connector || peer != XCHAR_BRS_NONE;
	conn->limits.reverse_chunks = config->reverse_chunks && config->characteristics &&
				      (conn->connector || peer == XCHAR_BRS_GENL);
}

void rdma_conn_update_limits_for(struct rdma_conn *conn, const struct dialect *dialect)
{
	uint32_t floor = dialect->least_inline_bytes;
	uint32_t send = inline_threshold_agreed(&conn->send_limit, floor);
	uint32_t recv = inline_threshold_agreed(&conn->recv_limit, floor);

	conn->limits = (struct rpc_limits){
		.dialect = dialect,
		.send_bytes = send,
		.reply_bytes = send,
		.pending_req_bytes = UINT32_MAX,
		.recv_bytes = recv,
		.margin_bytes = min_u32(recv, RPC_INLINE_AROUND_MAX_BYTES),
		.reads_nothing = conn->work_requests.reads_max == 0,
		.reverse_calls = true,
	};
	if (!dialect->options || !conn->characteristics)
		return;
	agree_on_reverse(conn);
	conn->limits.send_bytes = characteristics_send_bytes(conn->characteristics, send);
	conn->limits.reply_bytes = characteristics_reply_bytes(conn->characteristics, send);
	conn->limits.pending_req_bytes = characteristics_pending_req_bytes(conn->characteristics);
	conn->limits.recv_bytes = characteristics_recv_bytes(conn->characteristics, recv);
	conn->limits.margin_bytes = min_u32(conn->limits.recv_bytes, RPC_INLINE_AROUND_MAX_BYTES);
}

void rdma_conn_update_limits(struct rdma_conn *conn)
{
	rdma_conn_update_limits_for(conn, conn->negotiation.dialect);
}

void rdma_conn_call_understood(struct rdma_conn *conn, const struct dialect *dialect)
{
	if (conn->negotiation.stage == NEGOTIATION_SETTLED)
		return;
	negotiation_call_received(&conn->negotiation, dialect->version);
	rdma_conn_update_limits(conn);
	loop_defer(conn->fabric->loop, &conn->settled_task);
}

uint32_t rdma_conn_peer_reads_max(const struct rdma_conn *conn)
{
	return min_u32(conn->ird, RDMA_READ_DEPTH);
}

/*
 * Sets only the limit for Sends to the peer. CONF_RDMA does not include the length of a server's
 * Sends (A6.2-2), so private data decide when a Reply needs a chunk.
 */
void rdma_conn_set_peer_recv_bytes(struct rdma_conn *conn, uint32_t bytes)
{
	conn->configured = true;
	inline_threshold_set_peer(&conn->send_limit, max_u32(bytes, RPCRDMA_INLINE_MIN));
	rdma_conn_update_limits(conn);
	rdma_conn_note(conn, "configured: Sends of up to %u bytes to it, at most %u RDMA Reads",
		       conn->limits.send_bytes, conn->work_requests.reads_max);
}

bool rdma_conn_may_invalidate(const struct rdma_conn *conn, const struct rpc_limits *limits)
{
	if (!limits->dialect->one_sided_invalidation)
		return conn->may_invalidate;
	return conn->config->remote_invalidation && conn->sends_invalidate &&
	       conn->characteristics && characteristics_may_invalidate(conn->characteristics);
}
