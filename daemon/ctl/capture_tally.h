/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has come of a capture file in the pcapng format: how much, and whether that is all of it.
 *
 * The file is only counted. It is complete when its last block is the statistics, which have how many messages are missing,
 * and why it ended.
 */
#ifndef DAEMON_CTL_CAPTURE_TALLY_H
#define DAEMON_CTL_CAPTURE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define TALLY_BLOCK_BYTES 2048u /* more than the statistics have */
#define TALLY_WHY_BYTES   64u

struct capture_tally {
	uint64_t bytes, packets, missed;
	char why[TALLY_WHY_BYTES]; /* it ended, as the statistics say: "ended by --seconds"; "": they do not */
	bool broken;               /* it is no such file */
	uint32_t type, left_bytes; /* of the block that comes */
	bool last;                 /* the block before it was the statistics */
	uint32_t have_bytes;       /* of the next, while its head comes and where it is wanted */
	uint8_t block[TALLY_BLOCK_BYTES];
};

/** capture_tally_add - @len more bytes of the file; @tally is all zero at first. */
void capture_tally_add(struct capture_tally *tally, const uint8_t *data, size_t len);
/** capture_tally_is_complete - whether the file is all here. */
bool capture_tally_is_complete(const struct capture_tally *tally) MUST_CHECK;

#endif
