/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses the transport header of RPC-over-RDMA: version one (RFC 8166 section 4, with the additions
 * of draft-ietf-nfsv4-rpcrdma-03 section 4.3) and version two
 * (draft-cel-nfsv4-rpcrdma-version-two-00 section 4.2).
 */
#ifndef TESTS_JUDGE_HEADER_H
#define TESTS_JUDGE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEADER_FIXED_BYTES 16u

enum { RDMA_MSG, RDMA_NOMSG, RDMA_MSGP, RDMA_DONE, RDMA_ERROR, RDMA_OPTIONAL };
enum { ERR_VERS = 1, ERR_HEADER, ERR_OPTION }; /* the second is version one's ERR_CHUNK */

struct header {
	uint32_t xid, version, credit, proc;
	bool malformed; /* the part after these is invalid */
	/* RDMA_MSG, RDMA_NOMSG, RDMA_MSGP */
	bool reads, writes, reply_chunk; /* these lists are not empty */
	bool position_zero;              /* the position of a read chunk */
	uint64_t reply_chunk_bytes;      /* the sum of its segments */
	uint32_t *handles;               /* of all segments; released by header_fini() */
	unsigned handle_count, handle_room;
	const uint8_t *body; /* the RPC message */
	size_t body_len;
	/* RDMA_ERROR */
	uint32_t error, low, high;
	/* RDMA_OPTIONAL */
	uint32_t option;
	const uint8_t *info;
	size_t info_len;
};

/**
 * header_decode - Parses the header of a Send; its pointers point into the message. Returns false
 * if the fixed part is missing.
 */
bool header_decode(struct header *h, const uint8_t *msg, size_t len);
void header_fini(struct header *h);
/** header_has_chunks - Returns whether any of the three lists has an entry. */
bool header_has_chunks(const struct header *h);

#endif
