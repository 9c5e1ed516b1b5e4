/* SPDX-License-Identifier: BSD-3-Clause */
/* A verbs endpoint's queue pair. */
#ifndef FABRIC_VERBS_QP_H
#define FABRIC_VERBS_QP_H

#include "fabric/verbs/verbs_ep.h"

#define VERBS_SQ_DEPTH 256u /* work requests on a send queue; more wait here */

/**
 * verbs_port_learn - find out what the port of an endpoint is, whose device is known; on the device's thread
 *
 * Sets ep->port, which is all zero if the device does not say, and the ACK timeout; a route is resolved with that.
 */
void verbs_port_learn(struct verbs_ep *ep);
/**
 * verbs_qp_plan - decide how large its queues are to be, and reserve entries of a completion queue for them
 *
 * Returns 0, -ENOSPC if the device has no such, or -ENOMEM.
 */
int verbs_qp_plan(struct verbs_ep *ep) MUST_CHECK;
/** verbs_qp_create - on the device's thread: create a queue pair as planned, and its completion queue. Returns 0 or a negative errno. */
int verbs_qp_create(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_qp_created - take over what was created, all of it or less
 *
 * Returns 0; -EAGAIN if the completion queue became shorter than planned, so that the endpoint got another one and
 * verbs_qp_create() is due again; or another negative errno if it got none.
 */
int verbs_qp_created(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_qp_ready - before accepting, or when the peer has accepted: the queue pair may be used; on the device's thread
 *
 * Does nothing over iWARP. Returns 0 or a negative errno.
 */
int verbs_qp_ready(struct verbs_ep *ep) MUST_CHECK;
/** verbs_qp_destroy - destroy it, if it was created, on another thread; nothing of this endpoint is touched by the device any more. */
void verbs_qp_destroy(struct verbs_ep *ep);

#endif
