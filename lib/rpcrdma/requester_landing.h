/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the payload of a Reply lands by itself.
 *
 * A Reply is to be one stretch of memory, but how many bytes come before its payload is known only when it is here.
 * So the payload lands in the middle of a buffer, with room on both sides for all that can come inline:
 *
 *	| headroom | room | payload | room |
 *
 * What came inline is parted where the payload belongs (lib/nfs finds that), and laid before and behind the payload,
 * which never moves.
 */
#ifndef RPCRDMA_REQUESTER_LANDING_H
#define RPCRDMA_REQUESTER_LANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "fabric/pool.h"
#include "leg/exchange.h"

struct requester_landing {
	uint32_t room_bytes;    /* the longest that may come inline, as the RPC was planned */
	uint32_t payload_bytes; /* the longest payload */
};

/**
 * requester_landing_room - the longest that comes inline around a payload
 * @recv_bytes: the longest Send, header included
 * @nsegments:  of the write chunk, which comes back in that header
 */
uint32_t requester_landing_room(uint32_t recv_bytes, unsigned nsegments);
/** requester_landing_get - memory for a Reply whose payload lands in it. Returns 0 or -ENOMEM. */
int requester_landing_get(const struct requester_landing *landing, struct pool *pool,
			  struct rpc_msg *reply) MUST_CHECK;
/** requester_landing_memory - where the payload lands. */
uint8_t *requester_landing_memory(const struct requester_landing *landing,
				  const struct rpc_msg *reply);
/** requester_landing_take - keep what came inline, around the payload; false if it has no room. */
bool requester_landing_take(const struct requester_landing *landing, struct rpc_msg *reply,
			    const uint8_t *body, uint32_t len_bytes) MUST_CHECK;
/**
 * requester_landing_join - make one message of it, when nobody can write there any more
 * @around_bytes:                 what was taken
 * @before_bytes:                 what of it comes before the payload
 * @payload_bytes, @padded_bytes: the payload, without and with its pad, which is made here
 */
void requester_landing_join(const struct requester_landing *landing, struct rpc_msg *reply,
			    uint32_t around_bytes, uint32_t before_bytes, uint32_t payload_bytes,
			    uint32_t padded_bytes);

#endif
