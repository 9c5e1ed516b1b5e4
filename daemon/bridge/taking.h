/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the end of an RPC here to the moment when its client has the Reply.
 *
 * An RDMA peer has it when what carries it has completed, which is the end of the exchange. What a TCP peer has
 * acknowledged is asked of the socket: first a few milliseconds after the end, by when most have, then at growing
 * intervals. One question serves all Replies of a connection. It is asked when another Reply comes by, which wakes
 * nobody; if none does, by a timer, which asks a bounded number of them in a turn of the loop. So a Reply that is found
 * taken by the first question for it counts as taken at once: times below TAKING_FIRST_US are not seen.
 *
 * Who has all and nothing to say may acknowledge it late. So what had left this host by the first question, and is
 * acknowledged within the longest that Linux waits with that, counts as taken at once, too: a client that has no room for it
 * shows by what does not leave.
 */
#ifndef DAEMON_BRIDGE_TAKING_H
#define DAEMON_BRIDGE_TAKING_H

#include "daemon/bridge/bridge_state.h"

#define TAKING_FIRST_US 4000u   /* to the first question; each further interval is twice as long */
#define TAKING_LATE_US  12000u  /* later at most, where no Reply comes by */
#define TAKING_ACK_US   200000u /* TCP_DELACK_MAX */
#define TAKING_SLICE    64u     /* questions of the timer in one turn */
#define TAKING_ENDS                                                                                \
	4096u /* RPCs of a service on one worker that wait; further ones count as taken at once */
#define TAKING_BLOCK 64u /* of these, for which memory is had at once */

/** taking_begin - before the first Call of either side. */
void taking_begin(struct bridge *bridge);
/** taking_watch - follow a Call of @side's peer to its end, and count it for the service. */
static inline void taking_watch(struct bridge_side *side, struct exchange *x)
{
	x->watch = &side->watch;
	exchange_enter(x, CALL_STAGE_CREDIT, loop_now_us(bridge_loop(side->bridge)));
}
/** taking_over - the client's leg closes: what it has not taken, it took until now. */
void taking_over(struct bridge *bridge);
/**
 * taking_oldest - which Reply, of those that are on their way to a TCP client, has been longest
 * @since_us: since when
 *
 * Returns whether there is any.
 */
bool taking_oldest(const struct bridge *bridge, uint64_t *since_us, enum nfs_operation *operation);
/** taking_end - there may be no bridges any more: free what that took. */
void taking_end(struct worker_service *ws);

#endif
