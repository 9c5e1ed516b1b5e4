// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/recv_runs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4u

void recv_runs_init(struct recv_runs *runs)
{
	memset(runs, 0, sizeof(*runs));
}

void recv_runs_fini(struct recv_runs *runs)
{
	free(runs->runs);
	recv_runs_init(runs);
}

static int grow(struct recv_runs *runs)
{
	unsigned room = runs->room ? runs->room * 2 : FIRST_ROOM;
	struct recv_run *bigger;

	if (room > RECV_RUNS_MAX)
		return -ENOMEM;
	bigger = calloc(room, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	for (unsigned i = 0; i < runs->count; i++)
		bigger[i] = *recv_run_at(runs, i);
	free(runs->runs);
	runs->runs = bigger;
	runs->room = room;
	runs->head = 0;
	return 0;
}

int recv_runs_begin(struct recv_runs *runs, unsigned count, uint32_t size_bytes)
{
	if (!count)
		return 0;
	if (runs->count == runs->room && grow(runs) < 0)
		return -ENOMEM;
	*recv_run_at(runs, runs->count++) = (struct recv_run){size_bytes, count};
	return 0;
}

bool recv_runs_first(const struct recv_runs *runs, uint32_t *size_bytes)
{
	if (!runs->count)
		return false;
	*size_bytes = recv_run_at(runs, 0)->size_bytes;
	return true;
}

void recv_runs_resize(struct recv_runs *runs, unsigned kept, uint32_t size_bytes)
{
	struct recv_run first = {0};
	unsigned total = 0;

	assert(kept <= 1);
	if (kept && !runs->count)
		return;
	for (unsigned i = 0; i < runs->count; i++)
		total += recv_run_at(runs, i)->count;
	if (kept)
		first = (struct recv_run){recv_run_at(runs, 0)->size_bytes, 1};
	/* A ring that holds a run has space for two. */
	runs->count = 0;
	if (kept)
		*recv_run_at(runs, runs->count++) = first;
	if (total > kept)
		*recv_run_at(runs, runs->count++) = (struct recv_run){size_bytes, total - kept};
}

uint32_t recv_runs_smallest(const struct recv_runs *runs)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < runs->count; i++)
		if (recv_run_at(runs, i)->size_bytes < least)
			least = recv_run_at(runs, i)->size_bytes;
	return least;
}

uint32_t recv_runs_largest(const struct recv_runs *runs)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < runs->count; i++)
		if (recv_run_at(runs, i)->size_bytes > most)
			most = recv_run_at(runs, i)->size_bytes;
	return most;
}

uint64_t recv_runs_bytes(const struct recv_runs *runs)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < runs->count; i++)
		bytes += (uint64_t)recv_run_at(runs, i)->size_bytes * recv_run_at(runs, i)->count;
	return bytes;
}
