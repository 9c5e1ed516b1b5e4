// SPDX-License-Identifier: BSD-3-Clause
/* The inline limit of one direction: the least of its sources. */
#include "rpcrdma/inline_limit.h"

#include <assert.h>

#include "base/least.h"
#include "rpcrdma/private_data.h"

/* Private data count in units of 1024 bytes. */
static uint32_t in_units(uint32_t bytes)
{
	if (bytes < RPCRDMA_INLINE_MIN)
		return RPCRDMA_INLINE_MIN;
	return least(bytes, RPCRDMA_INLINE_MAX) / 1024 * 1024;
}

void inline_limit_init(struct inline_limit *limit, uint32_t own_bytes, uint32_t profile_bytes)
{
	*limit = (struct inline_limit){
		.own_bytes = in_units(own_bytes),
		.profile_bytes = profile_bytes ? in_units(profile_bytes) : UINT32_MAX,
	};
}

uint32_t inline_limit_offer(const struct inline_limit *limit)
{
	return least(limit->own_bytes, limit->profile_bytes);
}

void inline_limit_peer(struct inline_limit *limit, uint32_t peer_bytes)
{
	assert(peer_bytes >= RPCRDMA_INLINE_MIN);
	limit->peer_bytes = peer_bytes;
}

uint32_t inline_limit_agreed(const struct inline_limit *limit, uint32_t floor_bytes)
{
	return least(most(inline_limit_offer(limit), floor_bytes),
		     most(limit->peer_bytes, floor_bytes));
}
