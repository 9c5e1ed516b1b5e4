/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets up the connection of an RDMA leg: what this end offers, what the peer answers, and the
 * limits that result.
 */
#ifndef RPCRDMA_RDMA_CONN_SETUP_H
#define RPCRDMA_RDMA_CONN_SETUP_H

#include "rpcrdma/rdma_conn.h"

/* requested for reverse Calls, and the most granted for the peer's */
#define RDMA_REVERSE_CREDITS 16u
#define RDMA_FIRST_GRANT     16u /* grows with use up to the configured credits */

/** rdma_conn_setup_init - Decides what to offer; the connection is already initialized. */
void rdma_conn_setup_init(struct rdma_conn *conn);
/**
 * rdma_conn_setup_connect - Connects to @addr; @events are called with @arg. Returns 0 or the
 * fabric's errno.
 */
int rdma_conn_setup_connect(struct rdma_conn *conn, const struct sockaddr *addr,
			    const struct fabric_ep_events *events, void *arg) MUST_CHECK;
/**
 * rdma_conn_setup_port_refused - Returns true if only the source port caused closed() for @why:
 * call rdma_conn_setup_retry().
 */
bool rdma_conn_setup_port_refused(const struct rdma_conn *conn, enum fabric_close why);
/**
 * rdma_conn_setup_retry - Connects again, from any port; returns as rdma_conn_setup_connect(). Do
 * not call it from a callback of the endpoint.
 */
int rdma_conn_setup_retry(struct rdma_conn *conn, const struct fabric_ep_events *events,
			  void *arg) MUST_CHECK;
/**
 * rdma_conn_setup_adopt - Takes over @in, also on failure; arguments and result are those of
 * rdma_conn_setup_connect().
 */
int rdma_conn_setup_adopt(struct rdma_conn *conn, struct fabric_incoming *in,
			  const struct fabric_ep_events *events, void *arg) MUST_CHECK;
/** rdma_conn_setup_resolved - Handles the fabric's resolved(). */
void rdma_conn_setup_resolved(struct rdma_conn *conn, struct fabric_ep_params *params);
/**
 * rdma_conn_setup_requested - Handles the fabric's requested(). Returns false if the connection is
 * in another state.
 */
bool rdma_conn_setup_requested(struct rdma_conn *conn, const uint8_t *private_data,
			       size_t len_bytes);
/** rdma_conn_setup_accept - Accepts the requested connection; does nothing in other states. */
void rdma_conn_setup_accept(struct rdma_conn *conn);
/**
 * rdma_conn_setup_established - Handles the fabric's established(): opens, or starts to probe the
 * version. Returns false if the connection is in another state.
 */
bool rdma_conn_setup_established(struct rdma_conn *conn, const uint8_t *private_data,
				 size_t len_bytes);

/** rdma_conn_setup_version_found - Applies the settled version to limits and quirks. */
void rdma_conn_setup_version_found(struct rdma_conn *conn);

#endif
