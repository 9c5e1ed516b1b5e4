// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/random.h"

#define START UINT64_C(0x9e3779b97f4a7c15)

static uint64_t state = START;

void random_start(void)
{
	state = START;
}

uint64_t random_u64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

uint32_t random_u32(void)
{
	return (uint32_t)(random_u64() >> 32);
}

uint32_t random_below(uint32_t limit)
{
	return random_u32() % limit;
}
