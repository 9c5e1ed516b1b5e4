/* SPDX-License-Identifier: BSD-3-Clause */
/* The lesser and the greater of two numbers. */
#ifndef BASE_LEAST_H
#define BASE_LEAST_H

#include <stdint.h>

/** least - the lesser one. */
static inline uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/** most - the greater one. */
static inline uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

#endif
