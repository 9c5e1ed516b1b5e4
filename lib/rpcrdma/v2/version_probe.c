// SPDX-License-Identifier: BSD-3-Clause
/*
 * How servers with version one only react to the first message of version two. Linux (6.1:
 * svc_rdma_xdr_decode_req, svc_rdma_send_error_msg) checks the version first. It answers ERR_VERS
 * with the same XID, 1 as lowest and highest version, and the requested version in place of its
 * own, and keeps the connection. So no Call is lost: the connection opens after the grace period,
 * and the next connection starts with version one. Other servers close the connection, or do not
 * answer.
 */
#include "rpcrdma/v2/version_probe.h"

#include "rpcrdma/draft03/ccp.h"
#include "rpcrdma/rdma_conn_setup.h"
#include "rpcrdma/v2/optional_msgs.h"
#include "rpcrdma/v2/version_cache.h"

static void remember(const struct rdma_conn *conn)
{
	if (conn->config->version_cache)
		version_cache_remember(conn->config->version_cache,
				       (const struct sockaddr *)&conn->server,
				       rdma_conn_now_us(conn));
}

static void forget(const struct rdma_conn *conn)
{
	if (conn->config->version_cache)
		version_cache_forget(conn->config->version_cache,
				     (const struct sockaddr *)&conn->server);
}

static void open_leg(struct rdma_leg *leg)
{
	struct rdma_conn *conn = &leg->conn;

	/* Before any Call: Calls can arrive as soon as the leg is open (A6.1-1). */
	ccp_client_begin(&leg->requester);
	if (rdma_conn_is_closing(conn))
		return;
	leg->config.leg.events->opened(leg->config.leg.arg);
	if (conn->drain_requested && conn->state.now == RDMA_OPEN)
		rdma_conn_set_state(conn, RDMA_DRAINING);
	requester_kick(&leg->requester);
}

void version_probe_open(struct rdma_leg *leg)
{
	struct rdma_conn *conn = &leg->conn;

	if (conn->state.now != RDMA_PROBING)
		return;
	loop_timer_clear(conn->fabric->loop, leg->probe_timer);
	(void)control_msgs_answered(&conn->control, conn->negotiation.probe_xid);
	rdma_conn_update_limits(conn);
	rdma_conn_set_state(conn, RDMA_OPEN);
	open_leg(leg);
}

/* The server did not answer, or it rejected the probe and has kept the connection. */
static void on_timer(void *arg)
{
	struct rdma_leg *leg = arg;
	struct rdma_conn *conn = &leg->conn;

	if (conn->state.now != RDMA_PROBING)
		return;
	if (conn->negotiation.stage == NEGOTIATION_PROBING) {
		negotiation_timed_out(&conn->negotiation);
		rdma_conn_note(conn, "no response to version two: falling back to version one");
		remember(conn);
	}
	version_probe_open(leg);
}

static bool ensure_options(struct rdma_leg *leg)
{
	if (!leg->options)
		leg->options = optional_msgs_new(&leg->requester, &leg->responder);
	if (!leg->options)
		rdma_conn_fail(&leg->conn, LEG_CLOSE_RESOURCES,
			       "no memory for the characteristics of version two");
	return leg->options;
}

void version_probe_begin(struct rdma_leg *leg)
{
	struct rdma_conn *conn = &leg->conn;

	if (conn->state.now != RDMA_PROBING) {
		open_leg(leg);
		return;
	}
	if (!ensure_options(leg))
		return;
	leg->probe_timer = loop_timer_new(conn->fabric->loop, on_timer, leg);
	if (!leg->probe_timer) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a timer");
		return;
	}
	loop_timer_set(conn->fabric->loop, leg->probe_timer, VERSION_PROBE_SILENCE_US);
	negotiation_probe(&conn->negotiation, optional_msgs_send_first_init(leg->options));
}

void version_probe_message_received(struct rdma_leg *leg, const struct rpcrdma_header *hdr)
{
	struct rdma_conn *conn = &leg->conn;

	if (conn->negotiation.stage == NEGOTIATION_SETTLED ||
	    !negotiation_message_received(&conn->negotiation, hdr->vers))
		return;
	rdma_conn_setup_version_found(conn);
	if (conn->limits.dialect->options)
		forget(conn);
	else
		remember(conn);
}

/*
 * Settles the highest common version after an ERR_VERS, or fails the connection and returns false.
 */
static bool use_common_version(struct rdma_conn *conn, const struct rpcrdma_header *hdr)
{
	bool common = negotiation_rejected(&conn->negotiation, hdr->vers_low, hdr->vers_high);

	if (!common)
		rdma_conn_fail(conn, LEG_CLOSE_VERSION, "the peer speaks versions %u to %u",
			       hdr->vers_low, hdr->vers_high);
	return common;
}

bool version_probe_rejected(struct rdma_leg *leg, const struct rpcrdma_header *hdr)
{
	struct rdma_conn *conn = &leg->conn;

	if (conn->negotiation.stage != NEGOTIATION_PROBING ||
	    hdr->xid != conn->negotiation.probe_xid)
		return false;
	conn->counters->err_vers_received++;
	if (!use_common_version(conn, hdr))
		return true;
	rdma_conn_setup_version_found(conn);
	if (!conn->limits.dialect->options) {
		rdma_conn_note(conn, "server rejected version two: using version one");
		remember(conn);
	}
	loop_timer_set(conn->fabric->loop, leg->probe_timer, VERSION_PROBE_GRACE_US);
	return true;
}

bool version_probe_use_common(struct rdma_conn *conn, const struct rpcrdma_header *hdr)
{
	/* The server does not support version one, unlike its entry in the cache. */
	if (hdr->vers_low > conn->limits.dialect->version)
		forget(conn);
	if (!use_common_version(conn, hdr))
		return false;
	rdma_conn_update_limits(conn);
	return true;
}

void version_probe_option(struct rdma_leg *leg, const struct rpcrdma_header *hdr)
{
	if (responder_is_flooded(&leg->responder) || !ensure_options(leg))
		return;
	optional_msgs_receive(leg->options, hdr);
	requester_kick(&leg->requester);
}

void version_probe_ended(struct rdma_leg *leg)
{
	if (leg->conn.state.now == RDMA_PROBING)
		remember(&leg->conn);
}

void version_probe_fini(struct rdma_leg *leg)
{
	loop_timer_free(leg->conn.fabric->loop, leg->probe_timer);
	optional_msgs_free(leg->options);
}
