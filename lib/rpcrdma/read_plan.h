/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans how inline bytes and read chunks are assembled into one RPC message
 * (draft-ietf-nfsv4-rpcrdma-03 sections 3.4, 3.6 and 5.1). Pure.
 *
 * Used for Calls and for Replies sent by Read chunk (requester_read_reply.h), which are assembled
 * alike.
 *
 * Positions count bytes of the unreduced message (A3.4-6). The inline stream is the body of the
 * RDMA_MSG, or the position-zero chunk of the RDMA_NOMSG; the other chunks lie between its parts.
 * Entries with the same position form one chunk, in list order (A3.4-5); otherwise the order does
 * not matter (A-Δ7). A chunk can include its XDR pad or omit it (A-Δ5); a missing pad is filled
 * with zeros.
 */
#ifndef RPCRDMA_READ_PLAN_H
#define RPCRDMA_READ_PLAN_H

#include <string.h>

#include "rpcrdma/header.h"

/* Copy `len_bytes` from the inline bytes at `from`, or zeros. */
struct plan_copy {
	uint32_t to, from, len_bytes;
};
#define PLAN_ZEROS UINT32_MAX

/* A part of one segment to fetch by RDMA Read, at least one byte. */
struct plan_read {
	uint32_t to, len_bytes;
	uint32_t handle;
	uint64_t offset;
};

/* A read chunk other than the position-zero chunk. */
struct plan_chunk {
	uint32_t position, len_bytes; /* sum of its segments */
};

/* Each chunk splits the inline stream at most once and needs at most one pad. */
#define PLAN_MAX_COPIES (2 * RPCRDMA_MAX_SEGMENTS + 2)
#define PLAN_MAX_READS  (2 * RPCRDMA_MAX_SEGMENTS)

struct read_plan {
	uint32_t total_bytes; /* of the RPC message */
	unsigned ncopies, nplan_reads, nchunks;
	struct plan_copy copies[PLAN_MAX_COPIES];
	struct plan_read plan_reads[PLAN_MAX_READS];
	struct plan_chunk chunks[RPCRDMA_MAX_SEGMENTS]; /* sorted by position */
};

enum read_plan_verdict {
	READ_PLAN_OK,
	READ_PLAN_BAD,     /* the lists do not form a message: for a Call, ERR_CHUNK */
	READ_PLAN_TOO_BIG, /* longer than the limit: for a Call, ERR_CHUNK */
};

/**
 * read_plan_make - Plans the assembly of a message.
 * @hdr:          a decoded RDMA_MSG or RDMA_NOMSG
 * @inline_bytes: bytes after the header; ignored for RDMA_NOMSG
 * @limit_bytes:  longest RPC message to accept
 * @plan:         set on READ_PLAN_OK
 */
enum read_plan_verdict read_plan_make(const struct rpcrdma_header *hdr, uint32_t inline_bytes,
				      uint32_t limit_bytes, struct read_plan *plan) MUST_CHECK;

/** read_plan_copy - Copies the inline bytes at @from to their positions in the message at @to. */
static inline void read_plan_copy(const struct plan_copy *copies, unsigned count, uint8_t *to,
				  const uint8_t *from)
{
	for (unsigned i = 0; i < count; i++) {
		const struct plan_copy *c = &copies[i];

		if (c->from == PLAN_ZEROS)
			memset(to + c->to, 0, c->len_bytes);
		else
			memcpy(to + c->to, from + c->from, c->len_bytes);
	}
}

#endif
