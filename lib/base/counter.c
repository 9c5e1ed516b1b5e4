// SPDX-License-Identifier: BSD-3-Clause
#include "base/counter.h"

void counters_add(const struct counter_desc *table, void *sum, const void *part)
{
	uint64_t *to = sum;
	const uint64_t *from = part;

	for (size_t i = 0; table[i].name; i++)
		to[i] += from[i];
}
