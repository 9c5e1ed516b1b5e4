// SPDX-License-Identifier: BSD-3-Clause
/* Tests reconnecting clients: how they are recognised, and what is forgotten. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/client_affinity_fixture.h"

/* ---- pins ---- */

START_TEST(no_client_is_known_at_first)
{
	uint16_t port;

	ck_assert_int_eq(ask("10.0.0.1", 700, 1, &port), AFFINITY_NEW);
	ck_assert_int_eq(ask("10.0.0.1", 700, 0, &port), AFFINITY_NEW);
	ck_assert_uint_eq(port, 0);
}
END_TEST

START_TEST(the_same_address_and_port_are_the_same_client)
{
	uint16_t port;

	pass("10.0.0.1", 700, 901, 1, false);
	pass("10.0.0.1", 701, 902, 2, false);
	pass("10.0.0.2", 700, 903, 3, false);
	ck_assert_int_eq(ask("10.0.0.1", 700, 99, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 901);
	/* Used up. */
	ck_assert_int_eq(ask("10.0.0.1", 700, 99, &port), AFFINITY_NEW);
	ck_assert_int_eq(ask("10.0.0.2", 700, 0, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 903);
}
END_TEST

START_TEST(from_another_port_its_first_call_tells)
{
	uint16_t port;

	for (unsigned i = 1; i <= 20; i++)
		pass("10.0.0.1", 700 + i, 900 + i, i, i % 2);
	/* Neither an abandoned Call, nor that of another address. */
	ck_assert_int_eq(ask("10.0.0.1", 600, 99, &port), AFFINITY_NEW);
	ck_assert_int_eq(ask("10.0.0.2", 600, 5, &port), AFFINITY_NEW);
	for (unsigned i = 20; i >= 1; i--) {
		ck_assert_int_eq(ask("10.0.0.1", 600 + i, i, &port), AFFINITY_RETURNING);
		ck_assert_uint_eq(port, 900 + i);
		ck_assert_int_eq(ask("10.0.0.1", 600 + i, i, &port), AFFINITY_NEW);
	}
}
END_TEST

START_TEST(a_mark_is_all_of_xid_length_and_bytes)
{
	struct call_fingerprint first = call(5);
	struct guest guest;
	uint16_t port;

	pass("10.0.0.1", 700, 900, 5, false);
	enter(&guest, "10.0.0.1", 600, NULL);
	if (_i == 0)
		first.xid++;
	else if (_i == 1)
		first.len_bytes++;
	else
		first.crc++;
	ck_assert_int_eq(seek(&guest, &first, &port), AFFINITY_NEW);
	leave(&guest, 0);
}
END_TEST

START_TEST(a_client_with_an_unanswered_call_precedes_answered_ones)
{
	uint16_t port;

	pass("10.0.0.1", 700, 900, 5, _i);
	pass("10.0.0.1", 701, 901, 5, !_i);
	ck_assert_int_eq(ask("10.0.0.1", 600, 5, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, _i ? 901 : 900);
}
END_TEST

START_TEST(a_pin_is_due_if_a_call_was_not_answered)
{
	struct source_affinity pin = {0};
	struct guest guest;

	pass("10.0.0.1", 700, 900, 5, _i);
	enter(&guest, "10.0.0.1", 700, NULL);
	ck_assert_int_eq(client_affinity_find(guest.client, NULL, 0, &pin), AFFINITY_RETURNING);
	ck_assert_int_eq(pin.due, !_i);
	leave(&guest, 0);
}
END_TEST

START_TEST(a_pin_has_its_source_address)
{
	struct guest guest;
	uint16_t port;

	enter(&guest, "10.0.0.1", 700, NULL);
	ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_NEW);
	guest.source = 5;
	leave(&guest, 900);
	for (unsigned i = 0; i < 2; i++) {
		enter(&guest, "10.0.0.1", 700, NULL);
		ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_RETURNING);
		ck_assert_uint_eq(port, 900);
		ck_assert_uint_eq(guest.source, 5);
		leave(&guest, port);
	}
}
END_TEST

/* One that keeps its own address and port leaves nothing, and takes no other's port. */
START_TEST(a_client_with_the_same_port_needs_no_pin)
{
	const struct client_endpoints ends = {
		.peer = in4("10.0.0.1", 700), .local = in4("10.9.9.9", 2049), .keeps_port = true};
	struct guest first, second;
	struct call_fingerprint mark = call(5);
	uint16_t port;

	enter_between(&first, &ends);
	ck_assert_int_eq(seek(&first, &mark, &port), AFFINITY_NEW);
	/* Its next connection waits for that one's end. */
	enter_between(&second, &ends);
	ck_assert_int_eq(seek(&second, &mark, &port), AFFINITY_WAIT);
	fake_loop_run(loop);
	ck_assert_uint_eq(first.superseded, 1);
	client_affinity_closing(first.client, &mark, 1);
	leave(&first, 700);
	fake_loop_run(loop);
	ck_assert_uint_eq(second.resumed, 1);
	ck_assert_int_eq(seek(&second, &mark, &port), AFFINITY_NEW);
	ck_assert_uint_eq(port, 0);
	client_affinity_closing(second.client, &mark, 1);
	leave(&second, 700);
	ck_assert_int_eq(ask("10.0.0.1", 600, 5, &port), AFFINITY_NEW);
	ck_assert_int_eq(ask("10.0.0.1", 700, 0, &port), AFFINITY_NEW);
}
END_TEST

START_TEST(calls_of_a_returned_client_are_kept_when_it_disconnects_again)
{
	struct guest guest;
	uint16_t port;

	pass("10.0.0.1", 700, 900, 5, false);
	for (int i = 0; i < 3; i++) {
		struct call_fingerprint first = call(5);

		enter(&guest, "10.0.0.1", 600 + i, NULL);
		ck_assert_int_eq(seek(&guest, &first, &port), AFFINITY_RETURNING);
		ck_assert_uint_eq(port, 900);
		client_affinity_closing(guest.client, NULL, 0);
		leave(&guest, port);
	}
}
END_TEST

START_TEST(calls_of_a_returned_client_are_not_kept_after_many_replies)
{
	struct call_fingerprint marks[CALL_FINGERPRINTS_ANSWERED_MAX];
	struct source_affinity pin = {0};
	struct guest guest;

	pass("10.0.0.1", 700, 900, 5, false);
	enter(&guest, "10.0.0.1", 700, NULL);
	ck_assert_int_eq(client_affinity_find(guest.client, NULL, 0, &pin), AFFINITY_RETURNING);
	for (unsigned i = 0; i < ARRAY_SIZE(marks); i++) {
		marks[i] = call(1000 + i);
		marks[i].answered = true;
	}
	client_affinity_closing(guest.client, marks, ARRAY_SIZE(marks) - _i);
	leave(&guest, 900);
	enter(&guest, "10.0.0.1", 700, NULL);
	ck_assert_int_eq(client_affinity_find(guest.client, NULL, 0, &pin), AFFINITY_RETURNING);
	ck_assert_int_eq(pin.due, _i);
	leave(&guest, 0);
}
END_TEST

START_TEST(a_bounded_number_of_marks_is_kept)
{
	struct call_fingerprint marks[2 * CALL_FINGERPRINTS_MAX];
	struct guest guest;
	uint16_t port;

	for (unsigned i = 0; i < ARRAY_SIZE(marks); i++) {
		marks[i] = call(1000 + i);
		marks[i].answered = i >= CALL_FINGERPRINTS_MAX;
	}
	enter(&guest, "10.0.0.1", 700, NULL);
	client_affinity_closing(guest.client, marks, ARRAY_SIZE(marks));
	leave(&guest, 900);
	ck_assert_int_eq(ask("10.0.0.1", 600, 1000 + CALL_FINGERPRINTS_UNANSWERED_MAX, &port),
			 AFFINITY_NEW);
	ck_assert_int_eq(ask("10.0.0.1", 600,
			     1000 + CALL_FINGERPRINTS_MAX + CALL_FINGERPRINTS_ANSWERED_MAX, &port),
			 AFFINITY_NEW);
	if (_i)
		ck_assert_int_eq(
			ask("10.0.0.1", 600, 1000 + CALL_FINGERPRINTS_UNANSWERED_MAX - 1, &port),
			AFFINITY_RETURNING);
	else
		ck_assert_int_eq(
			ask("10.0.0.1", 600,
			    1000 + CALL_FINGERPRINTS_MAX + CALL_FINGERPRINTS_ANSWERED_MAX - 1,
			    &port),
			AFFINITY_RETURNING);
}
END_TEST

START_TEST(pins_are_forgotten_after_a_while)
{
	uint16_t port;

	pass("10.0.0.1", 700, 900, 5, false);
	fake_loop_advance(loop, CLIENT_AFFINITY_RETAIN_US);
	pass("10.0.0.1", 701, 901, 6, false);
	fake_loop_advance(loop, 1);
	ck_assert_int_eq(ask("10.0.0.1", 700, 5, &port), AFFINITY_NEW);
	ck_assert_int_eq(ask("10.0.0.1", 701, 6, &port), AFFINITY_RETURNING);
}
END_TEST

/* A client chooses its Calls: connections enough with the same would make work for all others. */
START_TEST(a_call_of_very_many_connections_is_known_of_some)
{
	unsigned back = 0;
	uint16_t port;

	for (unsigned i = 0; i < PINS_MAX / 2; i++)
		pass("10.0.0.1", 1000 + i, 5000 + i, 5, _i);
	pass("10.0.0.1", 700, 900, 6, false);
	for (unsigned i = 0; i < PINS_MAX / 2; i++)
		back += ask("10.0.0.1", 600, 5, &port) == AFFINITY_RETURNING;
	ck_assert_uint_ge(back, 1);
	ck_assert_uint_le(back, 16);
	/* … and of others all the same, as is who has its port. */
	ck_assert_int_eq(ask("10.0.0.1", 600, 6, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	ck_assert_int_eq(ask("10.0.0.1", 1000 + PINS_MAX / 2 - 1, 5, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 5000 + PINS_MAX / 2 - 1);
}
END_TEST

/*
 * Each worker has its own time of a turn, and that of one that comes may have begun before the end.
 */
START_TEST(a_pin_is_there_for_a_turn_that_began_before_it)
{
	struct source_affinity pin = {0};
	struct guest guest;

	fake_loop_advance(loop, 10);
	pass("10.0.0.1", 700, 900, 5, false);
	enter(&guest, "10.0.0.1", 700, NULL);
	ck_assert_int_eq(client_affinity_find(guest.client, NULL, loop_now_us(loop) - 1, &pin),
			 AFFINITY_RETURNING);
	ck_assert_uint_eq(pin.port, 900);
	leave(&guest, 0);
}
END_TEST

START_TEST(the_oldest_pins_go_when_there_are_too_many)
{
	uint16_t port;

	for (unsigned i = 0; i < 2 * PINS_MAX; i++)
		pass("10.0.0.1", 1000 + i, 5000 + i, 1 + i, false);
	for (unsigned i = 0; i < 2 * PINS_MAX; i++)
		ck_assert_int_eq(ask("10.0.0.1", 1000 + i, 1 + i, &port),
				 i < PINS_MAX ? AFFINITY_NEW : AFFINITY_RETURNING);
}
END_TEST

/* One who comes and goes all the time has none but its own pins forgotten. */
START_TEST(an_address_with_more_than_half_of_all_pins_loses_its_own)
{
	const unsigned others = PINS_MAX / 4, many = 5 * PINS_MAX;
	uint16_t port;

	for (unsigned i = 0; i < others; i++)
		pass("10.0.0.2", 1000 + i, 5000 + i, 1 + i, false);
	for (unsigned i = 0; i < many; i++)
		pass("10.0.0.1", 1000 + i, 6000 + i, 1 + i, false);
	for (unsigned i = 0; i < others; i++) {
		ck_assert_int_eq(ask("10.0.0.2", 1000 + i, 1 + i, &port), AFFINITY_RETURNING);
		ck_assert_uint_eq(port, 5000 + i);
	}
	for (unsigned i = many - PINS_MAX / 2; i < many; i++)
		ck_assert_int_eq(ask("10.0.0.1", 1000 + i, 1 + i, &port), AFFINITY_RETURNING);
}
END_TEST

START_TEST(the_oldest_go_wherever_the_latest_come_from)
{
	char addr[16];
	uint16_t port;

	for (unsigned i = 0; i < PINS_MAX; i++) {
		snprintf(addr, sizeof(addr), "10.0.1.%u", i);
		pass(addr, 700, 900, 0, false);
	}
	fake_loop_advance(loop, 1);
	for (unsigned i = 1; i <= 20; i++)
		pass("10.0.0.1", 700 + i, 900 + i, i, false);
	for (unsigned i = 1; i <= 20; i++) {
		ck_assert_int_eq(ask("10.0.0.1", 600 + i, i, &port), AFFINITY_RETURNING);
		ck_assert_uint_eq(port, 900 + i);
	}
}
END_TEST

START_TEST(all_of_max_connections_are_recognised)
{
	const unsigned many = 10000;
	uint16_t port;

	client_affinity_free(clients);
	clients = client_affinity_new(many);
	for (unsigned i = 0; i < many; i++)
		pass(i % 2 ? "10.0.0.1" : "10.0.0.2", 1000 + i, 20000 + i, 1 + i, false);
	for (unsigned i = 0; i < many; i++) {
		ck_assert_int_eq(ask(i % 2 ? "10.0.0.1" : "10.0.0.2", 1000 + i, 1 + i, &port),
				 AFFINITY_RETURNING);
		ck_assert_uint_eq(port, 20000 + i);
	}
}
END_TEST

START_TEST(without_a_port_nothing_is_remembered)
{
	uint16_t port;

	pass("10.0.0.1", 700, 0, 5, false);
	ck_assert_int_eq(ask("10.0.0.1", 700, 5, &port), AFFINITY_NEW);
	ck_assert_int_eq(ask("10.0.0.1", 600, 0, &port), AFFINITY_NEW);
}
END_TEST

/* ---- by the address alone ---- */

START_TEST(the_only_pin_of_an_address_is_its_only_clients)
{
	uint16_t port;

	pass("10.0.0.1", 700, 900, 5, false);
	ck_assert_int_eq(ask("10.0.0.1", 600, 0, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
}
END_TEST

/* It may be one of MOUNT, which would use up what an NFS connection comes back for. */
START_TEST(where_first_calls_lead_elsewhere_they_are_asked_for)
{
	const struct client_endpoints ends = {.peer = in4("10.0.0.1", 600),
					      .local = in4("10.9.9.9", 2049),
					      .needs_first_call = true};
	struct call_fingerprint first = call(5);
	struct guest guest;
	uint16_t port;

	pass("10.0.0.1", 700, 900, 5, false);
	enter_between(&guest, &ends);
	ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_NEEDS_CALL);
	ck_assert_int_eq(seek(&guest, &first, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&guest, 0);
}
END_TEST

START_TEST(among_several_the_first_call_is_asked_for)
{
	struct guest other, guest;
	struct call_fingerprint first = call(5);
	uint16_t port;

	pass("10.0.0.1", 700, 900, 5, false);
	if (_i)
		pass("10.0.0.1", 701, 901, 6, false);
	else
		enter(&other, "10.0.0.1", 702, NULL);
	enter(&guest, "10.0.0.1", 600, NULL);
	ck_assert_int_eq(seek(&guest, NULL, &port), AFFINITY_NEEDS_CALL);
	ck_assert_int_eq(seek(&guest, &first, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&guest, 0);
	if (!_i)
		leave(&other, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clients");
	TCase *tc = tcase_create("clients");

	tcase_add_checked_fixture(tc, clients_setup, clients_teardown);
	tcase_add_test(tc, no_client_is_known_at_first);
	tcase_add_test(tc, the_same_address_and_port_are_the_same_client);
	tcase_add_test(tc, from_another_port_its_first_call_tells);
	tcase_add_loop_test(tc, a_mark_is_all_of_xid_length_and_bytes, 0, 3);
	tcase_add_loop_test(tc, a_client_with_an_unanswered_call_precedes_answered_ones, 0, 2);
	tcase_add_loop_test(tc, a_pin_is_due_if_a_call_was_not_answered, 0, 2);
	tcase_add_test(tc, a_pin_has_its_source_address);
	tcase_add_test(tc, a_client_with_the_same_port_needs_no_pin);
	tcase_add_test(tc, calls_of_a_returned_client_are_kept_when_it_disconnects_again);
	tcase_add_loop_test(tc, calls_of_a_returned_client_are_not_kept_after_many_replies, 0, 2);
	tcase_add_loop_test(tc, a_bounded_number_of_marks_is_kept, 0, 2);
	tcase_add_test(tc, pins_are_forgotten_after_a_while);
	tcase_add_loop_test(tc, a_call_of_very_many_connections_is_known_of_some, 0, 2);
	tcase_add_test(tc, a_pin_is_there_for_a_turn_that_began_before_it);
	tcase_add_test(tc, the_oldest_pins_go_when_there_are_too_many);
	tcase_add_test(tc, an_address_with_more_than_half_of_all_pins_loses_its_own);
	tcase_add_test(tc, the_oldest_go_wherever_the_latest_come_from);
	tcase_add_test(tc, all_of_max_connections_are_recognised);
	tcase_add_test(tc, without_a_port_nothing_is_remembered);
	tcase_add_test(tc, the_only_pin_of_an_address_is_its_only_clients);
	tcase_add_test(tc, where_first_calls_lead_elsewhere_they_are_asked_for);
	tcase_add_loop_test(tc, among_several_the_first_call_is_asked_for, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
