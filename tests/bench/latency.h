/* SPDX-License-Identifier: BSD-3-Clause */
/* Histogram of latencies in fixed memory. Its results are accurate to 1 %. */
#ifndef TESTS_BENCH_LATENCY_H
#define TESTS_BENCH_LATENCY_H

#include <stdint.h>

/* Each power of two has so many buckets, all of the same width. */
#define LATENCY_BUCKETS 64u
#define LATENCY_POWERS  42u /* the longest is more than an hour */

struct latency {
	uint64_t count, max_ns;
	uint64_t buckets[LATENCY_POWERS * LATENCY_BUCKETS];
};

void latency_add(struct latency *latency, uint64_t ns);
/** latency_ns - as long took @fraction of them at most: the middle of that one's bucket, exact where it is the longest. */
uint64_t latency_ns(const struct latency *latency, double fraction);

#endif
