// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests clients whose old connections are still open: which are closed for the new one, and which
 * it waits for.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/client_affinity_fixture.h"

/* ---- connections that live ---- */

START_TEST(the_same_ends_prove_the_old_one_dead)
{
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	enter(&guest, "10.0.0.1", 700, NULL);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, 1);
	ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_WAIT);
	leave(&old, 900);
	fake_loop_run(loop);
	ck_assert_uint_eq(guest.resumed, 1);
	ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&guest, 900);
}
END_TEST

START_TEST(other_ends_prove_nothing)
{
	static const char fabric[] = "a fabric";
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	enter(&guest, _i == 0 ? "10.0.0.2" : "10.0.0.1", _i == 1 ? 701 : 700,
	      _i == 2 ? fabric : NULL);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, 0);
	ck_assert_int_eq(seek_on(&guest, NULL, &port), AFFINITY_NEW);
	leave(&guest, 0);
	leave(&old, 0);
}
END_TEST

/* Links of one host may have the same address at either end. */
START_TEST(the_same_ends_on_another_link_are_others)
{
	struct client_endpoints ends = {.local = in4("10.9.9.9", 2049)};
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ends.peer;
	struct guest old, other;

	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(700);
	ck_assert_int_eq(inet_pton(AF_INET6, "fe80::1", &in6->sin6_addr), 1);
	in6->sin6_scope_id = 1;
	enter_between(&old, &ends);
	in6->sin6_scope_id = 1 + _i;
	enter_between(&other, &ends);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, _i ? 0 : 1);
	leave(&other, 0);
	leave(&old, 0);
}
END_TEST

START_TEST(an_old_one_without_a_port_leaves_none)
{
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	enter(&guest, "10.0.0.1", 700, NULL);
	leave(&old, 0);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, 0);
	ck_assert_uint_eq(guest.resumed, 1);
	ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_NEW);
	leave(&guest, 0);
}
END_TEST

START_TEST(a_half_closed_connection_is_replaced_by_the_sender_of_its_call)
{
	const struct call_fingerprint marks[] = {call(5), call(6)};
	struct guest old, stranger, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	client_affinity_half_closed(old.client, marks, 2);
	enter(&stranger, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(ask("10.0.0.1", 601, 7, &port), AFFINITY_NEW);
	enter(&guest, "10.0.0.1", 602, NULL);
	ck_assert_int_eq(seek(&guest, &marks[1], &port), AFFINITY_WAIT);
	/* The second who says so is too late. */
	ck_assert_int_eq(seek_on(&stranger, &marks[0], &port), AFFINITY_NEW);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, 1);
	client_affinity_closing(old.client, marks, 2);
	leave(&old, 900);
	fake_loop_run(loop);
	ck_assert_uint_eq(guest.resumed, 1);
	ck_assert_int_eq(seek(&guest, &marks[1], &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&guest, 0);
	leave(&stranger, 0);
}
END_TEST

START_TEST(a_half_closed_one_stays_for_a_call_that_was_answered)
{
	struct call_fingerprint mark = call(5);
	struct guest old;
	uint16_t port;

	mark.answered = true;
	enter(&old, "10.0.0.1", 700, NULL);
	client_affinity_half_closed(old.client, &mark, 1);
	ck_assert_int_eq(ask("10.0.0.1", 600, 5, &port), AFFINITY_NEW);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, 0);
	leave(&old, 0);
}
END_TEST

/*
 * Another user of its host, who happens to send the same: that is known of no connection that
 * lives.
 */
START_TEST(a_half_closed_one_stays_for_the_call_of_another_user)
{
	struct call_fingerprint mark = call(5), other = call(5);
	struct guest old, guest;
	uint16_t port;

	mark.sender = 1000;
	other.sender = 1001;
	enter(&old, "10.0.0.1", 700, NULL);
	client_affinity_half_closed(old.client, &mark, 1);
	enter(&guest, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(seek_on(&guest, &other, &port), AFFINITY_NEW);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, 0);
	leave(&guest, 0);
	/* When it is over, the Call alone tells. */
	client_affinity_closing(old.client, &mark, 1);
	leave(&old, 900);
	enter(&guest, "10.0.0.1", 601, NULL);
	ck_assert_int_eq(seek_on(&guest, &other, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&guest, 0);
}
END_TEST

START_TEST(a_client_waits_for_its_closing_connection)
{
	const struct call_fingerprint mark = call(5);
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	client_affinity_closing(old.client, &mark, 1);
	enter(&guest, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(seek(&guest, _i ? &mark : NULL, &port), AFFINITY_WAIT);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, 0);
	leave(&old, 900);
	fake_loop_run(loop);
	ck_assert_uint_eq(guest.resumed, 1);
	ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&guest, 0);
}
END_TEST

START_TEST(a_waiting_client_can_close)
{
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	enter(&guest, "10.0.0.1", 700, NULL);
	ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_WAIT);
	if (_i) {
		leave(&guest, 0);
	} else {
		client_affinity_stop_waiting(guest.client);
		ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_NEW);
	}
	leave(&old, 900);
	fake_loop_run(loop);
	ck_assert_uint_eq(guest.resumed, 0);
	if (!_i)
		leave(&guest, 0);
	/* The port is for the next one. */
	ck_assert_int_eq(ask("10.0.0.1", 700, 0, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
}
END_TEST

START_TEST(a_pin_that_the_new_connection_has_not_requested_is_kept)
{
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	enter(&guest, "10.0.0.1", 700, NULL);
	leave(&old, 900);
	leave(&guest, 0);
	fake_loop_run(loop);
	ck_assert_uint_eq(guest.resumed, 0);
	ck_assert_int_eq(ask("10.0.0.1", 700, 0, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
}
END_TEST

START_TEST(without_memory_for_a_message_it_goes_on_as_new)
{
	struct guest old, guest;
	uint16_t port;

	enter(&old, "10.0.0.1", 700, NULL);
	post_fails = true;
	enter(&guest, "10.0.0.1", 700, NULL);
	ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_NEW);
	leave(&guest, 0);
	leave(&old, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clients_live");
	TCase *tc = tcase_create("clients_live");

	tcase_add_checked_fixture(tc, clients_setup, clients_teardown);
	tcase_add_test(tc, the_same_ends_prove_the_old_one_dead);
	tcase_add_loop_test(tc, other_ends_prove_nothing, 0, 3);
	tcase_add_loop_test(tc, the_same_ends_on_another_link_are_others, 0, 2);
	tcase_add_test(tc, an_old_one_without_a_port_leaves_none);
	tcase_add_test(tc, a_half_closed_connection_is_replaced_by_the_sender_of_its_call);
	tcase_add_test(tc, a_half_closed_one_stays_for_a_call_that_was_answered);
	tcase_add_test(tc, a_half_closed_one_stays_for_the_call_of_another_user);
	tcase_add_loop_test(tc, a_client_waits_for_its_closing_connection, 0, 2);
	tcase_add_loop_test(tc, a_waiting_client_can_close, 0, 2);
	tcase_add_test(tc, a_pin_that_the_new_connection_has_not_requested_is_kept);
	tcase_add_test(tc, without_memory_for_a_message_it_goes_on_as_new);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
