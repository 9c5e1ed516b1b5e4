// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bench/arrivals.h"

#include <math.h>
#include <stdlib.h>

#include "tests/e2e/net.h"

/* splitmix64: every state gives a number of its own. */
uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* The time between two arrivals that know nothing of one another is distributed exponentially. */
static double gap_ns(struct arrivals *arrivals)
{
	double above_zero = ((double)(random_next(&arrivals->random) >> 11) + 1) / 0x1p53;

	return -log(above_zero) * arrivals->mean_ns;
}

void arrivals_init(struct arrivals *arrivals, double per_s, uint64_t seed, uint64_t begin_ns)
{
	*arrivals = (struct arrivals){.random = {seed}, .mean_ns = 1e9 / per_s};
	arrivals->due_ns = calloc(ARRIVALS_MAX, sizeof(*arrivals->due_ns));
	if (!arrivals->due_ns)
		fail("out of memory");
	arrivals->next_ns = (double)begin_ns + gap_ns(arrivals);
}

void arrivals_fini(struct arrivals *arrivals)
{
	free(arrivals->due_ns);
}

bool arrivals_come(struct arrivals *arrivals, uint64_t now_ns)
{
	while (arrivals->next_ns <= (double)now_ns) {
		if (arrivals->count == ARRIVALS_MAX)
			return false;
		arrivals->due_ns[(arrivals->first + arrivals->count++) % ARRIVALS_MAX] =
			(uint64_t)arrivals->next_ns;
		arrivals->next_ns += gap_ns(arrivals);
	}
	return true;
}

bool arrivals_take(struct arrivals *arrivals, uint64_t *due_ns)
{
	if (!arrivals->count)
		return false;
	*due_ns = arrivals->due_ns[arrivals->first];
	arrivals->first = (arrivals->first + 1) % ARRIVALS_MAX;
	arrivals->count--;
	return true;
}
