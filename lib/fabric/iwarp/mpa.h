/* SPDX-License-Identifier: BSD-3-Clause */
/* MPA start-up frames, revisions 1 and 2 (RFC 5044 section 7.1, RFC 6581): encode and decode. */
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
	/* S, and what follows from it; all false and zero without. */
	bool enhanced;
	bool peer_to_peer; /* A */
	bool rtr_send;     /* B */
	bool rtr_write;    /* C of the ORD word */
	bool rtr_read;     /* D */
	uint16_t ird, ord; /* 14 bits; MPA_DEPTH_UNKNOWN is not a number */
	const uint8_t *private_data;
	size_t private_data_bytes;
};

enum mpa_verdict {
	MPA_OK,
	MPA_SHORT,      /* so far so good; more bytes are needed */
	MPA_BAD_KEY,    /* no MPA at all */
	MPA_BAD_LENGTH, /* too much private data (RFC 5044), or S without room for its four bytes */
};

/**
 * mpa_frame_decode - read a start-up frame from the start of a stream
 * @bytes, @len_bytes: what has come so far
 * @reply:             a reply is awaited, else a request
 * @frame:             filled on MPA_OK; its private data points into @bytes
 * @used_bytes:        on MPA_OK the frame's length; on MPA_SHORT how many bytes are needed at least
 *
 * Any revision decodes; S counts from revision 2 on. Bytes behind the frame are the caller's
 * business.
 */
enum mpa_verdict mpa_frame_decode(const uint8_t *bytes, size_t len_bytes, bool reply,
				  struct mpa_frame *frame, size_t *used_bytes);

/**
 * mpa_frame_encode - write a start-up frame
 * @out: room for MPA_MAX_FRAME_BYTES
 *
 * Returns its length; the private data must fit MPA_MAX_PRIVATE_DATA together with what S adds.
 */
size_t mpa_frame_encode(const struct mpa_frame *frame, uint8_t *out);

#endif
