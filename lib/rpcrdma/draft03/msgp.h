/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pads of RDMA_MSGP (draft-ietf-nfsv4-rpcrdma-03 section 3.5). Pure.
 *
 * Each counted opaque or string of the RPC message that is as long as the threshold or longer begins at a multiple of
 * the alignment, counted from the first byte of the Send, header included (A3.5-4): pads stand between its length word
 * and its first byte. What they hold nobody looks at.
 *
 *	header | … LLLL ppp DDDDDDDDDDD … | … LLLL pp DDDDDDDDD …
 *	                    ^ multiple of the alignment ^
 *
 * They are the transport's: positions and lengths of chunks, and the length of the message, do not count them, and data
 * that are in a chunk have none (A3.5-8). Where the opaques are, lib/nfs knows.
 */
#ifndef RPCRDMA_DRAFT03_MSGP_H
#define RPCRDMA_DRAFT03_MSGP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "fabric/fabric.h"
#include "rpc/facts.h"
#include "rpcrdma/header.h"

/** msgp_bytes - how many pads come at @at of a Send before a long opaque; no @align does harm (A3.5-5, A3.5-6). */
static inline uint32_t msgp_bytes(uint32_t align, uint64_t at)
{
	uint32_t over = align > 1 ? (uint32_t)(at % align) : 0;

	return over ? align - over : 0;
}

/* An RDMA_MSGP that has come. */
struct padded {
	const struct rpcrdma_header *hdr;
	const uint8_t *body; /* behind the header */
	uint32_t len_bytes;
	bool is_call;
	/* Of the Call that a Reply answers; NULL: one whose results have no opaques. */
	const struct call_facts *facts;
};

/**
 * msgp_remove - the message without its pads
 * @to: where it is put, with room for it; NULL: it is only to be known how long it is
 *
 * Returns its length: that of the body means that this is the message as it is. -EBADMSG: it cannot be followed, so that
 * nobody knows where pads are.
 */
int64_t msgp_remove(const struct padded *padded, uint8_t *to) MUST_CHECK;

/* A message that is to be sent as RDMA_MSGP. */
struct msgp_goal {
	uint32_t align;
	uint32_t thresh_bytes; /* at least 1 */
	uint32_t header_bytes; /* of its RDMA_MSGP */
	const uint8_t *msg;    /* all of it, without pads, in one piece */
	uint32_t len_bytes;
	const struct call_facts *facts; /* of the Call that it answers; NULL: it is a Call */
	/* What of it goes inline, in order; the rest is in chunks. */
	const struct fabric_sge *pieces;
	unsigned npieces;
};

/**
 * msgp_insert - part what goes inline for the pads
 * @to, @max: take the pieces; a pad has neither address nor buffer
 *
 * Returns how many there are; 0: the message is to go without pads, as it has no long opaque inline, cannot be
 * followed, or makes more than @max pieces.
 */
unsigned msgp_insert(const struct msgp_goal *goal, struct fabric_sge *to, unsigned max);

#endif
