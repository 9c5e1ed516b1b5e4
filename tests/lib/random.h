/* SPDX-License-Identifier: BSD-3-Clause */
/* Pseudo-random numbers (xorshift64), the same in every run. */
#ifndef TESTS_LIB_RANDOM_H
#define TESTS_LIB_RANDOM_H

#include <stdint.h>

/** random_start - Restarts the sequence. */
void random_start(void);
uint64_t random_u64(void);
uint32_t random_u32(void);
/** random_below - Returns a random number less than @limit, which is not 0. */
uint32_t random_below(uint32_t limit);

#endif
