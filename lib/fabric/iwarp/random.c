// SPDX-License-Identifier: BSD-3-Clause
/* xoshiro256** of Blackman and Vigna. */
#include "fabric/iwarp/random.h"

static uint64_t rotated(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

void iwarp_random_seed(struct iwarp_random *random, const uint64_t seed[4])
{
	for (unsigned i = 0; i < 4; i++)
		random->state[i] = seed[i];
	/* The only state that never changes. */
	if (!(seed[0] | seed[1] | seed[2] | seed[3]))
		random->state[0] = 1;
}

uint64_t iwarp_random_next(struct iwarp_random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotated(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotated(s[3], 45);
	return result;
}
