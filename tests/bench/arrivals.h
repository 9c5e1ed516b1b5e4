/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules Calls at a rate (Poisson arrivals), and queues those that are due and not made yet. */
#ifndef TESTS_BENCH_ARRIVALS_H
#define TESTS_BENCH_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#define ARRIVALS_MAX (1u << 20) /* number of waiting Calls */

/* Random numbers of a seed. */
struct random {
	uint64_t state;
};

struct arrivals {
	struct random random;
	double mean_ns; /* between two */
	double next_ns; /* when the next one is due */
	uint64_t *due_ns;
	uint32_t first, count;
};

uint64_t random_next(struct random *random);

/** arrivals_init - Schedules the first after @begin_ns; free with arrivals_fini() */
void arrivals_init(struct arrivals *arrivals, double per_s, uint64_t seed, uint64_t begin_ns);
void arrivals_fini(struct arrivals *arrivals);

/** arrivals_come - Queues those that are due at @now_ns; returns false if they are too many. */
bool arrivals_come(struct arrivals *arrivals, uint64_t now_ns);
/**
 * arrivals_take - Returns the one that waits for longest, and its due time; false if none waits.
 */
bool arrivals_take(struct arrivals *arrivals, uint64_t *due_ns);

#endif
