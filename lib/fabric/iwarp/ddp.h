/* SPDX-License-Identifier: BSD-3-Clause */
/* DDP and RDMAP headers, and the Terminate message (RFC 5041 section 4, RFC 5040 section 4). */
#ifndef FABRIC_IWARP_DDP_H
#define FABRIC_IWARP_DDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/iwarp/proto.h"

struct ddp_header {
	bool tagged, last;
	uint8_t ddp_version;   /* 1 */
	uint8_t rdmap_version; /* RDMAP_VERSION */
	uint8_t opcode;        /* enum rdmap_opcode, or what a peer made of it */
	uint32_t stag;         /* tagged: where to; untagged: to be invalidated */
	uint64_t to;           /* tagged */
	uint32_t qn, msn, mo;  /* untagged */
};

struct rdmap_read {
	uint32_t sink_stag;
	uint64_t sink_to;
	uint32_t size_bytes;
	uint32_t source_stag;
	uint64_t source_to;
};

struct rdmap_terminate {
	uint8_t layer, type, code;
	uint8_t bits; /* TERM_HDR_*: what of the offending segment is there */
	uint16_t segment_bytes;
	uint8_t header[DDP_MAX_BYTES];
	size_t header_bytes;
};

/**
 * ddp_header_bytes - length of a segment's headers, a Read Request's own included
 * @control: the first two bytes of the segment
 */
size_t ddp_header_bytes(const uint8_t control[2]);
/** ddp_header_decode - read ddp_header_bytes() bytes; whatever they are, they mean something. */
void ddp_header_decode(const uint8_t *bytes, struct ddp_header *header);
/** ddp_header_encode - write the header; returns DDP_TAGGED_BYTES or DDP_UNTAGGED_BYTES. */
size_t ddp_header_encode(const struct ddp_header *header, uint8_t *out);

/** rdmap_read_decode - read what follows the DDP header of a Read Request. */
void rdmap_read_decode(const uint8_t bytes[RDMAP_READ_BYTES], struct rdmap_read *read);
/** rdmap_read_encode - write it. */
void rdmap_read_encode(const struct rdmap_read *read, uint8_t out[RDMAP_READ_BYTES]);

/**
 * rdmap_terminate_encode - write a Terminate message's payload
 * @out: room for TERM_MAX_BYTES
 *
 * The layout is that of RFC 5040. Returns its length.
 */
size_t rdmap_terminate_encode(const struct rdmap_terminate *term, uint8_t *out);

/**
 * rdmap_terminate_describe - say what a Terminate from a peer means
 * @bytes, @len_bytes: its payload, as much of it as there is
 * @text, @size:       where the words go, cut to fit
 *
 * Linux siw swaps the nibbles and puts the header bits at the other end of their byte, so whatever
 * does not make sense as RFC 5040, or carries such bits, is given in both readings.
 */
void rdmap_terminate_describe(const uint8_t *bytes, size_t len_bytes, char *text, size_t size);

/** rdmap_opcode_name - "RDMA Write", …; "reserved opcode" for what is none. */
const char *rdmap_opcode_name(unsigned opcode);

#endif
