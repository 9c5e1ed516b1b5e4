/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans, creates and destroys the queue pair of a verbs endpoint. */
#ifndef FABRIC_VERBS_QP_H
#define FABRIC_VERBS_QP_H

#include "fabric/verbs/verbs_ep.h"

#define VERBS_SQ_DEPTH 256u /* posted work requests; further ones wait in a list of the endpoint */

/**
 * verbs_port_learn - Queries the port of an endpoint whose device is known; on the device's thread.
 *
 * Sets ep->port, all zero if the device does not report it, and the ACK timeout, which resolving
 * the route uses.
 */
void verbs_port_learn(struct verbs_ep *ep);
/**
 * verbs_qp_plan - Chooses the sizes of its queues, and reserves entries of a completion queue for
 * them.
 *
 * Returns 0, -ENOSPC if the device does not allow these sizes, or -ENOMEM.
 */
int verbs_qp_plan(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_qp_create - Creates the planned queue pair and its completion queue; on the device's
 * thread. Returns 0 or a negative errno.
 */
int verbs_qp_create(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_qp_created - Takes over the objects that were created, even if not all were.
 *
 * Returns 0. If the completion queue is shorter than planned, reserves entries of another one and
 * returns -EAGAIN: verbs_qp_create() must run again. Returns the negative errno of that reservation
 * if it fails.
 */
int verbs_qp_created(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_qp_ready - Moves the queue pair to RTS, before accepting or when the peer has accepted; on
 * the device's thread.
 *
 * Does nothing over iWARP. Returns 0 or a negative errno.
 */
int verbs_qp_ready(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_qp_destroy - Destroys the queue pair, if it was created; not on the loop's thread. The
 * device no longer uses memory of this endpoint after that.
 */
void verbs_qp_destroy(struct verbs_ep *ep);

#endif
