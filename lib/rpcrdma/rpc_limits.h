/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of an RPC, frozen when it is planned: its chunks depend on them, while those of the
 * connection can change.
 */
#ifndef RPCRDMA_RPC_LIMITS_H
#define RPCRDMA_RPC_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "rpcrdma/dialect.h"

/*
 * Most inline bytes around a separately placed payload, because their buffer has that much space on
 * both sides of the payload. They are attributes; a Reply with more uses a reply chunk.
 */
#define RPC_INLINE_AROUND_MAX_BYTES 4096u

struct rpc_limits {
	const struct dialect *dialect;
	/* Longest Send to the peer; while a REQ is pending at most the requested size. */
	uint32_t send_bytes;
	/* The same for a Reply without a chunk: a pending REQ does not lower it, … */
	uint32_t reply_bytes;
	/*
	 * … but no Send is longer than this until the REQ is settled (B3.1-4). UINT32_MAX: no REQ
	 * is pending.
	 */
	uint32_t pending_req_bytes;
	uint32_t recv_bytes;   /* longest Send from the peer */
	uint32_t margin_bytes; /* the same for a Reply whose payload is placed separately */
	/* The peer advertised that it posts no Reads: it gets no read chunks (A6.2-5). */
	bool reads_nothing;
	/* For Calls of the end that accepted. */
	bool reverse_calls;  /* the other end accepts them (B3.3-1) */
	bool reverse_chunks; /* they can have chunks */
};

#endif
