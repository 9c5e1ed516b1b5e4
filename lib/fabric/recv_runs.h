/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives that are posted, for fabrics on which a receive has no memory of its own: first in, first out, kept as
 * runs of (size, count), since sizes change seldom.
 */
#ifndef FABRIC_RECV_RUNS_H
#define FABRIC_RECV_RUNS_H

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* Each run stands for one receive at least, so that whoever bounds the receives bounds these; and this does. */
#define RECV_RUNS_MAX 16384u

struct recv_run {
	uint32_t size_bytes;
	unsigned count;
};

struct recv_runs {
	struct recv_run *runs; /* a ring; NULL until the first */
	unsigned room;         /* of it: a power of two */
	unsigned head, count;
};

/** recv_runs_init - none is posted. */
void recv_runs_init(struct recv_runs *runs);
/** recv_runs_fini - free what the runs take. */
void recv_runs_fini(struct recv_runs *runs);
/** recv_run_at - the run behind the first @i; there must be one. */
static inline struct recv_run *recv_run_at(const struct recv_runs *runs, unsigned i)
{
	return &runs->runs[(runs->head + i) & (runs->room - 1)];
}
/** recv_runs_begin - the same as recv_runs_add(), of another size than those that were added last. */
int recv_runs_begin(struct recv_runs *runs, unsigned count, uint32_t size_bytes) MUST_CHECK;
/** recv_runs_add - post @count receives of @size_bytes each; returns 0, or -ENOMEM (memory, or RECV_RUNS_MAX). */
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
/** recv_runs_first - the size of the receive that the next Send takes; false if none is posted. */
bool recv_runs_first(const struct recv_runs *runs, uint32_t *size_bytes) MUST_CHECK;
/** recv_runs_take - that receive is used; there must be one. */
static inline void recv_runs_take(struct recv_runs *runs)
{
	assert(runs->count);
	if (--recv_run_at(runs, 0)->count > 0)
		return;
	runs->head = (runs->head + 1) & (runs->room - 1);
	runs->count--;
}
/** recv_runs_resize - all but the first @kept, at most one, have @size_bytes from now on. */
void recv_runs_resize(struct recv_runs *runs, unsigned kept, uint32_t size_bytes);
/** recv_runs_smallest - the size of the smallest that is posted; UINT32_MAX without any. */
uint32_t recv_runs_smallest(const struct recv_runs *runs);
/** recv_runs_bytes - of all that are posted, together. */
uint64_t recv_runs_bytes(const struct recv_runs *runs);
/** recv_runs_largest - the size of the largest that is posted; 0 without any. */
uint32_t recv_runs_largest(const struct recv_runs *runs);

#endif
