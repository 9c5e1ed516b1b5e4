/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the parts of a message go: how its inline bytes and its read chunks make one RPC message
 * (draft-ietf-nfsv4-rpcrdma-03 sections 3.4, 3.6 and 5.1). Pure.
 *
 * It is a Call, or a Reply that is lent (requester_read_reply.h), which are made alike.
 *
 * Positions count the unreduced message (A3.4-6). The inline stream is the body of the RDMA_MSG, or
 * the position-zero chunk of the RDMA_NOMSG; the other chunks lie between its parts. Entries of one
 * position are one chunk, in the order of the list (A3.4-5); otherwise their order says nothing
 * (A-Δ7). A chunk may or may not bring its XDR pad (A-Δ5); what is missing is filled with zeros.
 */
#ifndef RPCRDMA_MSG_PLAN_H
#define RPCRDMA_MSG_PLAN_H

#include <string.h>

#include "rpcrdma/header.h"

/* Copy `len_bytes` from the inline bytes at `from`, or zeros. */
struct plan_copy {
	uint32_t to, from, len_bytes;
};
#define PLAN_ZEROS UINT32_MAX

/* Pull `len_bytes` (at least one) by RDMA Read. */
struct plan_pull {
	uint32_t to, len_bytes;
	uint32_t handle;
	uint64_t offset;
};

/* A read chunk with its own place in the message: any but the position-zero chunk. */
struct plan_chunk {
	uint32_t position, len_bytes; /* of all its segments together */
};

/* Each chunk splits the inline stream once at most, and takes one pad at most. */
#define PLAN_MAX_COPIES (2 * RPCRDMA_MAX_SEGMENTS + 2)
#define PLAN_MAX_PULLS  (2 * RPCRDMA_MAX_SEGMENTS)

struct msg_plan {
	uint32_t total_bytes; /* of the whole RPC message */
	unsigned ncopies, npulls, nchunks;
	struct plan_copy copies[PLAN_MAX_COPIES];
	struct plan_pull pulls[PLAN_MAX_PULLS];
	struct plan_chunk chunks[RPCRDMA_MAX_SEGMENTS]; /* by position */
};

enum msg_plan_verdict {
	MSG_PLAN_OK,
	MSG_PLAN_BAD,     /* the lists make no message: of a Call, ERR_CHUNK */
	MSG_PLAN_TOO_BIG, /* over the limit: the same */
};

/**
 * msg_plan_make - plan the assembly of a message
 * @hdr:          a decoded RDMA_MSG or RDMA_NOMSG
 * @inline_bytes: bytes behind the header; ignored with RDMA_NOMSG
 * @limit_bytes:  the longest RPC message to accept
 * @plan:         set on MSG_PLAN_OK
 */
enum msg_plan_verdict msg_plan_make(const struct rpcrdma_header *hdr, uint32_t inline_bytes,
				    uint32_t limit_bytes, struct msg_plan *plan) MUST_CHECK;

/** msg_plan_copy - put what came inline, at @from, to where it belongs in the message at @to */
static inline void msg_plan_copy(const struct plan_copy *copies, unsigned count, uint8_t *to,
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
