/* SPDX-License-Identifier: BSD-3-Clause */
/* A verbs endpoint's queue pair and completion queue. */
#ifndef FABRIC_VERBS_QP_H
#define FABRIC_VERBS_QP_H

#include "fabric/verbs/verbs_priv.h"

/**
 * verbs_port_learn - find out what the port of an endpoint is, whose device is known
 *
 * Sets its longest transfer, its link layer and the ACK timeout; a route is resolved with that.
 */
void verbs_port_learn(struct verbs_ep *ep);
/** verbs_qp_open - completion queue, queue pair and receives, as the parameters say. 0 or negative errno. */
int verbs_qp_open(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_qp_ready - before accepting, or when the peer has accepted: the queue pair may be used
 *
 * Does nothing over iWARP. Returns 0 or a negative errno.
 */
int verbs_qp_ready(struct verbs_ep *ep) MUST_CHECK;
/** verbs_qp_destroy - the queue pair alone; no buffer and no key can be touched by the device any more. */
void verbs_qp_destroy(struct verbs_ep *ep);
/** verbs_qp_close - destroy them; nothing of this endpoint is touched by the device any more. */
void verbs_qp_close(struct verbs_ep *ep);

#endif
