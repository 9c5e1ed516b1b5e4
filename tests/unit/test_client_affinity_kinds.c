// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests privileged and other clients: a port of one kind is never given to a client of the other.
 */
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/client_affinity_fixture.h"

static void enter_kind(struct guest *guest, uint16_t port, bool privileged, const void *fabric)
{
	const struct client_endpoints ends = {.peer = in4("10.0.0.1", port),
					      .local = in4("10.9.9.9", 2049),
					      .fabric = fabric,
					      .privileged = privileged};

	enter_between(guest, &ends);
}

/* One that came and went with a Call that was not answered; its upstream connection had @port. */
static void pass_kind(uint16_t client_port, bool privileged, const void *fabric, uint16_t port)
{
	struct call_fingerprint mark = call(5);
	struct guest guest;

	enter_kind(&guest, client_port, privileged, fabric);
	client_affinity_closing(guest.client, &mark, 1);
	leave(&guest, port);
}

/*
 * Whoever sends what a client has sent is taken for it; but not by its port on the server, if that
 * says more.
 */
START_TEST(an_unprivileged_client_gets_no_port_of_a_privileged_one)
{
	bool privileged = _i;
	struct call_fingerprint first = call(5);
	struct guest thief, owner;
	uint16_t port;

	pass_kind(700, privileged, NULL, 900);
	enter_kind(&thief, 40000, !privileged, NULL);
	ck_assert_int_eq(seek_on(&thief, &first, &port), AFFINITY_NEW);
	leave(&thief, 0);
	enter_kind(&owner, 701, privileged, NULL);
	ck_assert_int_eq(seek_on(&owner, &first, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&owner, 0);
}
END_TEST

/* An RDMA client is known by its address alone, if there is no other. */
START_TEST(an_address_alone_does_not_tell_across_kinds)
{
	int fabric = 0;
	struct guest guest;
	uint16_t port;

	pass_kind(700, true, &fabric, 900);
	enter_kind(&guest, 40000, false, &fabric);
	ck_assert_int_eq(seek_on(&guest, NULL, &port), AFFINITY_NEW);
	leave(&guest, 0);
	enter_kind(&guest, 40000, true, &fabric);
	ck_assert_int_eq(seek_on(&guest, NULL, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&guest, 0);
}
END_TEST

/*
 * The connection of a client that has ended its sending side is ended only for one of its own kind.
 */
START_TEST(an_unprivileged_client_closes_no_privileged_connection)
{
	struct call_fingerprint mark = call(5);
	struct guest old, thief, owner;
	uint16_t port;

	enter_kind(&old, 700, true, NULL);
	client_affinity_half_closed(old.client, &mark, 1);
	enter_kind(&thief, 40000, false, NULL);
	ck_assert_int_eq(seek_on(&thief, &mark, &port), AFFINITY_NEW);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, 0);
	enter_kind(&owner, 701, true, NULL);
	ck_assert_int_eq(seek(&owner, &mark, &port), AFFINITY_WAIT);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, 1);
	leave(&old, 900);
	fake_loop_run(loop);
	ck_assert_int_eq(seek(&owner, &mark, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&owner, 0);
	leave(&thief, 0);
}
END_TEST

/* Nor do the many Calls and connections of others make anybody forgotten. */
START_TEST(the_marks_of_one_kind_do_not_hide_those_of_the_other)
{
	struct call_fingerprint first = call(5);
	struct guest guest;
	uint16_t port;

	for (unsigned i = 0; i < 40; i++)
		pass_kind((uint16_t)(40000 + i), false, NULL, (uint16_t)(50000 + i));
	pass_kind(700, true, NULL, 900);
	enter_kind(&guest, 701, true, NULL);
	ck_assert_int_eq(seek_on(&guest, &first, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	leave(&guest, 0);
}
END_TEST

/* Its first bytes show that it comes over iwarp, and its address is trusted. */
START_TEST(a_client_found_privileged_gets_a_port_of_privileged_ones)
{
	struct call_fingerprint first = call(5);
	struct guest other, guest;
	uint16_t port;

	pass_kind(40000, true, NULL, 900);
	pass_kind(40001, false, NULL, 50000);
	enter_kind(&other, 40002, false, NULL);
	enter_kind(&guest, 40003, false, NULL);
	ck_assert_int_eq(client_affinity_set_privileged(guest.client), 0);
	ck_assert_int_eq(client_affinity_set_privileged(guest.client), 0);
	ck_assert_int_eq(seek_on(&guest, &first, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 900);
	ck_assert_int_eq(seek_on(&other, &first, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 50000);
	leave(&guest, 901);
	leave(&other, 50001);
	enter_kind(&guest, 40003, true, NULL);
	ck_assert_int_eq(seek_on(&guest, &first, &port), AFFINITY_RETURNING);
	ck_assert_uint_eq(port, 901);
	leave(&guest, 0);
}
END_TEST

/*
 * The same addresses and ports are the same host's; the one before may have come over iwarp,
 * trusted.
 */
START_TEST(a_pin_of_the_same_addresses_is_for_the_same_kind_of_client)
{
	struct guest old, guest;
	uint16_t port;

	enter_kind(&old, 40000, false, NULL);
	ck_assert_int_eq(client_affinity_set_privileged(old.client), 0);
	enter_kind(&guest, 40000, false, NULL);
	fake_loop_run(loop);
	ck_assert_uint_eq(old.superseded, 1);
	leave(&old, 900);
	fake_loop_run(loop);
	ck_assert_int_eq(seek_on(&guest, NULL, &port), AFFINITY_NEW);
	ck_assert_uint_eq(port, 0);
	leave(&guest, 50000);
	/* And instead of the first one, for which it had not asked. */
	enter_kind(&guest, 40000, true, NULL);
	ck_assert_int_eq(seek_on(&guest, NULL, &port), AFFINITY_NEW);
	leave(&guest, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clients_kinds");
	TCase *tc = tcase_create("clients_kinds");

	tcase_add_checked_fixture(tc, clients_setup, clients_teardown);
	tcase_add_loop_test(tc, an_unprivileged_client_gets_no_port_of_a_privileged_one, 0, 2);
	tcase_add_test(tc, an_address_alone_does_not_tell_across_kinds);
	tcase_add_test(tc, an_unprivileged_client_closes_no_privileged_connection);
	tcase_add_test(tc, the_marks_of_one_kind_do_not_hide_those_of_the_other);
	tcase_add_test(tc, a_client_found_privileged_gets_a_port_of_privileged_ones);
	tcase_add_test(tc, a_pin_of_the_same_addresses_is_for_the_same_kind_of_client);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
