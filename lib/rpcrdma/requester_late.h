/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reverse Calls that are not answered in time (D4.2-1, D4.2-2; RFC 8167 section 5.4): a peer that takes none may drop
 * them without a word, so who sends one has a time limit: reverse_timeout_us from the moment at which it came to this leg,
 * however much of that it was held for want of a credit. So nobody waits for longer, be it the first Call or the last.
 *
 * Its origin then gets the fault, whether it was sent or held. What was sent stays: an exchange that stands in for it
 * has its XID, and all that was lent for it, with the claim for that; its credit and its receive stay taken. So a Reply
 * that comes after all, an RDMA Read or an RDMA Write of the peer find what was offered, and end nothing else: the Reply, or
 * an RDMA_ERROR, is counted and frees all that, as does the end of the connection. There are no more of these than
 * credits that were ever asked for, and no drain waits for one. Without memory for one the connection ends.
 *
 * The time of a Call that is still coming begins anew: it has a time limit of its own, where it comes from.
 *
 * A connection has a timer once it has had a reverse Call. It is set while there are some that are not abandoned, and may
 * be found so once more after the last one.
 */
#ifndef RPCRDMA_REQUESTER_LATE_H
#define RPCRDMA_REQUESTER_LATE_H

#include "rpcrdma/requester.h"

/** requester_late_fini - after requester_late_end(), or when there never was a Call. */
void requester_late_fini(struct requester *rq);
/** requester_late_watch - a reverse Call has come; fails the connection without memory for a timer. */
void requester_late_watch(struct requester *rq);
/** requester_late_end - the connection is over. */
void requester_late_end(struct requester *rq);
/** requester_late_answered - something has answered one that was given up; its grant, if it has one, was obeyed. */
void requester_late_answered(struct requester *rq, struct requester_rpc *rpc);

#endif
