/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * List of posted receives, for fabrics whose receives have no memory of their own.
 *
 * First in, first out, stored as runs of (size, count), because sizes change seldom.
 */
#ifndef FABRIC_RECV_RUNS_H
#define FABRIC_RECV_RUNS_H

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* A run counts at least one receive, so the caller's bound on receives bounds runs too. */
#define RECV_RUNS_MAX 16384u

struct recv_run {
	uint32_t size_bytes;
	unsigned count;
};

struct recv_runs {
	struct recv_run *runs; /* a ring; NULL until the first receive */
	unsigned room;         /* of the ring; a power of two */
	unsigned head, count;
};

/** recv_runs_init - Initializes an empty list. */
void recv_runs_init(struct recv_runs *runs);
/** recv_runs_fini - Frees the memory of the list. */
void recv_runs_fini(struct recv_runs *runs);
/** recv_run_at - Returns the run at index @i, which must exist. */
static inline struct recv_run *recv_run_at(const struct recv_runs *runs, unsigned i)
{
	return &runs->runs[(runs->head + i) & (runs->room - 1)];
}
/** recv_runs_begin - Like recv_runs_add(), for a size that differs from the last run's. */
int recv_runs_begin(struct recv_runs *runs, unsigned count, uint32_t size_bytes) MUST_CHECK;
/**
 * recv_runs_add - Posts @count receives of @size_bytes each. Returns 0, or -ENOMEM (memory, or
 * RECV_RUNS_MAX).
 */
static inline MUST_CHECK int recv_runs_add(struct recv_runs *runs, unsigned count,
					   uint32_t size_bytes)
{
	struct recv_run *last = runs->count ? recv_run_at(runs, runs->count - 1) : NULL;

	if (!last || last->size_bytes != size_bytes)
		return recv_runs_begin(runs, count, size_bytes);
	assert(count <= UINT_MAX - last->count);
	last->count += count;
	return 0;
}
/**
 * recv_runs_first - Stores the size of the receive that the next Send consumes; returns false if
 * none is posted.
 */
bool recv_runs_first(const struct recv_runs *runs, uint32_t *size_bytes) MUST_CHECK;
/** recv_runs_take - Consumes the oldest receive, which must exist. */
static inline void recv_runs_take(struct recv_runs *runs)
{
	assert(runs->count);
	if (--recv_run_at(runs, 0)->count > 0)
		return;
	runs->head = (runs->head + 1) & (runs->room - 1);
	runs->count--;
}
/** recv_runs_resize - Sets the size of all receives but the first @kept (0 or 1) to @size_bytes. */
void recv_runs_resize(struct recv_runs *runs, unsigned kept, uint32_t size_bytes);
/** recv_runs_smallest - Returns the smallest posted size; UINT32_MAX if none is posted. */
uint32_t recv_runs_smallest(const struct recv_runs *runs);
/** recv_runs_bytes - Returns the total size of the posted receives. */
uint64_t recv_runs_bytes(const struct recv_runs *runs);
/** recv_runs_largest - Returns the largest posted size; 0 if none is posted. */
uint32_t recv_runs_largest(const struct recv_runs *runs);

#endif
