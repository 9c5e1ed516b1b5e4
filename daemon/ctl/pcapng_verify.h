/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks a pcapng stream while it is copied: counts bytes and packets, and detects whether it is
 * complete.
 *
 * A complete file ends with the statistics block, which has the number of missing messages and the
 * reason for the end.
 */
#ifndef DAEMON_CTL_PCAPNG_VERIFY_H
#define DAEMON_CTL_PCAPNG_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define PCAPNG_VERIFY_BLOCK_BYTES 2048u /* larger than the statistics block */
#define PCAPNG_VERIFY_WHY_BYTES   64u

struct pcapng_verify {
	uint64_t bytes, packets, missed;
	char why[PCAPNG_VERIFY_WHY_BYTES]; /* reason for the end, "ended by --seconds"; "": none */
	bool broken;                       /* not a pcapng file */
	uint32_t type, left_bytes;         /* of the current block */
	bool last;                         /* the previous block was the statistics */
	uint32_t have_bytes;               /* bytes stored in block[] */
	uint8_t block[PCAPNG_VERIFY_BLOCK_BYTES];
};

/** pcapng_verify_add - Adds @len bytes of the file. Start with a zeroed @verify. */
void pcapng_verify_add(struct pcapng_verify *verify, const uint8_t *data, size_t len);
/** pcapng_verify_is_complete - Returns whether the file is complete. */
bool pcapng_verify_is_complete(const struct pcapng_verify *verify) MUST_CHECK;

#endif
