/* SPDX-License-Identifier: BSD-3-Clause */
/* Histogram of latencies in fixed memory. Its results are accurate to 1 %. */
#ifndef TESTS_BENCH_LATENCY_H
#define TESTS_BENCH_LATENCY_H

#include <stdint.h>

/* Buckets in each power of two, all of the same width. */
#define LATENCY_BUCKETS 64u
#define LATENCY_POWERS  42u /* the longest is more than an hour */

struct latency {
	uint64_t count, max_ns;
	uint64_t buckets[LATENCY_POWERS * LATENCY_BUCKETS];
};

void latency_add(struct latency *latency, uint64_t ns);
/**
 * latency_ns - Returns the latency that @fraction of them do not exceed: the middle of its bucket,
 * exact if it is the longest.
 */
uint64_t latency_ns(const struct latency *latency, double fraction);

#endif
