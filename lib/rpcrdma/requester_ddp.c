// SPDX-License-Identifier: BSD-3-Clause
/*
 * Payloads by RDMA at the requester.
 *
 * A Reply is to be one stretch of memory, but how many bytes come before its payload is known only when it is
 * here. So the payload lands in the middle of a buffer, with room on both sides for all that can come inline:
 *
 *	| headroom | room | payload | room |
 *
 * What came inline is parted where the binding says, and laid before and behind the payload, which never moves.
 */
#include <errno.h>
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/requester_priv.h"

#define SLACK_BYTES XDR_UNIT_BYTES

static bool is_on(const struct rdma_leg *leg)
{
	return (leg->config.ddp || leg->peer->ddp) && leg->config.binding;
}

bool requester_ddp_call(const struct rdma_leg *leg, const struct exchange *x,
			struct rdma_payload *payload)
{
	const struct rdma_binding *binding = leg->config.binding;
	struct rdma_payload found[2];

	if (!is_on(leg) || !binding->call_payloads ||
	    binding->call_payloads(binding->arg, &x->hdr, x->call.data, x->call.len_bytes, found,
				   2) != 1)
		return false;
	/* A position is a multiple of four (A3.4-1), and zero is the whole Call's. */
	if (!found[0].len_bytes || !found[0].offset_bytes ||
	    found[0].offset_bytes % XDR_UNIT_BYTES ||
	    found[0].offset_bytes + xdr_padded_bytes(found[0].len_bytes) > x->call.len_bytes)
		return false;
	*payload = found[0];
	return true;
}

uint32_t requester_reply_ceiling(const struct rdma_leg *leg, const struct exchange *x,
				 uint32_t limit_bytes)
{
	const struct leg_binding *binding = leg->config.leg.binding;

	return binding ? binding->reply_ceiling(binding->arg, &x->hdr, x->call.data,
						x->call.len_bytes, limit_bytes)
		       : x->reply_max_bytes;
}

bool requester_ddp_writes(const struct rdma_leg *leg, const struct exchange *x)
{
	const struct rdma_binding *binding = leg->config.binding;

	return binding->call_writes &&
	       binding->call_writes(binding->arg, &x->hdr, x->call.data, x->call.len_bytes);
}

/* All of a Reply but its payload of up to @bound_bytes. */
static uint64_t rest_bytes(const struct rdma_leg *leg, const struct exchange *x,
			   uint64_t bound_bytes)
{
	uint64_t reply = requester_reply_ceiling(leg, x, x->reply_max_bytes);

	return reply > bound_bytes ? reply - bound_bytes : 0;
}

uint32_t requester_ddp_landing(const struct rdma_leg *leg, const struct exchange *x, void **note)
{
	const struct rdma_binding *binding = leg->config.binding;
	uint32_t bounds[2];
	uint64_t bound, hdr, nsegments;

	if (!is_on(leg) || !binding->result_bounds ||
	    binding->result_bounds(binding->arg, &x->hdr, x->call.data, x->call.len_bytes, bounds,
				   2) != 1)
		return 0;
	/* Rounded up: some servers write the pad, too. */
	bound = xdr_padded_bytes(bounds[0]);
	nsegments = (bound + leg->max_segment_bytes - 1) / leg->max_segment_bytes;
	hdr = RPCRDMA_MIN_HDR_BYTES + 8 + nsegments * RPCRDMA_SEGMENT_BYTES;
	/* The buffer is to be none larger than that of the largest message. */
	if (!bound || bound + 2 * leg->recv_max_bytes > leg->config.leg.max_message_bytes ||
	    hdr + rest_bytes(leg, x, bound) > leg->recv_max_bytes)
		return 0;
	*note = binding->call_note(binding->arg, &x->hdr, x->call.data, x->call.len_bytes);
	return *note ? (uint32_t)bound : 0;
}

int requester_ddp_prepare(struct requester_rpc *rpc)
{
	struct rpc_msg *reply = &rpc->x->reply;
	size_t room = rpc->leg->recv_max_bytes;

	reply->buf =
		buf_get(rpc->leg->config.leg.pool,
			RPC_MSG_HEADROOM + room + rpc->form.landing_bytes + room + SLACK_BYTES);
	if (!reply->buf)
		return -ENOMEM;
	reply->data = reply->buf->mem + RPC_MSG_HEADROOM;
	return 0;
}

uint8_t *requester_ddp_memory(const struct requester_rpc *rpc)
{
	return rpc->x->reply.buf->mem + RPC_MSG_HEADROOM + rpc->leg->recv_max_bytes;
}

bool requester_ddp_take(struct requester_rpc *rpc, const uint8_t *body, uint32_t len_bytes)
{
	if (len_bytes > rpc->leg->recv_max_bytes)
		return false;
	memcpy(rpc->x->reply.data, body, len_bytes);
	rpc->around_bytes = len_bytes;
	return true;
}

/* Whether a payload of @len_bytes is what was written, with its pad or without (A-Δ5). */
static bool is_landed(const struct requester_rpc *rpc, uint32_t len_bytes)
{
	return len_bytes == rpc->landed_bytes ||
	       (rpc->leg->peer->lenient && xdr_padded_bytes(len_bytes) == rpc->landed_bytes);
}

bool requester_ddp_join(struct requester_rpc *rpc)
{
	const struct rdma_binding *binding = rpc->leg->config.binding;
	struct rpc_msg *reply = &rpc->x->reply;
	uint32_t padded = (uint32_t)xdr_padded_bytes(rpc->landed_bytes);
	uint32_t total = rpc->around_bytes + padded;
	uint8_t *at = requester_ddp_memory(rpc);
	struct rdma_payload payload;
	uint32_t before, behind;

	/*
	 * The binding looks for the payload where the bytes behind the inline ones stand for its last ones;
	 * what it is made of does not matter to it.
	 */
	if (binding->reply_payloads(binding->arg, rpc->note, reply->data, total, &payload, 1) !=
		    1 ||
	    payload.offset_bytes > rpc->around_bytes || !is_landed(rpc, payload.len_bytes))
		return false;
	before = payload.offset_bytes;
	behind = rpc->around_bytes - before;
	memset(at + payload.len_bytes, 0, padded - payload.len_bytes);
	memmove(at + padded, reply->data + before, behind);
	memmove(at - before, reply->data, before);
	reply->data = at - before;
	reply->len_bytes = reply->have_bytes = total;
	return true;
}
