/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport header: decoded once into typed values, encoded from the same, in each version that has a codec.
 *
 * Pure: no I/O, no memory but the caller's. Peer counts are held against the limits below before
 * any loop, sums are kept in 64 bits, and a decoded header needs no further check of its lists.
 */
#ifndef RPCRDMA_HEADER_H
#define RPCRDMA_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpcrdma/proto.h"

/* More than a 4096-byte header can hold of either; a longer list is ERR_CHUNK. */
#define RPCRDMA_MAX_SEGMENTS 256u
#define RPCRDMA_MAX_CHUNKS   64u /* chunks in the write list */

/* So no header is longer, however long its Send: a count and RDMA_MSGP's two numbers are the twelve. */
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

/* A write or reply chunk: `count` segments from `first` in the header's table of them. */
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
	/* RDMA_OPTIONAL: the operation, and what it holds: of the Send, or the encoder's to pin */
	uint32_t opttype, optinfo_bytes;
	const uint8_t *optinfo;
	/* Where the RPC message starts, bytes from the start of the Send. */
	uint32_t body_offset;
	struct rpcrdma_read_segment reads[RPCRDMA_MAX_SEGMENTS]; /* in the order of the wire */
	struct rpcrdma_chunk writes[RPCRDMA_MAX_CHUNKS];
	struct rpcrdma_segment segments[RPCRDMA_MAX_SEGMENTS]; /* of write list and reply chunk */
	unsigned nsegments;
};

/* What a Send turned out to be; one to one what the documents say to do. */
enum rpcrdma_verdict {
	RPCRDMA_OK,
	RPCRDMA_SHORT,    /* shorter than its kind always is: discard, use no field (D2.4-2, X-3) */
	RPCRDMA_BAD_VERS, /* ERR_VERS if it is a Call (A4.2-1); xid, vers and credit are set */
	RPCRDMA_BAD_PROC, /* unknown type: ERR_CHUNK (A4.1-4) */
	RPCRDMA_BAD_LISTS, /* chunk lists do not decode: ERR_CHUNK (A4.2-2, A4.3) */
	RPCRDMA_RESERVED, /* a type that this version has not: BAD_HEADER, whatever it would be (E4.2-5) */
	RPCRDMA_BAD_OPTION, /* an RDMA_OPTIONAL longer than its Send: BAD_HEADER */
};

/**
 * rpcrdma_header_decode - decode a Send
 * @send, @len: the whole Send
 * @hdr:        set on RPCRDMA_OK; on all verdicts but RPCRDMA_SHORT the four fixed words are set
 *
 * An RDMA_ERROR with ERR_VERS is RPCRDMA_OK whatever its rdma_vers (A4.2-1). Checks of each list:
 * discriminators 0 or 1, counts against the Send and the limits, position a multiple of 4, a
 * segment's offset + length without wrap, no two segments of one direction overlap under one
 * handle, RDMA_NOMSG of a Call is not checked for a position-zero chunk (the responder knows
 * whether it is a Call).
 *
 * The RPC message itself is not looked at, not even its length. After a failure the lists are
 * empty. BAD_VERS can also be an RDMA_ERROR, which is never answered (A4.2-3): look at @hdr->proc.
 */
enum rpcrdma_verdict rpcrdma_header_decode(const uint8_t *send, size_t len,
					   struct rpcrdma_header *hdr) MUST_CHECK;

/**
 * rpcrdma_header_encode - encode a message, with the lists or the operation in @hdr
 * @to, @room: where to; nothing is written past @room
 *
 * Returns the length, or 0 if it does not fit, or if the version has no such message; ERR_VERS is the same in all.
 */
size_t rpcrdma_header_encode(const struct rpcrdma_header *hdr, uint8_t *to, size_t room) MUST_CHECK;

/** rpcrdma_header_bytes - how long rpcrdma_header_encode() would make it; 0: there is no such message. */
size_t rpcrdma_header_bytes(const struct rpcrdma_header *hdr);

/**
 * rpcrdma_header_init - the fixed words, no lists
 *
 * Sets only the counts and flags of the lists, not the tables: cheap enough for each message.
 */
void rpcrdma_header_init(struct rpcrdma_header *hdr, uint32_t xid, uint32_t vers, uint32_t credit,
			 enum rpcrdma_proc proc);

/** rpcrdma_header_has_chunks - return whether any of the three lists has something in it. */
static inline bool rpcrdma_header_has_chunks(const struct rpcrdma_header *hdr)
{
	return hdr->nreads || hdr->nwrites || hdr->has_reply_chunk;
}

#endif
