// SPDX-License-Identifier: BSD-3-Clause
#include "base/histogram.h"

#include <math.h>

void histogram_merge(struct histogram *sum, const struct histogram *part)
{
	sum->sum_us += part->sum_us;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum->counts[i] += part->counts[i];
}

uint64_t histogram_count(const struct histogram *histogram)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		count += histogram->counts[i];
	return count;
}

double histogram_bucket_end_s(unsigned bucket)
{
	if (bucket >= HISTOGRAM_BUCKETS - 1)
		return INFINITY;
	return (double)(1u << bucket) / (1 << HISTOGRAM_TICKS_LOG2);
}

unsigned histogram_quantile_bucket(const struct histogram *histogram, double q)
{
	double left = q * (double)histogram_count(histogram);
	unsigned i = 0;

	for (; i < HISTOGRAM_BUCKETS - 1; i++) {
		left -= (double)histogram->counts[i];
		if (left <= 0)
			break;
	}
	return left <= 0 || i == HISTOGRAM_BUCKETS - 1 ? i : 0;
}
