/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timeout for reverse-direction Calls (D4.2-1, D4.2-2; RFC 8167 section 5.4). A peer that does not
 * support them can drop them silently, so each fails after reverse_timeout_us, counted from
 * leg_call(), including the time spent waiting for a credit.
 *
 * After the timeout the origin gets the fault, whether the Call was sent or still queued. If it was
 * sent, a placeholder exchange keeps its XID, the exposed memory, the claim for that memory, the
 * credit and the Receive. A late Reply, RDMA Read or RDMA Write of the peer is therefore harmless.
 * A late Reply or RDMA_ERROR is counted and releases the placeholder, and so does the end of the
 * connection. The number of placeholders is at most the number of credits requested, and draining
 * does not wait for them. Without memory for a placeholder the connection closes.
 *
 * For an incomplete Call the timeout starts again, because the sender of the Call has its own time
 * limit.
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
