/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes MPA start-up frames, revisions 1 and 2 (RFC 5044 section 7.1, RFC 6581). */
#ifndef FABRIC_IWARP_MPA_H
#define FABRIC_IWARP_MPA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/iwarp/proto.h"

struct mpa_frame {
	bool reply;
	uint8_t revision;
	bool markers; /* M */
	bool crc;     /* C */
	bool reject;  /* R */
	/* S, and the fields that it adds; all false and zero without S. */
	bool enhanced;
	bool peer_to_peer; /* A */
	bool rtr_send;     /* B */
	bool rtr_write;    /* C of the ORD word */
	bool rtr_read;     /* D */
	uint16_t ird, ord; /* 14 bits; MPA_DEPTH_UNKNOWN: not negotiated */
	const uint8_t *private_data;
	size_t private_data_bytes;
};

enum mpa_verdict {
	MPA_OK,
	MPA_SHORT,      /* valid so far; more bytes are needed */
	MPA_BAD_KEY,    /* not MPA */
	MPA_BAD_LENGTH, /* too much private data (RFC 5044), or S without its four bytes */
};

/**
 * mpa_frame_decode - Decodes a start-up frame at the start of a stream.
 * @bytes, @len_bytes: the bytes received so far
 * @reply:             true: expect a reply; false: expect a request
 * @frame:             filled on MPA_OK; its private data points into @bytes
 * @used_bytes:        on MPA_OK the frame's length; on MPA_SHORT the minimum of bytes needed
 *
 * Any revision decodes; S is valid from revision 2 on. The caller handles bytes after the frame.
 */
enum mpa_verdict mpa_frame_decode(const uint8_t *bytes, size_t len_bytes, bool reply,
				  struct mpa_frame *frame, size_t *used_bytes);

/**
 * mpa_frame_encode - Encodes a start-up frame.
 * @out: space for MPA_MAX_FRAME_BYTES
 *
 * Returns its length. The private data and the bytes that S adds must fit MPA_MAX_PRIVATE_DATA.
 */
size_t mpa_frame_encode(const struct mpa_frame *frame, uint8_t *out);

#endif
