/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time limit for a grant of zero (draft03, A3.3-11): Calls wait then until the server grants more, and a server that never
 * does would hold them, and all Calls behind them, for the life of the connection.
 *
 * While Calls are held by a grant of zero, some Reply must come within stall_timeout_us: one with a higher grant sends
 * them, one that grants zero starts the time again, and after the last one in flight zero counts as one. Otherwise the
 * connection closes for LEG_CLOSE_CALL_STALLED, as one to a TCP server that takes no Calls does.
 *
 * A connection has a timer once a grant of zero has held a Call.
 */
#ifndef RPCRDMA_DRAFT03_REQUESTER_ZERO_H
#define RPCRDMA_DRAFT03_REQUESTER_ZERO_H

#include "rpcrdma/requester_rpc.h"

/** requester_zero_watch - a grant of zero has come, or a Call is held and was none before: start the time if both hold. */
void requester_zero_watch(struct requester *rq);
/** requester_zero_end - the connection is over: the timer does nothing any more. */
void requester_zero_end(struct requester *rq);
/** requester_zero_fini - free the timer; accepts one that never had any. */
void requester_zero_fini(struct requester *rq);

#endif
