// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bench/latency.h"

/* Times below LATENCY_BUCKETS have a bucket each; those between 2^n and 2^(n+1) share LATENCY_BUCKETS. */
static uint32_t bucket_of(uint64_t ns)
{
	unsigned power = ns < LATENCY_BUCKETS ? 0 : 63 - (unsigned)__builtin_clzll(ns) - 5;
	uint64_t bucket = ns < LATENCY_BUCKETS
				  ? ns
				  : power * LATENCY_BUCKETS + (ns >> (power - 1)) - LATENCY_BUCKETS;

	return bucket < LATENCY_POWERS * LATENCY_BUCKETS ? (uint32_t)bucket
							 : LATENCY_POWERS * LATENCY_BUCKETS - 1;
}

static uint64_t middle_of(uint32_t bucket)
{
	uint32_t power = bucket / LATENCY_BUCKETS;
	uint64_t step = bucket % LATENCY_BUCKETS + LATENCY_BUCKETS;

	if (!power)
		return bucket;
	return (step << (power - 1)) + ((1ull << (power - 1)) >> 1);
}

void latency_add(struct latency *latency, uint64_t ns)
{
	latency->count++;
	latency->buckets[bucket_of(ns)]++;
	if (ns > latency->max_ns)
		latency->max_ns = ns;
}

uint64_t latency_ns(const struct latency *latency, double fraction)
{
	uint64_t seen = 0, wanted = (uint64_t)(fraction * (double)latency->count);

	if (wanted >= latency->count)
		return latency->max_ns;
	for (uint32_t i = 0; i < LATENCY_POWERS * LATENCY_BUCKETS; i++) {
		seen += latency->buckets[i];
		if (seen > wanted)
			return middle_of(i) < latency->max_ns ? middle_of(i) : latency->max_ns;
	}
	return latency->max_ns;
}
