/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers for STags and tagged offsets, from a seed (xoshiro256**).
 *
 * They make stale and mistaken keys fail; they are no secret: a key reaches memory of the
 * connection that it was lent on and no other, whoever guesses it.
 */
#ifndef FABRIC_IWARP_RANDOM_H
#define FABRIC_IWARP_RANDOM_H

#include <stdint.h>

struct iwarp_random {
	uint64_t state[4];
};

/** iwarp_random_seed - start from 32 bytes of entropy; any value will do. */
void iwarp_random_seed(struct iwarp_random *random, const uint64_t seed[4]);
/** iwarp_random_next - the next 64 bits. */
uint64_t iwarp_random_next(struct iwarp_random *random);

#endif
