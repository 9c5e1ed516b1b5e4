/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes why a connection was rejected: a short text in the private data of the rejection, which
 * a connecting proxy logs.
 *
 *	 0  identifier, 52 50 52 4a ("RPRJ")
 *	 4  version, 1
 *	 5  length of the text in bytes, 1 to 88
 *	 6  the text, printable ASCII; bytes after it are ignored
 *
 * RFC 8797 defines private data only for a request and its acceptance, and ignores data without its
 * own identifier. Linux, as client and as server, ignores private data of a rejection. The text is
 * fixed for each reason: names and addresses of servers, and facts about other clients, are not
 * sent.
 */
#ifndef RPCRDMA_REJECT_REASON_H
#define RPCRDMA_REJECT_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leg/leg.h"

#define REJECT_REASON_WORDS_BYTES 89u /* space for the text, with its terminating zero */
#define REJECT_REASON_BYTES       (6u + REJECT_REASON_WORDS_BYTES - 1u)

/**
 * reject_reason_encode - Encodes the private data for a peer that is rejected for @why. Returns the
 * length in bytes; 0 for a reason that has no text.
 */
size_t reject_reason_encode(enum leg_close why, uint8_t to[REJECT_REASON_BYTES]);

/**
 * reject_reason_decode - Decodes the text of a rejection.
 * @data, @len_bytes: as reported, possibly padded
 * @words:            set on success; printable and without double quotes, whatever arrived
 *
 * Returns false if the data have another format.
 */
bool reject_reason_decode(const uint8_t *data, size_t len_bytes,
			  char words[REJECT_REASON_WORDS_BYTES]) MUST_CHECK;

#endif
