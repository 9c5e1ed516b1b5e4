/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters as tables.
 *
 * A module lists its counters once, as an X-macro of (name, help):
 *
 *	#define TCP_LEG_COUNTERS(X)                             \
 *		X(records_received, "records received")         \
 *		X(records_sent, "records sent")
 *	COUNTER_STRUCT(tcp_leg_counters, TCP_LEG_COUNTERS);
 *
 * That makes `struct tcp_leg_counters` with one uint64_t each and, in the one .c file that says
 * COUNTER_TABLE, `const struct counter_desc tcp_leg_counters_table[]`, ended by a NULL name, by
 * which the statistics code adds, names and prints them without knowing the module.
 * A counter belongs to one thread; other threads see it in snapshots only.
 */
#ifndef BASE_COUNTER_H
#define BASE_COUNTER_H

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
 * counters_add - add one counter struct to another of the same type
 * @table: the type's table
 * @sum:   struct that takes the sums
 * @part:  struct that is added
 */
static inline void counters_add(const struct counter_desc *table, void *sum, const void *part)
{
	uint64_t *to = sum;
	const uint64_t *from = part;

	for (size_t i = 0; table[i].name; i++)
		to[i] += from[i];
}

#endif
