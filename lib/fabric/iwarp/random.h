/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers for STags and tagged offsets, from a seed (xoshiro256**).
 *
 * They make stale and wrong keys fail. They need not be secret: a key reaches only memory exposed
 * on its own connection, even if guessed.
 */
#ifndef FABRIC_IWARP_RANDOM_H
#define FABRIC_IWARP_RANDOM_H

#include <stdint.h>

struct iwarp_random {
	uint64_t state[4];
};

/** iwarp_random_seed - Initializes the state from 32 bytes of entropy; any value is valid. */
void iwarp_random_seed(struct iwarp_random *random, const uint64_t seed[4]);
/** iwarp_random_next - Returns the next 64 bits. */
uint64_t iwarp_random_next(struct iwarp_random *random);

#endif
