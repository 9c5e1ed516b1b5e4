/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RDMA leg: RPC-over-RDMA on one fabric endpoint, requester and responder at once.
 *
 * The end that connected is the client: its requester carries the forward Calls, with chunks; its
 * responder takes reverse Calls, inline only (RFC 8167), but in version two where both ends say that they take more
 * . The end that accepted is the mirror image.
 * Calls and Replies are told apart by rdma_proc and the RPC message's type; each direction has its
 * own credits and XIDs.
 */
#ifndef RPCRDMA_RDMA_LEG_H
#define RPCRDMA_RDMA_LEG_H

#include <sys/socket.h>

#include "base/compiler.h"
#include "fabric/fabric.h"
#include "rpcrdma/rdma_config.h"

/**
 * rdma_leg_connect - make a leg that connects
 * @fabric: the worker's fabric
 * @addr:   the server
 * @config: copied, but for what it points to
 *
 * opened() or closed() follows. Returns 0, -ENOMEM or the fabric's errno.
 */
int rdma_leg_connect(const struct rdma_leg_config *config, struct fabric *fabric,
		     const struct sockaddr *addr, struct leg **out) MUST_CHECK;

/**
 * rdma_leg_adopt - make a leg from an accepted connection
 * @in: taken, also on failure
 *
 * requested() follows, and leg_accept() or leg_close() is due after it.
 */
int rdma_leg_adopt(const struct rdma_leg_config *config, struct fabric *fabric,
		   struct fabric_incoming *in, struct leg **out) MUST_CHECK;

/**
 * rdma_leg_reply_room - what a leg that connects may take for the Reply to a Call that it is given
 * @inline_threshold_bytes, @config_protocol: as in its configuration
 * @recv_max_bytes:         the largest that its receives may become; 0: they stay as they are, in version one
 */
struct reply_room rdma_leg_reply_room(uint32_t inline_threshold_bytes, bool config_protocol,
				      uint32_t recv_max_bytes);

/**
 * rdma_leg_receives_bytes - what the receives come to that a leg may post, for its Calls and the peer's, and in reserve
 * @credits, @inline_threshold_bytes, @config_protocol: as in its configuration
 */
size_t rdma_leg_receives_bytes(uint32_t credits, uint32_t inline_threshold_bytes,
			       bool config_protocol);

/**
 * rdma_leg_beside_bytes - what a leg can come to hold that no claim covers
 * @accepted: its peer is a client
 * @lends:    … to which Replies may be lent
 * @credits, @inline_threshold_bytes, @config_protocol: as in its configuration
 *
 * Receives, the headers and short bodies of Sends, for each Call of the peer its small objects and what is kept of its
 * chunks, and reverse Calls with their Replies. Of a Reply that is lent the same objects and another receive.
 */
size_t rdma_leg_beside_bytes(bool accepted, bool lends, uint32_t credits,
			     uint32_t inline_threshold_bytes, bool config_protocol);
/** rdma_leg_lent_bytes - the same of what a leg that connects keeps besides of Replies that are lent to it. */
size_t rdma_leg_lent_bytes(uint32_t credits, uint32_t inline_threshold_bytes, bool config_protocol);

#endif
