/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records which bytes of a memory range a peer has written: the prefix without gaps, and ranges
 * after a gap.
 *
 * Peers nearly always write in order: then the prefix suffices, and each Write costs one
 * comparison. Bytes after a gap are recorded as sorted ranges that never touch; they need memory
 * only once a gap exists.
 *
 *	| prefix |  gap  | range |  gap  | range | …
 *
 * If a peer leaves more than COVERAGE_RANGES_MAX ranges at a time, its Writes after further gaps
 * are not recorded: those bytes count as not written until the peer writes them again.
 */
#ifndef FABRIC_COVERAGE_H
#define FABRIC_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

#define COVERAGE_RANGES_MAX 64u
/* Maximum memory of the ranges: 8 bytes each, and their number. */
#define COVERAGE_MAX_BYTES (8u + 8u * COVERAGE_RANGES_MAX)

struct coverage_ranges;

struct coverage {
	uint32_t prefix_bytes;         /* written from the start, without a gap */
	uint32_t reached_bytes;        /* end of the farthest Write that has begun */
	struct coverage_ranges *ahead; /* written after a gap; NULL: none */
};

/** coverage_init - Initializes @coverage with the first @prefix_bytes written. */
static inline void coverage_init(struct coverage *coverage, uint32_t prefix_bytes)
{
	coverage->prefix_bytes = prefix_bytes;
	coverage->reached_bytes = 0;
	coverage->ahead = NULL;
}

/**
 * coverage_reach - Records that a Write ending at @end_bytes has begun; coverage_add() records it
 * once complete.
 */
static inline void coverage_reach(struct coverage *coverage, uint32_t end_bytes)
{
	if (coverage->reached_bytes < end_bytes)
		coverage->reached_bytes = end_bytes;
}

/** coverage_add_gapped - Implements coverage_add() where gaps exist; only for coverage_add(). */
void coverage_add_gapped(struct coverage *coverage, uint32_t at, uint32_t len_bytes);

/**
 * coverage_add - Records that the peer has written @len_bytes at @at; their sum must fit 32 bits.
 *
 * A range for which no memory is available counts as not written.
 */
static inline void coverage_add(struct coverage *coverage, uint32_t at, uint32_t len_bytes)
{
	if (at > coverage->prefix_bytes || coverage->ahead)
		coverage_add_gapped(coverage, at, len_bytes);
	else if (at + len_bytes > coverage->prefix_bytes)
		coverage->prefix_bytes = at + len_bytes;
}

/** coverage_free_ranges - Frees the ranges; only for coverage_fini(). */
void coverage_free_ranges(struct coverage *coverage);
/** coverage_fini - Frees the ranges; the prefix stays. */
static inline void coverage_fini(struct coverage *coverage)
{
	if (coverage->ahead)
		coverage_free_ranges(coverage);
}

#endif
