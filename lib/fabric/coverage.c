// SPDX-License-Identifier: BSD-3-Clause
/* The ranges are a sorted array of doubling capacity. A Write merges all ranges that it touches. */
#include "fabric/coverage.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 8u

struct range {
	uint32_t at, end;
};

struct coverage_ranges {
	unsigned count, capacity;
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
static void ranges_remove(struct coverage_ranges *ranges, unsigned first, unsigned count)
{
	memmove(&ranges->range[first], &ranges->range[first + count],
		(ranges->count - first - count) * sizeof(ranges->range[0]));
	ranges->count -= count;
}

/* Makes space for one more range. Returns false at COVERAGE_RANGES_MAX or without memory. */
static bool reserve_one(struct coverage *coverage)
{
	struct coverage_ranges *ranges = coverage->ahead;
	unsigned capacity = ranges ? 2 * ranges->capacity : FIRST_CAPACITY;

	if (ranges && ranges->count < ranges->capacity)
		return true;
	if (capacity > COVERAGE_RANGES_MAX)
		return false;
	ranges = realloc(ranges, sizeof(*ranges) + capacity * sizeof(ranges->range[0]));
	if (!ranges)
		return false;
	if (!coverage->ahead)
		ranges->count = 0;
	ranges->capacity = capacity;
	coverage->ahead = ranges;
	return true;
}

static void range_insert(struct coverage *coverage, unsigned i, struct range range)
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
static void range_add(struct coverage *coverage, struct range range)
{
	struct coverage_ranges *ranges = coverage->ahead;
	unsigned first = ranges ? first_reaching(ranges, range.at) : 0, last = first;

	while (ranges && last < ranges->count && ranges->range[last].at <= range.end)
		last++;
	if (first == last) {
		range_insert(coverage, first, range);
		return;
	}
	if (ranges->range[first].at < range.at)
		range.at = ranges->range[first].at;
	if (ranges->range[last - 1].end > range.end)
		range.end = ranges->range[last - 1].end;
	ranges->range[first] = range;
	ranges_remove(ranges, first + 1, last - first - 1);
}

/* Merges the ranges that the grown prefix has reached. */
static void ranges_absorb(struct coverage *coverage)
{
	struct coverage_ranges *ranges = coverage->ahead;
	unsigned reached = 0;

	while (reached < ranges->count && ranges->range[reached].at <= coverage->prefix_bytes) {
		if (ranges->range[reached].end > coverage->prefix_bytes)
			coverage->prefix_bytes = ranges->range[reached].end;
		reached++;
	}
	ranges_remove(ranges, 0, reached);
	if (!ranges->count)
		coverage_free_ranges(coverage);
}

void coverage_add_gapped(struct coverage *coverage, uint32_t at, uint32_t len_bytes)
{
	struct range range = {at, at + len_bytes};

	if (!len_bytes || range.end <= coverage->prefix_bytes)
		return;
	if (at > coverage->prefix_bytes) {
		range_add(coverage, range);
		return;
	}
	coverage->prefix_bytes = range.end;
	ranges_absorb(coverage);
}

void coverage_free_ranges(struct coverage *coverage)
{
	free(coverage->ahead);
	coverage->ahead = NULL;
}
