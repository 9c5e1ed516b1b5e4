// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/rdma_conn_setup.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/minmax.h"
#include "base/sockaddr.h"
#include "rpcrdma/private_data.h"

static void arm_timer(struct rdma_conn *conn)
{
	uint64_t timeout_us = conn->leg->config->connect_timeout_us;

	if (timeout_us)
		loop_timer_set(conn->fabric->loop, conn->timer, timeout_us);
}

/* The end that connected sends forward Calls and receives reverse Calls. */
void rdma_conn_setup_init(struct rdma_conn *conn)
{
	const struct rdma_leg_config *config = conn->config;
	enum peer_id peer = conn->connector ? config->peer : PEER_AUTO;
	uint32_t forward = config->credits, reverse = RDMA_REVERSE_CREDITS;

	negotiation_init(&conn->negotiation, conn->connector, config->highest_version,
			 config->version_one);
	conn->limits.dialect = conn->negotiation.dialect;
	rdma_conn_peer_found(conn, peer, peer == PEER_AUTO ? "not connected yet" : "as configured");
	inline_threshold_init(&conn->send_limit, config->inline_threshold_bytes,
			      conn->peer->inline_max_bytes);
	inline_threshold_init(&conn->recv_limit, config->inline_threshold_bytes,
			      conn->peer->inline_max_bytes);
	conn->remote_invalidation = config->remote_invalidation && conn->peer->private_data;
	credit_window_init(&conn->window, conn->connector ? forward : reverse);
	credit_grant_init(&conn->grant, RDMA_FIRST_GRANT, conn->connector ? reverse : forward);
	control_msgs_init(&conn->control, conn->connector ? &conn->window : NULL);
}

static void offer(const struct rdma_conn *conn, struct fabric_ep_params *params)
{
	struct rpcrdma_private_data ours = {
		.remote_invalidation = conn->remote_invalidation,
		.send_bytes = inline_threshold_offer(&conn->send_limit),
		.recv_bytes = inline_threshold_offer(&conn->recv_limit),
	};

	rpcrdma_private_data_encode(&ours, params->private_data);
	params->private_data_bytes = RPCRDMA_PRIVATE_DATA_BYTES;
}

/*
 * Returns the most Replies that can be exposed at the same time; the RDMA_DONE of each uses a
 * Receive.
 */
static uint32_t max_exposed_replies(const struct rdma_conn *conn)
{
	bool exposes = !conn->connector && dialect(conn->config->version_one)->read_chunk_replies;

	return exposes ? conn->grant.max : 0;
}

/*
 * Sets the number of Receives, first and largest: all credits of both directions, and the reserve.
 */
static int set_receives(struct rdma_conn *conn, struct fabric_ep_params *params)
{
	conn->recv_size_bytes = rdma_recv_bytes(inline_threshold_offer(&conn->recv_limit),
						negotiation_least_bytes(&conn->negotiation),
						conn->config->config_protocol);
	params->recv_size_bytes = conn->recv_size_bytes;
	params->recv_count = conn->grant.granted + conn->window.granted + RDMA_RECV_RESERVE;
	params->recv_max = conn->grant.max + max_exposed_replies(conn) + conn->window.asked +
			   RDMA_RECV_RESERVE;
	return rdma_conn_first_receives(conn, params->recv_count, params->recv_size_bytes);
}

/*
 * Returns true if this end can post RDMA Reads. A client reads only reverse Calls with chunks,
 * which exist in version two alone, and read-chunk Replies. A server probed for version two
 * can turn out to have version one. A server that uses CONF_RDMA advertises how many Reads it
 * accepts on this connection (A6.2-2); on a connection without Reads it would advertise zero, which
 * forbids sending it anything by read chunk (A6.2-5).
 */
static bool will_read(const struct rdma_conn *conn)
{
	return !conn->connector || conn->negotiation.dialect->read_chunk_replies ||
	       conn->config->config_protocol ||
	       (conn->config->reverse_chunks && negotiation_wants_probe(&conn->negotiation));
}

/* Returns 0 or -ENOMEM. */
static int fill_params(struct rdma_conn *conn, struct fabric_ep_params *params)
{
	/* Peers reject a connection whose ird is 0. */
	*params = (struct fabric_ep_params){.ird = RDMA_READ_DEPTH};
	params->ord = will_read(conn) ? RDMA_READ_DEPTH : 0;
	if (conn->peer->private_data)
		offer(conn, params);
	return set_receives(conn, params);
}

/* Returns the configured source address, or one chosen by the host, with the source port. */
static struct sockaddr_storage source_of(const struct rdma_conn *conn)
{
	struct sockaddr_storage source = conn->config->source;

