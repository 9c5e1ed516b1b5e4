// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/memory_bound.h"

#include "base/minmax.h"
#include "fabric/coverage.h"
#include "rpcrdma/draft03/requester_read_reply.h"
#include "rpcrdma/draft03/responder_read_reply.h"
#include "rpcrdma/proto.h"
#include "rpcrdma/rdma_config.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/rdma_conn_setup.h"
#include "rpcrdma/requester_rpc.h"
#include "rpcrdma/responder.h"
#include "rpcrdma/work_request.h"

/* For any version. */
static uint32_t first_recv_bytes(const struct memory_bound_params *sizes)
{
	return rdma_recv_bytes(sizes->inline_threshold_bytes, RPCRDMA_DEFAULT_INLINE_TWO,
			       sizes->config_protocol);
}

unsigned memory_bound_recvs(const struct memory_bound_params *sizes)
{
	return sizes->credits + RDMA_REVERSE_CREDITS + RDMA_RECV_RESERVE;
}

size_t memory_bound_recvs_bytes(const struct memory_bound_params *sizes)
{
	return memory_bound_recvs(sizes) * buf_pool_class_bytes(first_recv_bytes(sizes));
}

/*
 * Returns the memory for reverse Calls: received short ones with Replies, or what sent ones keep
 * after a timeout.
 */
static size_t reverse_bytes(const struct memory_bound_params *sizes)
{
	size_t extra_bytes = 0, messages = 0;

	if (!sizes->accepted) {
		messages = rpc_msg_cost_bytes(rdma_reverse_free_bytes(first_recv_bytes(sizes)));
	} else {
		extra_bytes = EXCHANGE_OVERHEAD_BYTES;
		messages = sizes->reverse_chunks ? rpc_msg_cost_bytes(REVERSE_FREE_BYTES) : 0;
	}
	return RDMA_REVERSE_CREDITS * (extra_bytes + 2 * messages);
}

/*
 * Returns the memory for read-chunk Replies: on the accepting end a Receive and an RPC for each
 * RDMA_DONE, on the connecting end the kept part of each Reply being read.
 */
static size_t read_reply_bytes(const struct memory_bound_params *sizes)
{
	uint32_t recv_bytes = first_recv_bytes(sizes);

	if (!sizes->read_chunk_replies)
		return 0;
	if (!sizes->accepted)
		return sizes->credits * requester_read_reply_cost_bytes(recv_bytes) +
		       work_request_cost_bytes(RDMA_READ_DEPTH);
	return sizes->credits * (buf_pool_class_bytes(recv_bytes) +
				 sizeof(struct responder_read_reply) + EXCHANGE_OVERHEAD_BYTES +
				 2 * (size_t)min_u32(recv_bytes, RPCRDMA_LONGEST_HDR_BYTES));
}

/*
 * Returns the memory that records the written parts of Replies, for peers that write out of order.
 */
static size_t gaps_bytes(const struct memory_bound_params *sizes)
{
	size_t calls = sizes->accepted ? RDMA_REVERSE_CREDITS : sizes->credits;

	return calls * COVERAGE_MAX_BYTES;
}

size_t memory_bound_uncharged_bytes(const struct memory_bound_params *sizes)
{
	uint32_t recv_bytes = first_recv_bytes(sizes);
	uint32_t send_bytes =
		min_u32(recv_bytes, RPCRDMA_LONGEST_HDR_BYTES + WORK_REQUEST_COPY_MAX_BYTES);
	size_t header_bytes = min_u32(recv_bytes, RPCRDMA_LONGEST_HDR_BYTES);
	size_t sends = RESPONDER_SENDS_EXTRA + 2 * (size_t)sizes->credits + RDMA_REVERSE_CREDITS;
	size_t calls = sizes->accepted ? sizes->credits : RDMA_REVERSE_CREDITS;

	/* The kept part of a Call's chunk lists is at most twice as long as its header. */
	return memory_bound_recvs_bytes(sizes) + sends * buf_pool_class_bytes(send_bytes) +
	       calls * (EXCHANGE_OVERHEAD_BYTES + 2 * header_bytes) + read_reply_bytes(sizes) +
	       reverse_bytes(sizes) + gaps_bytes(sizes);
}

/* A Reply that fits into the smallest Receive that a peer can advertise never gets a chunk. */
struct reply_memory memory_bound_reply(const struct memory_bound_params *sizes)
{
	uint32_t recv =
		max_u32(rdma_recv_bytes(sizes->inline_threshold_bytes, 0, sizes->config_protocol),
			sizes->recv_max_bytes);
	uint32_t around = min_u32(recv, RPC_INLINE_AROUND_MAX_BYTES);

	return (struct reply_memory){
		.single_max_bytes = RPCRDMA_INLINE_MIN - RPCRDMA_MIN_HDR_BYTES,
		.margin_bytes = rdma_inline_around_max(around, 1),
		.extra_bytes = recv - RPCRDMA_MIN_HDR_BYTES,
	};
}
