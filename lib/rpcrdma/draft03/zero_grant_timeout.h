/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timeout for a grant of zero (draft03, A3.3-11). After such a grant Calls wait until the server
 * grants more; without a timeout a server could block them for the life of the connection.
 *
 * While a grant of zero blocks queued Calls, a Reply must arrive within stall_timeout_us. A Reply
 * with a higher grant releases the Calls. A Reply that grants zero restarts the timeout. When no
 * Call is in flight, zero counts as one. If no Reply arrives the connection closes for
 * LEG_CLOSE_CALL_STALLED, like a connection to a TCP server that stops receiving Calls.
 *
 * The timer is created when a grant of zero first blocks a Call.
 */
#ifndef RPCRDMA_DRAFT03_ZERO_GRANT_TIMEOUT_H
#define RPCRDMA_DRAFT03_ZERO_GRANT_TIMEOUT_H

#include "rpcrdma/requester_rpc.h"

/**
 * zero_grant_timeout_start - Starts the timeout if a grant of zero blocks queued Calls. Call it
 * after a grant of zero, and after the first Call is queued.
 */
void zero_grant_timeout_start(struct requester *rq);
/** zero_grant_timeout_stop - Stops the timer, because the connection is closing. */
void zero_grant_timeout_stop(struct requester *rq);
/** zero_grant_timeout_fini - Frees the timer; accepts an object without one. */
void zero_grant_timeout_fini(struct requester *rq);

#endif