	if (source.ss_family == AF_UNSPEC && conn->source_port)
		source.ss_family = conn->server.ss_family;
	sockaddr_set_port((struct sockaddr *)&source, conn->source_port);
	return source;
}

static int connect_endpoint(struct rdma_conn *conn, const struct fabric_ep_events *events,
			    void *arg)
{
	struct fabric_ep_params params;
	int rc = fill_params(conn, &params);

	if (rc)
		return rc;
	params.source = source_of(conn);
	params.source_transparent = conn->config->source_transparent;
	params.preface = conn->leg->config->preface;
	params.preface_bytes = conn->leg->config->preface_bytes;
	return fabric_connect(conn->fabric, (const struct sockaddr *)&conn->server, &params, events,
			      arg, &conn->ep);
}

static int connect_from_any_port(struct rdma_conn *conn, const struct fabric_ep_events *events,
				 void *arg)
{
	conn->counters->source_port_retries++;
	conn->source_port = 0;
	return connect_endpoint(conn, events, arg);
}

static bool may_use_another_port(const struct rdma_conn *conn)
{
	return conn->source_port && !conn->config->source_port_only;
}

int rdma_conn_setup_connect(struct rdma_conn *conn, const struct sockaddr *addr,
			    const struct fabric_ep_events *events, void *arg)
{
	int rc;

	memcpy(&conn->server, addr, sockaddr_bytes(addr));
	conn->source_port = conn->config->source_port;
	rc = connect_endpoint(conn, events, arg);
	if (may_use_another_port(conn) &&
	    (rc == -EADDRINUSE || rc == -EADDRNOTAVAIL || rc == -EACCES))
		rc = connect_from_any_port(conn, events, arg);
	if (!rc)
		arm_timer(conn);
	return rc;
}

bool rdma_conn_setup_port_refused(const struct rdma_conn *conn, enum fabric_close why)
{
	return why == FABRIC_CLOSE_PORT && conn->state.now == RDMA_CONNECTING &&
	       may_use_another_port(conn);
}

int rdma_conn_setup_retry(struct rdma_conn *conn, const struct fabric_ep_events *events, void *arg)
{
	struct fabric_ep *before = conn->ep;
	int rc = connect_from_any_port(conn, events, arg);

	/* On failure the old endpoint stays, because its addresses can still be queried. */
	if (!rc)
		fabric_ep_free(before);
	return rc;
}

int rdma_conn_setup_adopt(struct rdma_conn *conn, struct fabric_incoming *in,
			  const struct fabric_ep_events *events, void *arg)
{
	int rc = fabric_adopt(conn->fabric, in, events, arg, &conn->ep);

	if (!rc)
		arm_timer(conn);
	return rc;
}

/*
 * Withdraws the offer of remote invalidation if keys are not per RPC, since RPCs would share them
 * (C3.2-2).
 */
void rdma_conn_setup_resolved(struct rdma_conn *conn, struct fabric_ep_params *params)
{
	struct fabric_ep_info info;

	fabric_ep_info(conn->ep, &info);
	if (info.per_rpc_keys || !conn->remote_invalidation)
		return;
	conn->remote_invalidation = false;
	offer(conn, params);
}

static bool is_long_call_rejected(const struct rdma_conn *conn)
{
	struct peer_cache *memory = conn->config->peer_cache;

	return memory &&
	       peer_cache_rejects_long(memory, conn->config->peer_client, rdma_conn_now_us(conn));
}

/* Finds the quirks of the server from its private data, or the lack of them. */
static void find_peer(struct rdma_conn *conn, const struct rpcrdma_private_data *theirs,
		      bool usable)
{
	if (!usable && is_long_call_rejected(conn))
		rdma_conn_peer_found(conn, PEER_CHIMERA, "refused a long Call not long ago");
	else if (!usable && !dialect(conn->config->version_one)->private_data)
		rdma_conn_peer_found(conn, PEER_AUTO,
				     "sent no usable private data, as all servers of draft03");
	else if (!usable)
		rdma_conn_peer_found(conn, PEER_GANESHA, "sent no usable private data");
	else if (!theirs->remote_invalidation && theirs->send_bytes == theirs->recv_bytes)
		rdma_conn_peer_found(conn, PEER_LINUX, "sent private data as Linux does");
	else
		rdma_conn_peer_found(conn, PEER_AUTO,
				     "its private data show no server with quirks");
}

