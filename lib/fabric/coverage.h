/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records which bytes of a piece of memory a peer has written: the prefix without gaps, and what lies behind a gap.
 *
 * Peers write in order nearly always, so the prefix alone tells all, and each Write costs a comparison. Behind a gap
 * the written bytes are ranges, which are sorted and never touch each other; they take memory only once there is a gap.
 *
 *	| prefix |  gap  | range |  gap  | range | …
 *
 * A peer that leaves more than COVERAGE_RANGES_MAX ranges behind gaps at once loses what it writes behind further
 * gaps: these bytes count as not written until the peer writes them again.
 */
#ifndef FABRIC_COVERAGE_H
#define FABRIC_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

#define COVERAGE_RANGES_MAX 64u
/* What the ranges of one piece of memory take at most: 8 bytes each, and their number. */
#define COVERAGE_MAX_BYTES (8u + 8u * COVERAGE_RANGES_MAX)

struct coverage_ranges;

struct coverage {
	uint32_t prefix_bytes;         /* written from the start on, without a gap */
	uint32_t reached_bytes;        /* how far from the start a Write has come that has begun */
	struct coverage_ranges *ahead; /* written behind a gap; NULL: nothing */
};

/** coverage_init - start with the first @prefix_bytes written. */
static inline void coverage_init(struct coverage *coverage, uint32_t prefix_bytes)
{
	coverage->prefix_bytes = prefix_bytes;
	coverage->reached_bytes = 0;
	coverage->ahead = NULL;
}

/** coverage_reach - record that a Write has begun that ends at @end_bytes; coverage_add() is for what of it is whole. */
static inline void coverage_reach(struct coverage *coverage, uint32_t end_bytes)
{
	if (coverage->reached_bytes < end_bytes)
		coverage->reached_bytes = end_bytes;
}

/** coverage_add_apart - do what coverage_add() does where gaps are concerned: for coverage_add() alone. */
void coverage_add_apart(struct coverage *coverage, uint32_t at, uint32_t len_bytes);

/**
 * coverage_add - record that the peer has written @len_bytes at @at; their sum fits 32 bits
 *
 * Without memory for a range it counts as not written.
 */
static inline void coverage_add(struct coverage *coverage, uint32_t at, uint32_t len_bytes)
{
	if (at > coverage->prefix_bytes || coverage->ahead)
		coverage_add_apart(coverage, at, len_bytes);
	else if (at + len_bytes > coverage->prefix_bytes)
		coverage->prefix_bytes = at + len_bytes;
}

/** coverage_forget - free the ranges: for coverage_fini() alone. */
void coverage_forget(struct coverage *coverage);
/** coverage_fini - free what the ranges take; the prefix stays as it is. */
static inline void coverage_fini(struct coverage *coverage)
{
	if (coverage->ahead)
		coverage_forget(coverage);
}

#endif
