/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Table-driven state machines.
 *
 * A machine lists its states once, as an X-macro of (state, name, awaited event, possible next
 * states):
 *
 *	#define DEMO_STATES(X)                                         \
 *		X(DEMO_IDLE, "idle", "a request", TO(DEMO_BUSY))       \
 *		X(DEMO_BUSY, "busy", "the end of the request", TO(DEMO_IDLE))
 *	STATE_ENUM(demo_state, DEMO_STATES);
 *
 * This declares `enum demo_state`. In one .c file STATE_TABLE(demo_states, DEMO_STATES) defines the
 * table. state_move() checks transitions by it, logs and the control socket take the names from it,
 * and tests/unit/states.sh compares doc/states.md with it. Each machine has one function that sets
 * its state, by state_move() or state_next(). A transition that the table does not have fails an
 * assertion.
 */
#ifndef BASE_STATE_MACHINE_H
#define BASE_STATE_MACHINE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct state_row {
	const char *name;
	const char *awaits; /* the event that ends the state */
	uint32_t next;      /* TO() of each possible next state */
};

struct state_table {
	const char *machine; /* the table's name: "bridge_states" */
	unsigned count;
	const struct state_row *rows; /* indexed by state */
};

/* The current state, and since when on the loop's clock. */
struct state {
	unsigned now;
	uint64_t since_us;
};

#define TO(state)                                   (1u << (state))

#define STATE_ENUM_ENTRY(state, name, awaits, next) state,
#define STATE_TABLE_ROW(state, name, awaits, next)  [state] = {name, awaits, next},

#define STATE_ENUM(tag, LIST)                       enum tag { LIST(STATE_ENUM_ENTRY) }

#define STATE_TABLE(table, LIST)                                                                   \
	static const struct state_row table##_rows[] = {LIST(STATE_TABLE_ROW)};                    \
	const struct state_table table = {#table, ARRAY_SIZE(table##_rows), table##_rows}

/** state_name - Returns the name of a state. */
static inline const char *state_name(const struct state_table *table, unsigned state)
{
	assert(state < table->count);
	return table->rows[state].name;
}

/** state_can_follow - Returns whether @to can follow @from. */
static inline bool state_can_follow(const struct state_table *table, unsigned from, unsigned to)
{
	return table->rows[from].next & TO(to);
}

/** state_next - Returns @to, which must be able to follow @from; for machines that keep no time. */
static inline unsigned state_next(const struct state_table *table, unsigned from, unsigned to)
{
	assert(state_can_follow(table, from, to));
	return to;
}

/** state_move - Changes the state to @to, which must be able to follow the current one. */
static inline void state_move(struct state *state, const struct state_table *table, unsigned to,
			      uint64_t now_us)
{
	state->now = state_next(table, state->now, to);
	state->since_us = now_us;
}

#endif
