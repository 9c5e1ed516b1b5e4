/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a proxy rejects, for the proxy that asked: a few words in the private data of the rejection.
 *
 *	 0  identifier, 52 50 52 4a ("RPRJ")
 *	 4  version, 1
 *	 5  how many bytes of words follow, 1 to 88
 *	 6  the words, printable ASCII; what stands behind them is ignored
 *
 * RFC 8797 defines private data of a request and of its acceptance only, and what does not have its own
 * identifier is none to it. Linux, as client and as server, does not look at what a rejection carries. The words are
 * fixed for each reason: no name or address of what stands behind a proxy, and nothing of its other clients, goes out.
 */
#ifndef RPCRDMA_REJECT_REASON_H
#define RPCRDMA_REJECT_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leg/leg.h"

#define REJECT_REASON_WORDS_BYTES 89u /* room for the words, the end of the string included */
#define REJECT_REASON_BYTES       (6u + REJECT_REASON_WORDS_BYTES - 1u)

/**
 * reject_reason_encode - what to send to a peer that is rejected for @why
 *
 * Returns how many bytes; 0 for a reason that says nothing to the peer.
 */
size_t reject_reason_encode(enum leg_close why, uint8_t to[REJECT_REASON_BYTES]);

/**
 * reject_reason_decode - the words that came with a rejection
 * @data, @len_bytes: as reported, which may be padded
 * @words:            filled if it returns true, printable and without a quote whatever came
 */
bool reject_reason_decode(const uint8_t *data, size_t len_bytes,
			  char words[REJECT_REASON_WORDS_BYTES]) MUST_CHECK;

#endif
