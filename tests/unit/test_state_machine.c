// SPDX-License-Identifier: BSD-3-Clause
/* Tests table-driven state machines. */
#include <signal.h>
#include <string.h>

#include "base/state_machine.h"
#include "tests/lib/test.h"

#define DOOR_STATES(X)                                                                             \
	X(DOOR_SHUT, "shut", "somebody to knock", TO(DOOR_OPEN) | TO(DOOR_GONE))                   \
	X(DOOR_OPEN, "open", "the wind", TO(DOOR_SHUT))                                            \
	X(DOOR_GONE, "gone", "nothing any more", 0)
STATE_ENUM(door_state, DOOR_STATES);
STATE_TABLE(door_states, DOOR_STATES);

START_TEST(a_table_names_its_states)
{
	ck_assert_str_eq(door_states.machine, "door_states");
	ck_assert_uint_eq(door_states.count, 3);
	ck_assert_str_eq(state_name(&door_states, DOOR_OPEN), "open");
	ck_assert_str_eq(door_states.rows[DOOR_GONE].awaits, "nothing any more");
}
END_TEST

START_TEST(a_move_keeps_its_time)
{
	struct state state = {.now = DOOR_SHUT, .since_us = 3};

	state_move(&state, &door_states, DOOR_OPEN, 7);
	ck_assert_uint_eq(state.now, DOOR_OPEN);
	ck_assert_uint_eq(state.since_us, 7);
}
END_TEST

START_TEST(only_transitions_of_the_table_are_allowed)
{
	ck_assert(state_can_follow(&door_states, DOOR_SHUT, DOOR_GONE));
	ck_assert(!state_can_follow(&door_states, DOOR_OPEN, DOOR_GONE));
	ck_assert(!state_can_follow(&door_states, DOOR_SHUT, DOOR_SHUT));
}
END_TEST

START_TEST(a_move_that_is_not_in_the_table_aborts)
{
	state_next(&door_states, DOOR_GONE, DOOR_OPEN);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("state");
	TCase *tc = tcase_create("tables");

	tcase_add_test(tc, a_table_names_its_states);
	tcase_add_test(tc, a_move_keeps_its_time);
	tcase_add_test(tc, only_transitions_of_the_table_are_allowed);
	tcase_add_test_raise_signal(tc, a_move_that_is_not_in_the_table_aborts, SIGABRT);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
