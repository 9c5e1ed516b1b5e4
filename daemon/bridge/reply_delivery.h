/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the delivery time of a Reply: from the end of the RPC in the proxy until the client has
 * received the Reply.
 *
 * An RDMA peer has the Reply when the work requests that carry it have completed. Then the exchange
 * ends.
 *
 * For a TCP peer this module asks the socket how much is not acknowledged (SIOCOUTQ): first
 * REPLY_DELIVERY_FIRST_US after the end of the RPC, then at growing intervals. One query covers all
 * Replies of a connection. Usually the next Reply makes the query, without an extra wake-up.
 * Otherwise a timer makes it, for REPLY_DELIVERY_BATCH connections per iteration of the event loop.
 * A Reply that is acknowledged at its first query counts as delivered immediately.
 *
 * A peer can delay its acknowledgement although it has all data. So a Reply also counts as
 * delivered immediately if all of it was sent at the first query and it is acknowledged within
 * REPLY_DELIVERY_ACK_US. A slow client is still measured: while its receive window is full, data
 * are not sent.
 */
#ifndef DAEMON_BRIDGE_REPLY_DELIVERY_H
#define DAEMON_BRIDGE_REPLY_DELIVERY_H

#include "daemon/bridge/bridge_state.h"

/* time until the first query; each later interval is twice as long */
#define REPLY_DELIVERY_FIRST_US 4000u
/* Longest extra delay if no Reply triggers the first query. */
#define REPLY_DELIVERY_LATE_US 12000u
#define REPLY_DELIVERY_ACK_US  200000u /* TCP_DELACK_MAX */
#define REPLY_DELIVERY_BATCH   64u     /* queries of the timer in one iteration */
/* Maximum of waiting RPCs, per service and worker; others count as delivered immediately. */
#define REPLY_DELIVERY_MAX   4096u
#define REPLY_DELIVERY_BLOCK 64u /* waiting RPCs whose memory is allocated together */

/** reply_delivery_init - Initializes the bridge; before the first Call of either side. */
void reply_delivery_init(struct bridge *bridge);
/**
 * reply_delivery_track - Tracks a Call of @side's peer to its end, and counts it for the service.
 */
static inline void reply_delivery_track(struct bridge_side *side, struct exchange *x)
{
	x->hook = &side->hook;
	exchange_stage_enter(x, CALL_STAGE_CREDIT, loop_now_us(bridge_loop(side->bridge)));
}
/**
 * reply_delivery_client_closing - Counts all waiting Replies as delivered now, because the client
 * leg closes.
 */
void reply_delivery_client_closing(struct bridge *bridge);
/**
 * reply_delivery_oldest - Finds the oldest Reply that the TCP client has not acknowledged.
 * @since_us:  set to the time when it was sent
 * @operation: set to the operation of its Call
 *
 * Returns false if all Replies are acknowledged.
 */
bool reply_delivery_oldest(const struct bridge *bridge, uint64_t *since_us,
			   enum nfs_operation *operation);
/**
 * reply_delivery_fini - Frees the memory and the timer if the service has no bridge left on this
 * worker.
 */
void reply_delivery_fini(struct worker_service *ws);

#endif
