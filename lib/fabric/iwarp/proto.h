/* SPDX-License-Identifier: BSD-3-Clause */
/* Wire constants of MPA (RFC 5044, 6581), DDP (5041) and RDMAP (5040). */
#ifndef FABRIC_IWARP_PROTO_H
#define FABRIC_IWARP_PROTO_H

#include <stdint.h>

/*
 * MPA start-up frame (RFC 5044 section 7.1, RFC 6581 section 9)
 *
 *	 0 .. 15  key
 *	16        flags    M | C | R | S | reserved
 *	17        revision
 *	18 .. 19  length of what follows
 *	20 ..     with S: be16 A | B | IRD, be16 C | D | ORD; then the private data
 */
#define MPA_KEY_BYTES        16
#define MPA_KEY_REQUEST      "MPA ID Req Frame"
#define MPA_KEY_REPLY        "MPA ID Rep Frame"
#define MPA_HEADER_BYTES     20
#define MPA_ENHANCED_BYTES   4
#define MPA_MAX_PRIVATE_DATA 512 /* RFC 5044: maximum, including the bytes that S adds */
#define MPA_MAX_FRAME_BYTES  (MPA_HEADER_BYTES + MPA_MAX_PRIVATE_DATA)

#define MPA_FLAG_MARKERS     0x80u
#define MPA_FLAG_CRC         0x40u
#define MPA_FLAG_REJECT      0x20u
#define MPA_FLAG_ENHANCED    0x10u

#define MPA_IRD_PEER_TO_PEER 0x8000u /* A */
#define MPA_IRD_RTR_SEND     0x4000u /* B: a zero-length FPDU or Send */
#define MPA_ORD_RTR_WRITE    0x8000u /* C */
#define MPA_ORD_RTR_READ     0x4000u /* D */
#define MPA_DEPTH_MASK       0x3fffu
#define MPA_DEPTH_UNKNOWN    0x3fffu /* "not negotiated": some RNICs send it */

/*
 * FPDU: be16 ULPDU length | ULPDU | 0-3 bytes of padding | CRC32C, least significant byte first
 */
#define MPA_LENGTH_BYTES    2
#define MPA_CRC_BYTES       4
#define MPA_MAX_ULPDU_BYTES 65535
#define MPA_MAX_PAD_BYTES   3

/** mpa_crc_store - Writes the CRC of length, ULPDU and padding in wire format: inverted. */
static inline void mpa_crc_store(uint32_t crc, uint8_t wire[MPA_CRC_BYTES])
{
	crc = ~crc;
	wire[0] = (uint8_t)crc;
	wire[1] = (uint8_t)(crc >> 8);
	wire[2] = (uint8_t)(crc >> 16);
	wire[3] = (uint8_t)(crc >> 24);
}

/*
 * ULPDU: a DDP segment
 *
 *	byte 0  T | L | reserved | DDP version
 *	byte 1  RDMAP version | reserved | opcode
 *	tagged:    2 STag,             6 TO
 *	untagged:  2 STag to invalidate or 0,  6 QN,  10 MSN,  14 MO
 */
#define DDP_TAGGED         0x80u
#define DDP_LAST           0x40u
#define DDP_VERSION_MASK   0x03u
#define DDP_VERSION        1u
#define RDMAP_VERSION_MASK 0xc0u
#define RDMAP_VERSION      0x40u
#define RDMAP_OPCODE_MASK  0x0fu

#define DDP_CONTROL_BYTES  2 /* first bytes of a header; they determine its length */
#define DDP_TAGGED_BYTES   14
#define DDP_UNTAGGED_BYTES 18
#define RDMAP_READ_BYTES   28 /* added by a Read Request */
#define DDP_MAX_BYTES      (DDP_UNTAGGED_BYTES + RDMAP_READ_BYTES)

enum ddp_queue {
	DDP_QN_SEND = 0,
	DDP_QN_READ = 1,
	DDP_QN_TERMINATE = 2,
};

enum rdmap_opcode {
	RDMAP_WRITE = 0,
	RDMAP_READ_REQUEST = 1,
	RDMAP_READ_RESPONSE = 2,
	RDMAP_SEND = 3,
	RDMAP_SEND_INV = 4,
	RDMAP_SEND_SE = 5,
	RDMAP_SEND_SE_INV = 6,
	RDMAP_TERMINATE = 7,
};

/* Terminate Control (RFC 5040 section 4.8): layer and type, code, header bits, reserved. */
#define TERM_CONTROL_BYTES 4
#define TERM_MAX_BYTES     (TERM_CONTROL_BYTES + 2 + DDP_MAX_BYTES)
#define TERM_HDR_SEGMENT   0x80u /* M: the DDP segment length is included */
#define TERM_HDR_DDP       0x40u /* D: the DDP header is included */
#define TERM_HDR_RDMAP     0x20u /* R: the Read Request's header is included */

enum term_layer {
	TERM_RDMAP = 0,
	TERM_DDP = 1,
	TERM_LLP = 2,
};

enum term_type {
	TERM_RDMAP_CATASTROPHIC = 0,
	TERM_RDMAP_PROTECTION = 1,
	TERM_RDMAP_OPERATION = 2,
	TERM_DDP_CATASTROPHIC = 0,
	TERM_DDP_TAGGED = 1,
	TERM_DDP_UNTAGGED = 2,
	TERM_LLP_MPA = 0,
};

#endif
