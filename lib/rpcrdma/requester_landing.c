// SPDX-License-Identifier: BSD-3-Clause
/* A Reply whose payload lands by itself, made one message. */
#include "rpcrdma/requester_landing.h"

#include <errno.h>
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/header.h"

#define SLACK_BYTES XDR_UNIT_BYTES

uint32_t requester_landing_room(uint32_t recv_bytes, unsigned nsegments)
{
	uint32_t hdr = RPCRDMA_MIN_HDR_BYTES + RPCRDMA_WRITE_CHUNK_BYTES(nsegments);

	return recv_bytes > hdr ? recv_bytes - hdr : 0;
}

int requester_landing_get(const struct requester_landing *landing, struct pool *pool,
			  struct rpc_msg *reply)
{
	size_t room = landing->room_bytes;

	reply->buf = buf_get(pool,
			     RPC_MSG_HEADROOM + room + landing->payload_bytes + room + SLACK_BYTES);
	if (!reply->buf)
		return -ENOMEM;
	reply->data = reply->buf->mem + RPC_MSG_HEADROOM;
	return 0;
}

uint8_t *requester_landing_memory(const struct requester_landing *landing,
				  const struct rpc_msg *reply)
{
	return reply->buf->mem + RPC_MSG_HEADROOM + landing->room_bytes;
}

bool requester_landing_take(const struct requester_landing *landing, struct rpc_msg *reply,
			    const uint8_t *body, uint32_t len_bytes)
{
	if (len_bytes > landing->room_bytes)
		return false;
	memcpy(reply->data, body, len_bytes);
	return true;
}

void requester_landing_join(const struct requester_landing *landing, struct rpc_msg *reply,
			    uint32_t around_bytes, uint32_t before_bytes, uint32_t payload_bytes,
			    uint32_t padded_bytes)
{
	uint8_t *at = requester_landing_memory(landing, reply);

	memset(at + payload_bytes, 0, padded_bytes - payload_bytes);
	memmove(at + padded_bytes, reply->data + before_bytes, around_bytes - before_bytes);
	memmove(at - before_bytes, reply->data, before_bytes);
	reply->data = at - before_bytes;
	reply->len_bytes = reply->have_bytes = around_bytes + padded_bytes;
}
