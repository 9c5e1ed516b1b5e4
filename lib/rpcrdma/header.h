/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes transport headers once into typed values, and encodes them from the same values, in every
 * supported version.
 *
 * Pure: no I/O, no memory but the caller's. The decoder checks the peer's counts against the limits
 * below before any loop and computes sums in 64 bits. The lists of a decoded header need no further
 * checks.
 */
#ifndef RPCRDMA_HEADER_H
#define RPCRDMA_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpcrdma/proto.h"

/* More than fit into a 4096-byte header; a longer list is ERR_CHUNK. */
#define RPCRDMA_MAX_SEGMENTS 256u
#define RPCRDMA_MAX_CHUNKS   64u /* chunks in the write list */

/*
 * Upper bound of the header length for any Send; the twelve bytes are a count and the two numbers
 * of RDMA_MSGP.
 */
#define RPCRDMA_LONGEST_HDR_BYTES                                                                  \
	(RPCRDMA_MIN_HDR_BYTES + 12u + RPCRDMA_MAX_SEGMENTS * RPCRDMA_READ_SEGMENT_BYTES +         \
	 RPCRDMA_MAX_CHUNKS * 8u + RPCRDMA_MAX_SEGMENTS * RPCRDMA_SEGMENT_BYTES)

struct rpcrdma_segment {
	uint32_t handle;
	uint32_t len_bytes;
	uint64_t offset;
};

struct rpcrdma_read_segment {
	uint32_t position; /* in the unreduced XDR stream; multiple of 4 */
	struct rpcrdma_segment seg;
};

/*
 * A write or reply chunk: `count` segments, from index `first` in the header's table of segments.
 */
struct rpcrdma_chunk {
	unsigned first, count;
	uint64_t len_bytes; /* sum of the segments */
};

struct rpcrdma_header {
	uint32_t xid, vers, credit;
	enum rpcrdma_proc proc;
	/* RDMA_MSGP */
	uint32_t align, thresh;
	/* RDMA_MSG, RDMA_NOMSG, RDMA_MSGP */
	unsigned nreads, nwrites;
	bool has_reply_chunk;
	struct rpcrdma_chunk reply_chunk;
	/* RDMA_ERROR */
	uint32_t error, vers_low, vers_high;
	/*
	 * RDMA_OPTIONAL: the operation and its content, which points into the Send or to the
	 * encoder's memory
	 */
	uint32_t opttype, optinfo_bytes;
	const uint8_t *optinfo;
	/* Offset of the RPC message in the Send, in bytes. */
	uint32_t body_offset;
	struct rpcrdma_read_segment reads[RPCRDMA_MAX_SEGMENTS]; /* in wire order */
	struct rpcrdma_chunk writes[RPCRDMA_MAX_CHUNKS];
	struct rpcrdma_segment segments[RPCRDMA_MAX_SEGMENTS]; /* of write list and reply chunk */
	unsigned nsegments;
};

/* Verdict on a Send; each value corresponds to one action that the documents require. */
enum rpcrdma_verdict {
	RPCRDMA_OK,
	/* shorter than any message of its type: discard, use no field (D2.4-2, X-3) */
	RPCRDMA_SHORT,
	RPCRDMA_BAD_VERS,  /* ERR_VERS if it is a Call (A4.2-1); xid, vers and credit are set */
	RPCRDMA_BAD_PROC,  /* unknown type: ERR_CHUNK (A4.1-4) */
	RPCRDMA_BAD_LISTS, /* chunk lists do not decode: ERR_CHUNK (A4.2-2, A4.3) */
	RPCRDMA_RESERVED,  /* a type that this version reserves: BAD_HEADER, Call or not (E4.2-5) */
	RPCRDMA_BAD_OPTION, /* an RDMA_OPTIONAL longer than its Send: BAD_HEADER */
};

/**
 * rpcrdma_header_decode - Decodes a Send.
 * @send, @len: the whole Send
 * @hdr:        set on RPCRDMA_OK; the four fixed words are set on every verdict except
 *              RPCRDMA_SHORT
 *
 * An RDMA_ERROR with ERR_VERS is RPCRDMA_OK in any rdma_vers (A4.2-1). Checks of each list:
 * discriminators 0 or 1, counts within the Send and the limits, position a multiple of 4, a
 * segment's offset + length without wrap, no overlapping segments of one direction with the same
 * handle. An RDMA_NOMSG Call is not checked for a position-zero chunk; the responder does that,
 * because it knows whether the message is a Call.
 *
 * The RPC message is not checked, not even its length. After a failure the lists are empty.
 * RPCRDMA_BAD_VERS can also be an RDMA_ERROR, which must not be answered (A4.2-3): check
 * @hdr->proc.
 */
enum rpcrdma_verdict rpcrdma_header_decode(const uint8_t *send, size_t len,
					   struct rpcrdma_header *hdr) MUST_CHECK;

/**
 * rpcrdma_header_encode - Encodes a message with the lists or the operation in @hdr.
 * @to, @capacity: output buffer; never writes beyond @capacity
 *
 * Returns the length, or 0 if it does not fit or the version has no such message. ERR_VERS is the
 * same in all versions.
 */
size_t rpcrdma_header_encode(const struct rpcrdma_header *hdr, uint8_t *to,
			     size_t capacity) MUST_CHECK;

/**
 * rpcrdma_header_bytes - Returns the length that rpcrdma_header_encode() would produce; 0: no such
 * message.
 */
size_t rpcrdma_header_bytes(const struct rpcrdma_header *hdr);

/**
 * rpcrdma_header_init - Sets the fixed words and empties the lists. Sets only counts and flags of
 * the lists, not the tables, so it is cheap enough for every message.
 */
void rpcrdma_header_init(struct rpcrdma_header *hdr, uint32_t xid, uint32_t vers, uint32_t credit,
			 enum rpcrdma_proc proc);

/** rpcrdma_header_has_chunks - Returns true if any of the three lists has an entry. */
static inline bool rpcrdma_header_has_chunks(const struct rpcrdma_header *hdr)
{
	return hdr->nreads || hdr->nwrites || hdr->has_reply_chunk;
}

#endif
