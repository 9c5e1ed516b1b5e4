// SPDX-License-Identifier: BSD-3-Clause
/* The ranges are a sorted array of doubling capacity. A Write merges all ranges that it touches. */
#include "fabric/coverage.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 8u

struct range {
	uint32_t at, end;
};

struct coverage_ranges {
	unsigned count, room;
	struct range range[];
};

_Static_assert(sizeof(struct coverage_ranges) + COVERAGE_RANGES_MAX * sizeof(struct range) ==
		       COVERAGE_MAX_BYTES,
	       "what memory budgets count for it");

/* Returns the index of the first range that ends at or after @at, or the count if none does. */
static unsigned first_reaching(const struct coverage_ranges *ranges, uint32_t at)
{
	unsigned low = 0, high = ranges->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (ranges->range[middle].end < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Removes @count ranges, starting at index @first. */
static void remove_ranges(struct coverage_ranges *ranges, unsigned first, unsigned count)
{
	memmove(&ranges->range[first], &ranges->range[first + count],
		(ranges->count - first - count) * sizeof(ranges->range[0]));
	ranges->count -= count;
}

/* Makes space for one more range. Returns false at COVERAGE_RANGES_MAX or without memory. */
static bool reserve_one(struct coverage *coverage)
{
	struct coverage_ranges *ranges = coverage->ahead;
	unsigned room = ranges ? 2 * ranges->room : FIRST_ROOM;

	if (ranges && ranges->count < ranges->room)
		return true;
	if (room > COVERAGE_RANGES_MAX)
		return false;
	ranges = realloc(ranges, sizeof(*ranges) + room * sizeof(ranges->range[0]));
	if (!ranges)
		return false;
	if (!coverage->ahead)
		ranges->count = 0;
	ranges->room = room;
	coverage->ahead = ranges;
	return true;
}

static void insert(struct coverage *coverage, unsigned i, struct range range)
{
	struct coverage_ranges *ranges;

	if (!reserve_one(coverage))
		return;
	ranges = coverage->ahead;
	memmove(&ranges->range[i + 1], &ranges->range[i],
		(ranges->count - i) * sizeof(ranges->range[0]));
	ranges->range[i] = range;
	ranges->count++;
}

/* Adds a range after a gap, and merges it with the ranges that it touches. */
static void add_ahead(struct coverage *coverage, struct range range)
{
	struct coverage_ranges *ranges = coverage->ahead;
	unsigned first = ranges ? first_reaching(ranges, range.at) : 0, last = first;

	while (ranges && last < ranges->count && ranges->range[last].at <= range.end)
		last++;
	if (first == last) {
		insert(coverage, first, range);
		return;
	}
	if (ranges->range[first].at < range.at)
		range.at = ranges->range[first].at;
	if (ranges->range[last - 1].end > range.end)
		range.end = ranges->range[last - 1].end;
	ranges->range[first] = range;
	remove_ranges(ranges, first + 1, last - first - 1);
}

/* Merges the ranges that the grown prefix has reached. */
static void take_in(struct coverage *coverage)
{
	struct coverage_ranges *ranges = coverage->ahead;
	unsigned reached = 0;

	while (reached < ranges->count && ranges->range[reached].at <= coverage->prefix_bytes) {
		if (ranges->range[reached].end > coverage->prefix_bytes)
			coverage->prefix_bytes = ranges->range[reached].end;
		reached++;
	}
	remove_ranges(ranges, 0, reached);
	if (!ranges->count)
		coverage_forget(coverage);
}

void coverage_add_apart(struct coverage *coverage, uint32_t at, uint32_t len_bytes)
{
	struct range range = {at, at + len_bytes};

	if (!len_bytes || range.end <= coverage->prefix_bytes)
		return;
	if (at > coverage->prefix_bytes) {
		add_ahead(coverage, range);
		return;
	}
	coverage->prefix_bytes = range.end;
	take_in(coverage);
}

void coverage_forget(struct coverage *coverage)
{
	free(coverage->ahead);
	coverage->ahead = NULL;
}
