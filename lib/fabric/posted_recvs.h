/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * List of posted receives, for fabrics whose receives have no memory of their own.
 *
 * First in, first out, stored as runs of (size, count), because sizes change seldom.
 */
#ifndef FABRIC_POSTED_RECVS_H
#define FABRIC_POSTED_RECVS_H

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* A run counts at least one receive, so the caller's bound on receives bounds runs too. */
#define POSTED_RECVS_MAX_RUNS 16384u

struct posted_recv_run {
	uint32_t size_bytes;
	unsigned count;
};

struct posted_recvs {
	struct posted_recv_run *runs; /* a ring; NULL until the first receive */
	unsigned capacity;            /* of the ring; a power of two */
	unsigned head, count;
};

/** posted_recvs_init - Initializes an empty list. */
void posted_recvs_init(struct posted_recvs *runs);
/** posted_recvs_fini - Frees the memory of the list. */
void posted_recvs_fini(struct posted_recvs *runs);
/** posted_recv_run_at - Returns the run at index @i, which must exist. */
static inline struct posted_recv_run *posted_recv_run_at(const struct posted_recvs *runs,
							 unsigned i)
{
	return &runs->runs[(runs->head + i) & (runs->capacity - 1)];
}
/** posted_recvs_add_run - Like posted_recvs_add(), for a size that differs from the last run's. */
int posted_recvs_add_run(struct posted_recvs *runs, unsigned count, uint32_t size_bytes) MUST_CHECK;
/**
 * posted_recvs_add - Posts @count receives of @size_bytes each. Returns 0, or -ENOMEM (memory, or
 * POSTED_RECVS_MAX_RUNS).
 */
static inline MUST_CHECK int posted_recvs_add(struct posted_recvs *runs, unsigned count,
					      uint32_t size_bytes)
{
	struct posted_recv_run *last =
		runs->count ? posted_recv_run_at(runs, runs->count - 1) : NULL;

	if (!last || last->size_bytes != size_bytes)
		return posted_recvs_add_run(runs, count, size_bytes);
	assert(count <= UINT_MAX - last->count);
	last->count += count;
	return 0;
}
/**
 * posted_recvs_first - Stores the size of the receive that the next Send consumes; returns false if
 * none is posted.
 */
bool posted_recvs_first(const struct posted_recvs *runs, uint32_t *size_bytes) MUST_CHECK;
/** posted_recvs_consume - Consumes the oldest receive, which must exist. */
static inline void posted_recvs_consume(struct posted_recvs *runs)
{
	assert(runs->count);
	if (--posted_recv_run_at(runs, 0)->count > 0)
		return;
	runs->head = (runs->head + 1) & (runs->capacity - 1);
	runs->count--;
}
/**
 * posted_recvs_resize - Sets the size of all receives but the first @kept (0 or 1) to @size_bytes.
 */
void posted_recvs_resize(struct posted_recvs *runs, unsigned kept, uint32_t size_bytes);
/** posted_recvs_smallest - Returns the smallest posted size; UINT32_MAX if none is posted. */
uint32_t posted_recvs_smallest(const struct posted_recvs *runs);
/** posted_recvs_bytes - Returns the total size of the posted receives. */
uint64_t posted_recvs_bytes(const struct posted_recvs *runs);
/** posted_recvs_largest - Returns the largest posted size; 0 if none is posted. */
uint32_t posted_recvs_largest(const struct posted_recvs *runs);

#endif
