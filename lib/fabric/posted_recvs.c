// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/posted_recvs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4u

void posted_recvs_init(struct posted_recvs *runs)
{
	memset(runs, 0, sizeof(*runs));
}

void posted_recvs_fini(struct posted_recvs *runs)
{
	free(runs->runs);
	posted_recvs_init(runs);
}

static int ring_grow(struct posted_recvs *runs)
{
	unsigned capacity = runs->capacity ? runs->capacity * 2 : FIRST_CAPACITY;
	struct posted_recv_run *bigger;

	if (capacity > POSTED_RECVS_MAX_RUNS)
		return -ENOMEM;
	bigger = calloc(capacity, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	for (unsigned i = 0; i < runs->count; i++)
		bigger[i] = *posted_recv_run_at(runs, i);
	free(runs->runs);
	runs->runs = bigger;
	runs->capacity = capacity;
	runs->head = 0;
	return 0;
}

int posted_recvs_add_run(struct posted_recvs *runs, unsigned count, uint32_t size_bytes)
{
	if (!count)
		return 0;
	if (runs->count == runs->capacity && ring_grow(runs) < 0)
		return -ENOMEM;
	*posted_recv_run_at(runs, runs->count++) = (struct posted_recv_run){size_bytes, count};
	return 0;
}

bool posted_recvs_first(const struct posted_recvs *runs, uint32_t *size_bytes)
{
	if (!runs->count)
		return false;
	*size_bytes = posted_recv_run_at(runs, 0)->size_bytes;
	return true;
}

void posted_recvs_resize(struct posted_recvs *runs, unsigned kept, uint32_t size_bytes)
{
	struct posted_recv_run first = {0};
	unsigned total = 0;

	assert(kept <= 1);
	if (kept && !runs->count)
		return;
	for (unsigned i = 0; i < runs->count; i++)
		total += posted_recv_run_at(runs, i)->count;
	if (kept)
		first = (struct posted_recv_run){posted_recv_run_at(runs, 0)->size_bytes, 1};
	/* A ring that holds a run has space for two. */
	runs->count = 0;
	if (kept)
		*posted_recv_run_at(runs, runs->count++) = first;
	if (total > kept)
		*posted_recv_run_at(runs, runs->count++) =
			(struct posted_recv_run){size_bytes, total - kept};
}

uint32_t posted_recvs_smallest(const struct posted_recvs *runs)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < runs->count; i++)
		if (posted_recv_run_at(runs, i)->size_bytes < least)
			least = posted_recv_run_at(runs, i)->size_bytes;
	return least;
}

uint32_t posted_recvs_largest(const struct posted_recvs *runs)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < runs->count; i++)
		if (posted_recv_run_at(runs, i)->size_bytes > most)
			most = posted_recv_run_at(runs, i)->size_bytes;
	return most;
}

uint64_t posted_recvs_bytes(const struct posted_recvs *runs)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < runs->count; i++)
		bytes += (uint64_t)posted_recv_run_at(runs, i)->size_bytes *
			 posted_recv_run_at(runs, i)->count;
	return bytes;
}
