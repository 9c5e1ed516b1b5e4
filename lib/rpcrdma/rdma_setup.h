/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting up the connection of an RDMA leg: what is offered, what the peer answers, and what is agreed. */
#ifndef RPCRDMA_RDMA_SETUP_H
#define RPCRDMA_RDMA_SETUP_H

#include "rpcrdma/rdma_conn.h"

#define RDMA_REVERSE_CREDITS 16u /* asked for in reverse Calls, and granted to the peer's at most */
#define RDMA_FIRST_GRANT     16u /* grows with use up to the configured credits */

/** rdma_setup_init - decide what to offer; the connection is initialised already. */
void rdma_setup_init(struct rdma_conn *conn);
/** rdma_setup_connect - connect to @addr; @events are called with @arg. 0 or the fabric's errno. */
int rdma_setup_connect(struct rdma_conn *conn, const struct sockaddr *addr,
		       const struct fabric_ep_events *events, void *arg) MUST_CHECK;
/** rdma_setup_port_refused - whether closed() for @why was about the source port alone: rdma_setup_again() is due. */
bool rdma_setup_port_refused(const struct rdma_conn *conn, enum fabric_close why);
/** rdma_setup_again - connect anew, from any port; not inside of a callback of the endpoint. As rdma_setup_connect(). */
int rdma_setup_again(struct rdma_conn *conn, const struct fabric_ep_events *events,
		     void *arg) MUST_CHECK;
/** rdma_setup_adopt - take over @in, also on failure; the rest as above. */
int rdma_setup_adopt(struct rdma_conn *conn, struct fabric_incoming *in,
		     const struct fabric_ep_events *events, void *arg) MUST_CHECK;
/** rdma_setup_resolved - the fabric's resolved(). */
void rdma_setup_resolved(struct rdma_conn *conn, struct fabric_ep_params *params);
/** rdma_setup_requested - the fabric's requested(). Returns false if nobody is to hear of it. */
bool rdma_setup_requested(struct rdma_conn *conn, const uint8_t *private_data, size_t len_bytes);
/** rdma_setup_accept - accept what was requested; nothing in another state. */
void rdma_setup_accept(struct rdma_conn *conn);
/** rdma_setup_established - the fabric's established(): open, or the version is to be found. False: nobody is to hear of it. */
bool rdma_setup_established(struct rdma_conn *conn, const uint8_t *private_data, size_t len_bytes);

/** rdma_setup_version_found - the version is settled: limits and the server's quirks go by it from now on. */
void rdma_setup_version_found(struct rdma_conn *conn);

#endif
