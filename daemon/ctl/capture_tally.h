/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks a pcapng stream while it is copied: counts bytes and packets, and detects whether it is complete.
 *
 * A complete file ends with the statistics block, which has the number of missing messages and the reason for the end.
 */
#ifndef DAEMON_CTL_CAPTURE_TALLY_H
#define DAEMON_CTL_CAPTURE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define TALLY_BLOCK_BYTES 2048u /* larger than the statistics block */
#define TALLY_WHY_BYTES   64u

struct capture_tally {
	uint64_t bytes, packets, missed;
	char why[TALLY_WHY_BYTES]; /* reason for the end, "ended by --seconds"; "": none */
	bool broken;               /* not a pcapng file */
	uint32_t type, left_bytes; /* of the current block */
	bool last;                 /* the previous block was the statistics */
	uint32_t have_bytes;       /* bytes stored in block[] */
	uint8_t block[TALLY_BLOCK_BYTES];
};

/** capture_tally_add - Adds @len bytes of the file. Start with a zeroed @tally. */
void capture_tally_add(struct capture_tally *tally, const uint8_t *data, size_t len);
/** capture_tally_is_complete - Returns whether the file is complete. */
bool capture_tally_is_complete(const struct capture_tally *tally) MUST_CHECK;

#endif
