/* SPDX-License-Identifier: BSD-3-Clause */
/* A verbs endpoint's set-up: connecting, and accepting. */
#ifndef FABRIC_VERBS_SETUP_H
#define FABRIC_VERBS_SETUP_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_connect - fabric_connect(). */
int verbs_connect(struct fabric *fabric, const struct sockaddr *addr,
		  const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		  void *arg, struct fabric_ep **out);
/** verbs_adopt - fabric_adopt(). */
int verbs_adopt(struct fabric *fabric, struct fabric_incoming *in,
		const struct fabric_ep_events *events, void *arg, struct fabric_ep **out);
/** verbs_accept - fabric_ep_accept(). */
int verbs_accept(struct fabric_ep *ep, const struct fabric_ep_params *params);
/** verbs_reject - fabric_ep_reject(). */
void verbs_reject(struct fabric_ep *ep, const void *private_data, size_t len_bytes);
/** verbs_ep_free - fabric_ep_free(). */
void verbs_ep_free(struct fabric_ep *ep);

/** verbs_setup_addr - the connection manager has found the device: RDMA_CM_EVENT_ADDR_RESOLVED. */
void verbs_setup_addr(struct verbs_ep *ep);
/**
 * verbs_setup_retry - ask for the address or the route again that @event says was not found
 *
 * Only what got no answer in time is asked for again, while the set-up has time. Returns false if it is not.
 */
bool verbs_setup_retry(struct verbs_ep *ep, const struct rdma_cm_event *event) MUST_CHECK;
/** verbs_setup_route - and the way: RDMA_CM_EVENT_ROUTE_RESOLVED. */
void verbs_setup_route(struct verbs_ep *ep);
/** verbs_setup_response - and the peer, which waits for us: RDMA_CM_EVENT_CONNECT_RESPONSE. */
void verbs_setup_response(struct verbs_ep *ep, const struct rdma_conn_param *conn);
/** verbs_setup_error - why a connection cannot be made, by the errno that says so. */
enum fabric_close verbs_setup_error(const struct verbs_ep *ep, int error);
/** verbs_setup_connected - and the peer: RDMA_CM_EVENT_ESTABLISHED. */
void verbs_setup_connected(struct verbs_ep *ep, const struct rdma_conn_param *conn);

#endif
