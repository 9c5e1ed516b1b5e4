/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timeout for a grant of zero (draft03, A3.3-11). After such a grant Calls wait until the server grants more; without a
 * timeout a server could block them for the life of the connection.
 *
 * While a grant of zero blocks queued Calls, a Reply must arrive within stall_timeout_us. A Reply with a higher grant
 * releases the Calls, a Reply that grants zero restarts the timeout, and after the last Call in flight zero counts as
 * one. If none arrives the connection closes for LEG_CLOSE_CALL_STALLED, like a connection to a TCP server that stops
 * receiving Calls.
 *
 * The timer is created when a grant of zero first blocks a Call.
 */
#ifndef RPCRDMA_DRAFT03_REQUESTER_ZERO_H
#define RPCRDMA_DRAFT03_REQUESTER_ZERO_H

#include "rpcrdma/requester_rpc.h"

/**
 * requester_zero_watch - Starts the timeout if a grant of zero blocks queued Calls. Call it after a grant of zero, and
 * after the first Call is queued.
 */
void requester_zero_watch(struct requester *rq);
/** requester_zero_end - Stops the timer, because the connection is closing. */
void requester_zero_end(struct requester *rq);
/** requester_zero_fini - Frees the timer; accepts an object without one. */
void requester_zero_fini(struct requester *rq);

#endif
