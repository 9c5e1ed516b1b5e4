// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests clients whose old connections can have closed without the table's knowledge: which workers
 * are queried, how many concurrently, and which connections wait for the result.
 */
#include <stdlib.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/client_affinity_fixture.h"

START_TEST(an_end_that_came_first_is_heard_first)
{
	const struct call_fingerprint mark = call(5);
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	enter(&guest, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(seek(&guest, _i ? &mark : NULL, &port), AFFINITY_WAIT);
	ck_assert_int_eq(seek(&guest, _i ? &mark : NULL, &port), AFFINITY_WAIT);
	client_affinity_closing(old.client, &mark, 1);
	leave(&old, 900);
	fake_loop_run(loop);
	ck_assert_uint_eq(guest.resumed, 1);
	ck_assert_int_eq(seek(&guest, _i ? &mark : NULL, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&guest, 0);
}
END_TEST

static void end_with_call_5(void *arg)
{
	const struct call_fingerprint mark = call(5);
	struct guest *guest = arg;

	client_affinity_closing(guest->client, &mark, 1);
	leave(guest, 900);
}

/* However many turns it would take its owner to come to it. */
START_TEST(a_close_after_unread_data_is_queried)
{
	const struct call_fingerprint mark = call(5);
	struct guest old, guest;
	struct loop_task task;
	uint16_t port;

	loop_task_init(&task, end_with_call_5, &old);
	enter(&old, "10.0.0.1", 700, NULL);
	old.hears = &task;
	enter(&guest, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(seek_on(&guest, _i ? &mark : NULL, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(old.asked, 1);
	ck_assert_uint_eq(port, 900);
	leave(&guest, 0);
}
END_TEST

START_TEST(clients_that_connect_together_share_one_round_of_queries)
{
	struct guest old, guests[3];
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	for (unsigned round = 1; round <= 2; round++) {
		for (unsigned i = 0; i < 3; i++) {
			struct call_fingerprint mark = call(i);

			enter(&guests[i], "10.0.0.1", (uint16_t)(600 + i), NULL);
			ck_assert_int_eq(seek(&guests[i], &mark, &port), AFFINITY_WAIT);
		}
		fake_loop_run(loop);
		ck_assert_uint_eq(old.asked, round);
		for (unsigned i = 0; i < 3; i++) {
			struct call_fingerprint mark = call(i);

			ck_assert_uint_eq(guests[i].resumed, 1);
			ck_assert_int_eq(seek(&guests[i], &mark, &port), AFFINITY_NEW);
		}
		for (unsigned i = 0; i < 3; i++)
			leave(&guests[i], 0);
	}
	leave(&old, 0);
}
END_TEST

/*
 * Whose address has many connections, and who comes again and again, has no loop do more than a
 * little in one turn.
 */
START_TEST(of_many_connections_a_few_are_asked_in_each_turn)
{
	static struct guest many[1000];
	const struct call_fingerprint mark = call(5);
	const unsigned n = sizeof(many) / sizeof(many[0]);
	struct guest guests[3];
	struct loop_task task;
	uint16_t port;

	for (unsigned i = 0; i < n; i++)
		enter(&many[i], "10.0.0.1", (uint16_t)(2000 + i), NULL);
	loop_task_init(&task, end_with_call_5, &many[0]);
	many[0].hears = &task;
	for (unsigned i = 0; i < 3; i++) {
		enter(&guests[i], "10.0.0.1", (uint16_t)(600 + i), NULL);
		ck_assert_int_eq(seek(&guests[i], i ? NULL : &mark, &port), AFFINITY_WAIT);
	}
	fake_loop_run(loop);
	ck_assert_uint_le(most_asked_in_turn, 64);
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq(many[i].asked, 1);
	ck_assert_int_eq(seek(&guests[0], &mark, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	for (unsigned i = 1; i < n; i++)
		leave(&many[i], 0);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(guests[i].resumed, 1);
		leave(&guests[i], 0);
	}
}
END_TEST

/* One that is being made does not count: ends may have come since. */
static struct guest late;

static void come_late(void *arg)
{
	const struct call_fingerprint mark = call(6);
	uint16_t port;

	enter(&late, "10.0.0.1", 601, NULL);
	ck_assert_int_eq(seek(&late, &mark, &port), AFFINITY_WAIT);
	((struct guest *)arg)->hears = NULL;
}

START_TEST(a_client_that_connects_during_a_round_waits_for_the_next_one)
{
	const struct call_fingerprint mark = call(5);
	struct guest old, guest;
	struct loop_task task;
	uint16_t port;

	loop_task_init(&task, come_late, &old);
	enter(&old, "10.0.0.1", 700, NULL);
	old.hears = &task;
	enter(&guest, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(seek(&guest, &mark, &port), AFFINITY_WAIT);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.asked, 2);
	ck_assert_uint_eq(guest.resumed, 1);
	ck_assert_uint_eq(late.resumed, 1);
	leave(&late, 0);
	leave(&guest, 0);
	leave(&old, 0);
}
END_TEST

/* Behind its server there may be a proxy that goes by its Calls. */
START_TEST(a_client_with_the_same_port_waits_only_for_the_close)
{
	struct client_endpoints ends = {
		.peer = in4("10.0.0.1", 700), .local = in4("10.9.9.9", 2049), .keeps_port = true};
	const struct call_fingerprint mark = call(5);
	struct guest old, guest;
	uint16_t port;

	enter_between(&old, &ends);
	ends.peer = in4("10.0.0.1", 600);
	enter_between(&guest, &ends);
	ck_assert_int_eq(seek(&guest, &mark, &port), AFFINITY_WAIT);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.asked, 1);
	if (_i) {
		client_affinity_half_closed(old.client, &mark, 1);
		ck_assert_int_eq(seek(&guest, &mark, &port), AFFINITY_WAIT);
		fake_loop_run(loop);
		ck_assert_uint_eq(old.superseded, 1);
		leave(&old, 700);
		fake_loop_run(loop);
		ck_assert_uint_eq(guest.resumed, 2);
	}
	ck_assert_int_eq(seek(&guest, &mark, &port), AFFINITY_NEW);
	ck_assert_uint_eq(port, 0);
	leave(&guest, 0);
	if (!_i)
		leave(&old, 0);
}
END_TEST

/* All connections of that loop are gone when it comes to the look. */
START_TEST(loops_without_connections_of_the_client_are_not_queried)
{
	const struct call_fingerprint mark = call(5);
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	enter(&guest, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(seek(&guest, &mark, &port), AFFINITY_WAIT);
	leave(&old, 0);
	leave(&guest, 0);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.asked + guest.asked, 0);
}
END_TEST

/* A service may go, all of whose connections are gone, while a loop still makes the round. */
START_TEST(a_round_may_outlive_the_table)
{
	const struct call_fingerprint mark = call(5);
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	enter(&guest, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(seek(&guest, &mark, &port), AFFINITY_WAIT);
	leave(&guest, 0);
	leave(&old, 0);
	client_affinity_free(clients);
	clients = NULL;
	fake_loop_run(loop);
	ck_assert_uint_eq(old.asked + guest.asked, 0);
}
END_TEST

START_TEST(beside_one_that_lives_it_is_new)
{
	const struct call_fingerprint mark = call(5);
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	enter(&guest, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(seek(&guest, &mark, &port), AFFINITY_WAIT);
	fake_loop_run(loop);
	ck_assert_uint_eq(guest.resumed, 1);
	ck_assert_int_eq(seek(&guest, &mark, &port), AFFINITY_NEW);
	ck_assert_uint_eq(old.superseded, 0);
	leave(&guest, 0);
	leave(&old, 0);
}
END_TEST

START_TEST(connections_of_other_addresses_are_not_waited_for)
{
	struct guest other;
	uint16_t port;

	enter(&other, "10.0.0.2", 700, NULL);
	ck_assert_int_eq(ask("10.0.0.1", 600, 5, &port), AFFINITY_NEW);
	leave(&other, 0);
}
END_TEST

START_TEST(a_closed_client_is_not_notified_of_the_result)
{
	const struct call_fingerprint mark = call(5);
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	enter(&guest, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(seek(&guest, &mark, &port), AFFINITY_WAIT);
	if (_i) {
		client_affinity_stop_waiting(guest.client);
		ck_assert_int_eq(seek(&guest, &mark, &port), AFFINITY_NEW);
	}
	leave(&guest, 0);
	fake_loop_run(loop);
	ck_assert_uint_eq(guest.resumed, 0);
	leave(&old, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clients_looks");
	TCase *tc = tcase_create("clients_looks");

	tcase_add_checked_fixture(tc, clients_setup, clients_teardown);
	tcase_add_loop_test(tc, an_end_that_came_first_is_heard_first, 0, 2);
	tcase_add_loop_test(tc, a_close_after_unread_data_is_queried, 0, 2);
	tcase_add_test(tc, clients_that_connect_together_share_one_round_of_queries);
	tcase_add_test(tc, of_many_connections_a_few_are_asked_in_each_turn);
	tcase_add_test(tc, a_client_that_connects_during_a_round_waits_for_the_next_one);
	tcase_add_loop_test(tc, a_client_with_the_same_port_waits_only_for_the_close, 0, 2);
	tcase_add_test(tc, loops_without_connections_of_the_client_are_not_queried);
	tcase_add_test(tc, a_round_may_outlive_the_table);
	tcase_add_test(tc, beside_one_that_lives_it_is_new);
	tcase_add_test(tc, connections_of_other_addresses_are_not_waited_for);
	tcase_add_loop_test(tc, a_closed_client_is_not_notified_of_the_result, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
