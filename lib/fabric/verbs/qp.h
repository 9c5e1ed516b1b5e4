/* SPDX-License-Identifier: BSD-3-Clause */
/* A verbs endpoint's queue pair and completion queue. */
#ifndef FABRIC_VERBS_QP_H
#define FABRIC_VERBS_QP_H

#include "fabric/verbs/verbs_priv.h"

/**
 * verbs_port_learn - find out what the port of an endpoint is, whose device is known; on the device's thread
 *
 * Sets ep->port, which is all zero if the device does not say, and the ACK timeout; a route is resolved with that.
 */
void verbs_port_learn(struct verbs_ep *ep);
/** verbs_qp_plan - decide how large its queues are to be. Returns 0, -ENOSPC if the device has no such, or -ENOMEM. */
int verbs_qp_plan(struct verbs_ep *ep) MUST_CHECK;
/** verbs_qp_create - on the device's thread: create a completion queue and a queue pair as planned. Returns 0 or a negative errno. */
int verbs_qp_create(struct verbs_ep *ep) MUST_CHECK;
/** verbs_qp_created - take over what was created, all of it or less. Returns 0, or -EIO if it is of no use. */
int verbs_qp_created(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_qp_ready - before accepting, or when the peer has accepted: the queue pair may be used; on the device's thread
 *
 * Does nothing over iWARP. Returns 0 or a negative errno.
 */
int verbs_qp_ready(struct verbs_ep *ep) MUST_CHECK;
/** verbs_qp_destroy - destroy both, on another thread; nothing of this endpoint is touched by the device any more. */
void verbs_qp_destroy(struct verbs_ep *ep);

#endif
