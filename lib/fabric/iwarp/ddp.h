/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes and decodes DDP and RDMAP headers and the Terminate message (RFC 5041 section 4, RFC 5040
 * section 4).
 */
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
	uint8_t opcode;        /* enum rdmap_opcode, or any other value that a peer sent */
	uint32_t stag;         /* tagged: the target; untagged: to be invalidated */
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
	uint8_t bits; /* TERM_HDR_*: included parts of the offending segment */
	uint16_t segment_bytes;
	uint8_t header[DDP_MAX_BYTES];
	size_t header_bytes;
};

/**
 * ddp_header_bytes - Returns the length of a segment's headers, including that of a Read Request.
 * @control: the first two bytes of the segment
 */
size_t ddp_header_bytes(const uint8_t control[2]);
/** ddp_header_decode - Decodes ddp_header_bytes() bytes; any bytes decode to a header. */
void ddp_header_decode(const uint8_t *bytes, struct ddp_header *header);
/** ddp_header_encode - Encodes the header. Returns DDP_TAGGED_BYTES or DDP_UNTAGGED_BYTES. */
size_t ddp_header_encode(const struct ddp_header *header, uint8_t *out);

/** rdmap_read_decode - Decodes the bytes after the DDP header of a Read Request. */
void rdmap_read_decode(const uint8_t bytes[RDMAP_READ_BYTES], struct rdmap_read *read);
/** rdmap_read_encode - Encodes the bytes after the DDP header of a Read Request. */
void rdmap_read_encode(const struct rdmap_read *read, uint8_t out[RDMAP_READ_BYTES]);

/**
 * rdmap_terminate_encode - Encodes the payload of a Terminate message in the layout of RFC 5040.
 * @out: space for TERM_MAX_BYTES
 *
 * Returns its length.
 */
size_t rdmap_terminate_encode(const struct rdmap_terminate *term, uint8_t *out);

/**
 * rdmap_terminate_describe - Describes a received Terminate as text.
 * @bytes, @len_bytes: its payload, as far as it arrived
 * @text, @size:       the output, truncated to fit
 *
 * Linux siw swaps the nibbles of the first byte, and puts the header bits at the other end of their
 * byte. If the payload is not valid by RFC 5040, or its header bits are at that end, the text has
 * both readings.
 */
void rdmap_terminate_describe(const uint8_t *bytes, size_t len_bytes, char *text, size_t size);

/** rdmap_opcode_name - Returns the name: "RDMA Write", …; or "reserved opcode". */
const char *rdmap_opcode_name(unsigned opcode);

#endif
