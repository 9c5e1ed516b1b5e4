/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long something took, again and again: a histogram in powers of two.
 *
 * Times are counted in ticks of 2^-20 s, which is a little less than a microsecond, so that the limits of the buckets are
 * powers of two of a second: what took less than 2^n ticks, and was in no bucket before, is in bucket n. The last one has
 * all that took longer.
 */
#ifndef BASE_DURATIONS_H
#define BASE_DURATIONS_H

#include <stdint.h>

#define DURATIONS_BUCKETS    32u /* the last but one ends at 2^10 s */
#define DURATIONS_TICKS_LOG2 20  /* in a second */

struct durations {
	uint64_t sum_us;
	uint64_t counts[DURATIONS_BUCKETS];
};

/** durations_bucket - in which bucket @us microseconds are. */
static inline unsigned durations_bucket(uint32_t us)
{
	/* 2^51 / 10^6, which does not overflow; a tick at least, unless there is no microsecond. */
	uint64_t ticks = us * UINT64_C(2251799814) >> 31;
	unsigned n = us ? 64 - (unsigned)__builtin_clzll(ticks) : 0;

	return n < DURATIONS_BUCKETS ? n : DURATIONS_BUCKETS - 1;
}

/** durations_add - one that took @us microseconds. */
static inline void durations_add(struct durations *durations, uint32_t us)
{
	if (!us) {
		durations->counts[0]++;
		return;
	}
	durations->sum_us += us;
	durations->counts[durations_bucket(us)]++;
}

/** durations_merge - add those of another. */
void durations_merge(struct durations *sum, const struct durations *part);
/** durations_count - how many there are. */
uint64_t durations_count(const struct durations *durations);
/** durations_limit_s - where a bucket ends, in seconds; infinite for the last. */
double durations_limit_s(unsigned bucket);
/** durations_quantile - the bucket in which the @q-th part of them ends, 0 < @q <= 1; 0 if there are none. */
unsigned durations_quantile(const struct durations *durations, double q);

#endif
