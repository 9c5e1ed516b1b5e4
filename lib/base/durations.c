// SPDX-License-Identifier: BSD-3-Clause
#include "base/durations.h"

#include <math.h>

void durations_merge(struct durations *sum, const struct durations *part)
{
	sum->sum_us += part->sum_us;
	for (unsigned i = 0; i < DURATIONS_BUCKETS; i++)
		sum->counts[i] += part->counts[i];
}

uint64_t durations_count(const struct durations *durations)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < DURATIONS_BUCKETS; i++)
		count += durations->counts[i];
	return count;
}

double durations_limit_s(unsigned bucket)
{
	if (bucket >= DURATIONS_BUCKETS - 1)
		return INFINITY;
	return (double)(1u << bucket) / (1 << DURATIONS_TICKS_LOG2);
}

unsigned durations_quantile(const struct durations *durations, double q)
{
	double left = q * (double)durations_count(durations);
	unsigned i = 0;

	for (; i < DURATIONS_BUCKETS - 1; i++) {
		left -= (double)durations->counts[i];
		if (left <= 0)
			break;
	}
	return left <= 0 || i == DURATIONS_BUCKETS - 1 ? i : 0;
}
