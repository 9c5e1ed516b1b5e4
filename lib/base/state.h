/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States as tables.
 *
 * A machine lists its states once, as an X-macro of (state, name, what it waits for, what may follow):
 *
 *	#define DOOR_STATES(X)                                            \
 *		X(DOOR_SHUT, "shut", "somebody to knock", TO(DOOR_OPEN))  \
 *		X(DOOR_OPEN, "open", "nothing any more", 0)
 *	STATE_ENUM(door_state, DOOR_STATES);
 *
 * That makes `enum door_state`; in one .c file STATE_TABLE(door_states, DOOR_STATES) makes the table, by
 * which moves are checked, logs and the control socket name the states, and a test holds the drawings in
 * HACKING.md. A machine has one function that sets its state, and that one goes through state_move() or
 * state_next().
 */
#ifndef BASE_STATE_H
#define BASE_STATE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct state_row {
	const char *name;
	const char *awaits; /* what leads on from here */
	uint32_t next;      /* TO() of each state that may follow */
};

struct state_table {
	const char *machine; /* the table's own name: "bridge_states" */
	unsigned count;
	const struct state_row *rows; /* by state */
};

/* The state that a machine is in, and since when on its loop's clock. */
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

/** state_name - the name of a state. */
static inline const char *state_name(const struct state_table *table, unsigned state)
{
	assert(state < table->count);
	return table->rows[state].name;
}

/** state_may - whether @to may follow @from. */
static inline bool state_may(const struct state_table *table, unsigned from, unsigned to)
{
	return table->rows[from].next & TO(to);
}

/** state_next - @to, which must be one that may follow @from: for machines that keep no time. */
static inline unsigned state_next(const struct state_table *table, unsigned from, unsigned to)
{
	assert(state_may(table, from, to));
	return to;
}

/** state_move - go on to @to, which must be one that may follow. */
static inline void state_move(struct state *state, const struct state_table *table, unsigned to,
			      uint64_t now_us)
{
	state->now = state_next(table, state->now, to);
	state->since_us = now_us;
}

#endif
