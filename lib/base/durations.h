/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency histogram with power-of-two buckets.
 *
 * Times are counted in ticks of 2^-20 s, slightly less than a microsecond, so that bucket limits are powers of two of a
 * second. Bucket n counts times of less than 2^n ticks that no lower bucket counts. The last bucket counts all longer
 * times.
 */
#ifndef BASE_DURATIONS_H
#define BASE_DURATIONS_H

#include <stdint.h>

#define DURATIONS_BUCKETS    32u /* the last but one ends at 2^10 s */
#define DURATIONS_TICKS_LOG2 20  /* per second */

struct durations {
	uint64_t sum_us;
	uint64_t counts[DURATIONS_BUCKETS];
};

/** durations_bucket - Returns the bucket of a time of @us microseconds. */
static inline unsigned durations_bucket(uint32_t us)
{
	/* 2^51 / 10^6, which does not overflow. At least one tick unless @us is 0. */
	uint64_t ticks = us * UINT64_C(2251799814) >> 31;
	unsigned n = us ? 64 - (unsigned)__builtin_clzll(ticks) : 0;

	return n < DURATIONS_BUCKETS ? n : DURATIONS_BUCKETS - 1;
}

/** durations_add - Counts a time of @us microseconds. */
static inline void durations_add(struct durations *durations, uint32_t us)
{
	if (!us) {
		durations->counts[0]++;
		return;
	}
	durations->sum_us += us;
	durations->counts[durations_bucket(us)]++;
}

/** durations_merge - Adds another histogram. */
void durations_merge(struct durations *sum, const struct durations *part);
/** durations_count - Returns the number of times counted. */
uint64_t durations_count(const struct durations *durations);
/** durations_limit_s - Returns the upper limit of a bucket in seconds; infinity for the last. */
double durations_limit_s(unsigned bucket);
/** durations_quantile - Returns the bucket that contains quantile @q, 0 < @q <= 1; 0 if the histogram is empty. */
unsigned durations_quantile(const struct durations *durations, double q);

#endif
