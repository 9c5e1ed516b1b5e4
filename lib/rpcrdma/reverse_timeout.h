/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timeout for reverse Calls (D4.2-1, D4.2-2; RFC 8167 section 5.4), because a peer that does not
 * support them can drop them silently. Each fails reverse_timeout_us after leg_call(), even if it
 * still waits for a credit.
 *
 * The origin gets the fault. If the Call was sent, a placeholder exchange keeps its XID, the
 * exposed memory with its claim, the credit and the Receive. So a late Reply, RDMA Read or RDMA
 * Write of the peer is harmless. A late Reply, an RDMA_ERROR or the end of the connection releases
 * the placeholder. There are at most as many placeholders as credits requested; draining does not
 * wait for them. Without memory for a placeholder the connection closes.
 *
 * For an incomplete Call the timeout starts again: the leg that receives the Call limits its time.
 *
 * The timer is created with the first reverse Call of a connection. It is set while a Call waits,
 * and can expire once more after the last one.
 */
#ifndef RPCRDMA_REVERSE_TIMEOUT_H
#define RPCRDMA_REVERSE_TIMEOUT_H

#include "rpcrdma/requester.h"

/**
 * reverse_timeout_fini - Frees the timer, after reverse_timeout_stop() or if there never was a
 * Call.
 */
void reverse_timeout_fini(struct requester *rq);
/**
 * reverse_timeout_start - Starts the timer for a new reverse Call; fails the connection without
 * memory for a timer.
 */
void reverse_timeout_start(struct requester *rq);
/** reverse_timeout_stop - Stops the timer, because the connection is closing. */
void reverse_timeout_stop(struct requester *rq);
/**
 * reverse_timeout_late_reply - Handles an answer to an abandoned Call; the caller has obeyed its
 * grant.
 */
void reverse_timeout_late_reply(struct requester *rq, struct requester_rpc *rpc);

#endif
