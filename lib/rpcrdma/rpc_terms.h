/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an RPC goes by, from its planning to its end: where its Reply lands, and how much of a message is inline, was
 * decided by these, while those of the connection may have changed since.
 */
#ifndef RPCRDMA_RPC_TERMS_H
#define RPCRDMA_RPC_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include "rpcrdma/dialect.h"

/*
 * What comes around a payload that lands by itself has room on both sides of it, so this is no longer however long Sends
 * may be: results beside a payload are attributes, and those that need more come whole.
 */
#define RPC_AROUND_MAX_BYTES 4096u

struct rpc_terms {
	const struct dialect *dialect;
	/* Longest Send to the peer, or to what it was asked to lower its receives; what is in force may be less. */
	uint32_t send_bytes;
	/* The same of a Reply that can come in no other way: what is only asked for does not count, … */
	uint32_t reply_bytes;
	/* … but until it is settled no Send is longer (B3.1-4). UINT32_MAX: nothing is asked for. */
	uint32_t asked_bytes;
	uint32_t recv_bytes;   /* longest Send from the peer */
	uint32_t around_bytes; /* the same of a Reply whose payload lands by itself */
	/* The peer reads nothing, it has said: what is lent to be read may not go to it (A6.2-5). */
	bool reads_nothing;
	/* Of Calls of the end that accepted. */
	bool reverse_calls;  /* the other end takes them (B3.3-1) */
	bool reverse_chunks; /* they may have chunks */
};

#endif
