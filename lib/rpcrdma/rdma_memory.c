// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/rdma_memory.h"

#include "base/least.h"
#include "fabric/coverage.h"
#include "rpcrdma/draft03/requester_read_reply.h"
#include "rpcrdma/draft03/responder_read_reply.h"
#include "rpcrdma/proto.h"
#include "rpcrdma/rdma_config.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/rdma_setup.h"
#include "rpcrdma/requester_rpc.h"
#include "rpcrdma/responder.h"
#include "rpcrdma/work.h"

/* For any version. */
static uint32_t first_recv_bytes(const struct rdma_sizes *sizes)
{
	return rdma_recv_bytes(sizes->inline_threshold_bytes, RPCRDMA_DEFAULT_INLINE_TWO,
			       sizes->config_protocol);
}

unsigned rdma_receives(const struct rdma_sizes *sizes)
{
	return sizes->credits + RDMA_REVERSE_CREDITS + RDMA_RECV_RESERVE;
}

size_t rdma_receives_bytes(const struct rdma_sizes *sizes)
{
	return rdma_receives(sizes) * pool_class_bytes(first_recv_bytes(sizes));
}

/* Returns the memory for reverse Calls: received short ones with Replies, or what sent ones keep after a timeout. */
static size_t reverse_bytes(const struct rdma_sizes *sizes)
{
	size_t beside = 0, messages = 0;

	if (!sizes->accepted) {
		messages = rpc_msg_cost_bytes(rdma_reverse_free_bytes(first_recv_bytes(sizes)));
	} else {
		beside = EXCHANGE_BESIDE_BYTES;
		messages = sizes->reverse_chunks ? rpc_msg_cost_bytes(REVERSE_FREE_BYTES) : 0;
	}
	return RDMA_REVERSE_CREDITS * (beside + 2 * messages);
}

/*
 * Returns the memory for read-chunk Replies: on the accepting end a Receive and an RPC for each RDMA_DONE, on the
 * connecting end the kept part of each Reply being read.
 */
static size_t lent_bytes(const struct rdma_sizes *sizes)
{
	uint32_t recv_bytes = first_recv_bytes(sizes);

	if (!sizes->lent_replies)
		return 0;
	if (!sizes->accepted)
		return sizes->credits * read_reply_requester_cost_bytes(recv_bytes) +
		       work_cost_bytes(RDMA_READ_DEPTH);
	return sizes->credits *
	       (pool_class_bytes(recv_bytes) + sizeof(struct read_reply_responder) +
		EXCHANGE_BESIDE_BYTES + 2 * (size_t)least(recv_bytes, RPCRDMA_LONGEST_HDR_BYTES));
}

/* Returns the memory that records the written parts of Replies, for peers that write out of order. */
static size_t gaps_bytes(const struct rdma_sizes *sizes)
{
	size_t calls = sizes->accepted ? RDMA_REVERSE_CREDITS : sizes->credits;

	return calls * COVERAGE_MAX_BYTES;
}

size_t rdma_beside_bytes(const struct rdma_sizes *sizes)
{
	uint32_t recv_bytes = first_recv_bytes(sizes);
	uint32_t send_bytes = least(recv_bytes, RPCRDMA_LONGEST_HDR_BYTES + WORK_COPY_MAX_BYTES);
	size_t header_bytes = least(recv_bytes, RPCRDMA_LONGEST_HDR_BYTES);
	size_t sends = RESPONDER_SENDS_SPARE + 2 * (size_t)sizes->credits + RDMA_REVERSE_CREDITS;
	size_t calls = sizes->accepted ? sizes->credits : RDMA_REVERSE_CREDITS;

	/* The kept part of a Call's chunk lists is at most twice as long as its header. */
	return rdma_receives_bytes(sizes) + sends * pool_class_bytes(send_bytes) +
	       calls * (EXCHANGE_BESIDE_BYTES + 2 * header_bytes) + lent_bytes(sizes) +
	       reverse_bytes(sizes) + gaps_bytes(sizes);
}

/* A Reply that fits into the smallest Receive that a peer can advertise never gets a chunk. */
struct reply_room rdma_reply_room(const struct rdma_sizes *sizes)
{
	uint32_t recv =
		most(rdma_recv_bytes(sizes->inline_threshold_bytes, 0, sizes->config_protocol),
		     sizes->recv_max_bytes);
	uint32_t around = least(recv, RPC_AROUND_MAX_BYTES);

	return (struct reply_room){
		.alone_bytes = RPCRDMA_INLINE_MIN - RPCRDMA_MIN_HDR_BYTES,
		.around_bytes = rdma_landing_room(around, 1),
		.beside_bytes = recv - RPCRDMA_MIN_HDR_BYTES,
	};
}
