/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included by every fuzz target: the entry point's prototype, and an assertion that is always on.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * LLVMFuzzerTestOneInput - feed one input to the code under test
 * @data, @size: the input, in memory of exactly that size
 *
 * Keeps no state from one call to the next and frees all it takes. Returns 0; a finding is an
 * abort().
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_ASSERT(cond)                                                                          \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #cond);   \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
