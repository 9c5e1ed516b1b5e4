/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of counters.
 *
 * A module lists its counters once, as an X-macro of (name, help):
 *
 *	#define TCP_LEG_COUNTERS(X)                             \
 *		X(records_received, "records received")         \
 *		X(records_sent, "records sent")
 *	COUNTER_STRUCT(tcp_leg_counters, TCP_LEG_COUNTERS);
 *
 * This declares `struct tcp_leg_counters` with one uint64_t each. In one .c file COUNTER_TABLE
 * defines `const struct counter_desc tcp_leg_counters_table[]`, which ends with a NULL name. The
 * statistics code adds, names and prints the counters by this table, without knowing the module. A
 * counter belongs to one thread; other threads read snapshots only.
 */
#ifndef BASE_COUNTERS_H
#define BASE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

struct counter_desc {
	const char *name;
	const char *help;
};

#define COUNTER_MEMBER(name, help) uint64_t name;
#define COUNTER_DESC(name, help)   {#name, help},

#define COUNTER_STRUCT(tag, LIST)                                                                  \
	struct tag {                                                                               \
		LIST(COUNTER_MEMBER)                                                               \
	};                                                                                         \
	extern const struct counter_desc tag##_table[]

#define COUNTER_TABLE(tag, LIST)                                                                   \
	const struct counter_desc tag##_table[] = {LIST(COUNTER_DESC){NULL, NULL}}

/**
 * counters_add - Adds one struct of counters to another of the same type
 * @table: the type's table
 * @sum:   receives the sums
 * @part:  is added
 */
static inline void counters_add(const struct counter_desc *table, void *sum, const void *part)
{
	uint64_t *to = sum;
	const uint64_t *from = part;

	for (size_t i = 0; table[i].name; i++)
		to[i] += from[i];
}

#endif
