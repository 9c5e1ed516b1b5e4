/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency histogram with power-of-two buckets.
 *
 * Times are counted in ticks of 2^-20 s, slightly less than a microsecond, so that bucket limits
 * are powers of two of a second. Bucket n counts times of less than 2^n ticks that no lower bucket
 * counts. The last bucket counts all longer times.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS    32u /* the last but one ends at 2^10 s */
#define HISTOGRAM_TICKS_LOG2 20  /* per second */

struct histogram {
	uint64_t sum_us;
	uint64_t counts[HISTOGRAM_BUCKETS];
};

/** histogram_bucket - Returns the bucket of a time of @us microseconds. */
static inline unsigned histogram_bucket(uint32_t us)
{
	/* 2^51 / 10^6, which does not overflow. At least one tick unless @us is 0. */
	uint64_t ticks = us * UINT64_C(2251799814) >> 31;
	unsigned n = us ? 64 - (unsigned)__builtin_clzll(ticks) : 0;

	return n < HISTOGRAM_BUCKETS ? n : HISTOGRAM_BUCKETS - 1;
}

/** histogram_add - Counts a time of @us microseconds. */
static inline void histogram_add(struct histogram *histogram, uint32_t us)
{
	if (!us) {
		histogram->counts[0]++;
		return;
	}
	histogram->sum_us += us;
	histogram->counts[histogram_bucket(us)]++;
}

/** histogram_merge - Adds another histogram. */
void histogram_merge(struct histogram *sum, const struct histogram *part);
/** histogram_count - Returns the number of times counted. */
uint64_t histogram_count(const struct histogram *histogram);
/**
 * histogram_bucket_end_s - Returns the upper limit of a bucket in seconds; infinity for the last.
 */
double histogram_bucket_end_s(unsigned bucket);
/**
 * histogram_quantile_bucket - Returns the bucket that contains quantile @q, 0 < @q <= 1; 0 if the
 * histogram is empty.
 */
unsigned histogram_quantile_bucket(const struct histogram *histogram, double q);

#endif
