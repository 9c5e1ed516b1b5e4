/* SPDX-License-Identifier: BSD-3-Clause */
/* Minimum and maximum of two numbers. */
#ifndef BASE_LEAST_H
#define BASE_LEAST_H

#include <stdint.h>

static inline uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

#endif
