// SPDX-License-Identifier: BSD-3-Clause
/* The format: identifier, version, flags and two sizes in units of 1024 (RFC 8797 section 4). */
#include "rpcrdma/private_data.h"

#include <assert.h>

#include "base/minmax.h"
#include "rpc/xdr.h"
#include "rpcrdma/proto.h"

#define FORMAT_IDENTIFIER 0xf6ab0e18u
#define FORMAT_VERSION    1u
/* "bit 15" in the document; the others are reserved (C5.1-2) */
#define FLAG_REMOTE_INVALIDATE 0x01u
#define SIZE_UNIT_BYTES        1024u

/* Rounds a size to a value that private data can express, in its units. */
static uint32_t in_units(uint32_t size_bytes)
{
	return min_u32(max_u32(size_bytes, RPCRDMA_INLINE_MIN), RPCRDMA_INLINE_MAX) /
	       SIZE_UNIT_BYTES;
}

static uint8_t encode_size(uint32_t size_bytes)
{
	return (uint8_t)(in_units(size_bytes) - 1);
}

static uint32_t decode_size(uint8_t value)
{
	return ((uint32_t)value + 1) * SIZE_UNIT_BYTES;
}

/*
 * Returns the eight octets, or NULL: at the beginning if the identifier is there, in any version;
 * otherwise after data that a library or another layer put first.
 */
static const uint8_t *find_format(const uint8_t *data, size_t len)
{
	if (len < RPCRDMA_PRIVATE_DATA_BYTES)
		return NULL;
	if (be32_get(data) == FORMAT_IDENTIFIER)
		return data[4] == FORMAT_VERSION ? data : NULL;
	for (size_t at = 1; at <= len - RPCRDMA_PRIVATE_DATA_BYTES; at++)
		if (be32_get(data + at) == FORMAT_IDENTIFIER && data[at + 4] == FORMAT_VERSION)
			return data + at;
	return NULL;
}

bool rpcrdma_private_data_decode(const uint8_t *data, size_t len, struct rpcrdma_private_data *pd)
{
	pd->remote_invalidation = false;
	pd->send_bytes = RPCRDMA_DEFAULT_INLINE;
	pd->recv_bytes = RPCRDMA_DEFAULT_INLINE;
	/*
	 * Another version counts as no data (C4-6); bytes after the eight octets are ignored
	 * (C5-1).
	 */
	data = find_format(data, len);
	if (!data)
		return false;
	pd->remote_invalidation = data[5] & FLAG_REMOTE_INVALIDATE;
	pd->send_bytes = decode_size(data[6]);
	pd->recv_bytes = decode_size(data[7]);
	return true;
}

void rpcrdma_private_data_encode(const struct rpcrdma_private_data *pd,
				 uint8_t to[RPCRDMA_PRIVATE_DATA_BYTES])
{
	be32_put(to, FORMAT_IDENTIFIER);
	to[4] = FORMAT_VERSION;
	to[5] = pd->remote_invalidation ? FLAG_REMOTE_INVALIDATE : 0;
	to[6] = encode_size(pd->send_bytes);
	to[7] = encode_size(pd->recv_bytes);
}

/* ---- limits ---- */

void inline_threshold_init(struct inline_threshold *limit, uint32_t own_bytes,
			   uint32_t profile_bytes)
{
	*limit = (struct inline_threshold){
		.own_bytes = in_units(own_bytes) * SIZE_UNIT_BYTES,
		.profile_bytes =
			profile_bytes ? in_units(profile_bytes) * SIZE_UNIT_BYTES : UINT32_MAX,
	};
}

uint32_t inline_threshold_offer(const struct inline_threshold *limit)
{
	return min_u32(limit->own_bytes, limit->profile_bytes);
}

void inline_threshold_set_peer(struct inline_threshold *limit, uint32_t peer_bytes)
{
	assert(peer_bytes >= RPCRDMA_INLINE_MIN);
	limit->peer_bytes = peer_bytes;
}

uint32_t inline_threshold_agreed(const struct inline_threshold *limit, uint32_t floor_bytes)
{
	return min_u32(max_u32(inline_threshold_offer(limit), floor_bytes),
		       max_u32(limit->peer_bytes, floor_bytes));
}