/* Applies the peer's private data; invalid data leave the defaults (C4.1.1-1, C5.2-2, X-5). */
static void agree(struct rdma_conn *conn, const uint8_t *data, size_t len)
{
	struct rpcrdma_private_data theirs;
	bool usable = rpcrdma_private_data_decode(data, len, &theirs);

	if (!usable)
		conn->counters->private_data_defaults++;
	if (conn->connector && conn->config->peer == PEER_AUTO)
		find_peer(conn, &theirs, usable);
	inline_threshold_set_peer(&conn->send_limit, theirs.recv_bytes);
	inline_threshold_set_peer(&conn->recv_limit, theirs.send_bytes);
	conn->may_invalidate = conn->remote_invalidation && theirs.remote_invalidation;
	conn->peer_sent_private_data = usable;
	conn->theirs = theirs;
}

/*
 * Offers remote invalidation only if the device supports it: this end, as the server, sends it
 * (C3.2-1).
 */
static void offer_what_it_sends(struct rdma_conn *conn)
{
	struct fabric_ep_info info;

	fabric_ep_info(conn->ep, &info);
	conn->remote_invalidation = conn->remote_invalidation && info.sends_invalidate;
}

bool rdma_conn_setup_requested(struct rdma_conn *conn, const uint8_t *private_data,
			       size_t len_bytes)
{
	if (conn->state.now != RDMA_INCOMING)
		return false;
	offer_what_it_sends(conn);
	rdma_conn_set_state(conn, RDMA_REQUESTED);
	loop_timer_clear(conn->fabric->loop, conn->timer);
	agree(conn, private_data, len_bytes);
	return true;
}

void rdma_conn_setup_accept(struct rdma_conn *conn)
{
	struct fabric_ep_params params;

	if (conn->state.now != RDMA_REQUESTED)
		return;
	if (fill_params(conn, &params)) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for receives");
		return;
	}
	rdma_conn_set_state(conn, RDMA_ACCEPTING);
	arm_timer(conn);
	if (fabric_ep_accept(conn->ep, &params))
		rdma_conn_fail(conn, LEG_CLOSE_LOST, "the peer disconnected before accept");
}

static void limit_segments(struct rdma_conn *conn, uint32_t key_bytes)
{
	uint32_t own_max = conn->config->max_segment_bytes;
	uint32_t peer_max = conn->peer->segment_max_bytes;

	conn->max_segment_bytes = key_bytes;
	if (own_max)
		conn->max_segment_bytes = min_u32(own_max, conn->max_segment_bytes);
	if (peer_max)
		conn->max_segment_bytes = min_u32(peer_max, conn->max_segment_bytes);
}

void rdma_conn_setup_version_found(struct rdma_conn *conn)
{
	struct fabric_ep_info info;

	rdma_conn_update_limits(conn);
	if (!conn->connector || !conn->limits.dialect->options || conn->config->peer != PEER_AUTO)
		return;
	/* No server with quirks speaks version two. */
	rdma_conn_peer_found(conn, PEER_AUTO, "speaks version two");
	fabric_ep_info(conn->ep, &info);
	limit_segments(conn, info.max_key_bytes);
}

/*
 * Returns true if this end accepts remote invalidation (B3.2-1). The accepting end does so for
 * reverse chunks only.
 */
static bool accepts_invalidation(const struct rdma_conn *conn, const struct fabric_ep_info *info)
{
	const struct rdma_leg_config *config = conn->config;

	if (conn->connector)
		return conn->remote_invalidation;
	return config->remote_invalidation && config->reverse_chunks && info->per_rpc_keys;
}

static void learn_endpoint(struct rdma_conn *conn)
{
	struct fabric_ep_info info;

	fabric_ep_info(conn->ep, &info);
	conn->ird = info.ird;
	conn->ord = info.ord;
	conn->sends_invalidate = info.sends_invalidate;
	conn->accepts_invalidation = accepts_invalidation(conn, &info);
	conn->deferred_reads = info.deferred_reads;
	conn->max_sge = info.max_sge ? info.max_sge : FABRIC_MAX_SGE;
	conn->max_transfer_bytes = info.max_transfer_bytes ? info.max_transfer_bytes : UINT32_MAX;
	limit_segments(conn, info.max_key_bytes);
}

bool rdma_conn_setup_established(struct rdma_conn *conn, const uint8_t *private_data,
				 size_t len_bytes)
{
	if (conn->state.now != RDMA_CONNECTING && conn->state.now != RDMA_ACCEPTING)
		return false;
	if (conn->connector)
		agree(conn, private_data, len_bytes);
	loop_timer_clear(conn->fabric->loop, conn->timer);
	learn_endpoint(conn);
	rdma_conn_update_limits(conn);
	rdma_conn_set_state(conn,
			    negotiation_wants_probe(&conn->negotiation) ? RDMA_PROBING : RDMA_OPEN);
	return true;
}
