// SPDX-License-Identifier: BSD-3-Clause
/* Tests idle minutes: each end asks the other for its initial Receive size. */
#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

#define MINUTE_MS 60000u

static void setup(void)
{
	v2_begin(NULL);
	v2_open();
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	v2_run(100);
}

static void raise_both(void)
{
	v2_ask(&rig->client, V2_MAX_BYTES);
	v2_raise(&rig->client, V2_MAX_BYTES);
	v2_run(100);
	ck_assert_uint_eq(v2_size(&rig->client), V2_MAX_BYTES);
	ck_assert_uint_eq(v2_size(&rig->server), V2_MAX_BYTES);
}

static void expect_sizes(uint32_t client, uint32_t server)
{
	ck_assert_uint_eq(v2_size(&rig->client), client);
	ck_assert_uint_eq(v2_size(&rig->server), server);
	ck_assert_uint_eq(rig->client.wrong + rig->client.faults, 0);
	v2_no_sim_error();
}

START_TEST(sizes_are_lowered_again)
{
	raise_both();
	v2_run(2 * MINUTE_MS);
	expect_sizes(V2_FIRST_BYTES, V2_FIRST_BYTES);
	ck_assert_uint_eq(rig->budget.account.used_bytes, 0);
	ck_assert_uint_eq(rig->client_budget.account.used_bytes, 0);
	ck_assert_uint_eq(rig->client.counters.recv_lowered_unasked, 0);
	ck_assert_uint_eq(rig->server.counters.recv_lowered_unasked, 0);
	/* And it all works once more. */
	raise_both();
	v2_run(2 * MINUTE_MS);
	expect_sizes(V2_FIRST_BYTES, V2_FIRST_BYTES);
}
END_TEST

START_TEST(nothing_is_asked_where_nothing_was_raised)
{
	unsigned sent =
		(unsigned)(rig->client.counters.options_sent + rig->server.counters.options_sent);

	for (unsigned n = 0; n < 10; n++) {
		rig_call(&rig->client, 100, 100, 100);
		v2_run(MINUTE_MS);
	}
	ck_assert_uint_eq(rig->client.counters.options_sent + rig->server.counters.options_sent,
			  sent);
}
END_TEST

/* Its Reply has no other way: until it is answered nobody asks (B3.1-7). */
START_TEST(no_size_is_lowered_while_a_call_needs_it)
{
	raise_both();
	rig->server.hold = true;
	rig_call(&rig->client, RIG_CALL_MIN, 20000, 20000);
	v2_run(5 * MINUTE_MS);
	expect_sizes(V2_MAX_BYTES, V2_FIRST_BYTES);
	ck_assert_str_eq(state_name(&characteristics_size_request_states,
				    v2_leg(&rig->server)->options->ch.size_request),
			 "queued");
	rig_answer_held(&rig->server);
	rig->server.hold = false;
	v2_run(100);
	ck_assert_uint_eq(rig->client.answered, 2);
	ck_assert_uint_eq(rig->server.counters.sends_nomsg, 0);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	v2_run(2 * MINUTE_MS);
	expect_sizes(V2_FIRST_BYTES, V2_FIRST_BYTES);
}
END_TEST

/* Large Calls keep the server's size, large Replies the client's, once in a while. */
START_TEST(large_sends_keep_the_size_that_they_need)
{
	raise_both();
	for (unsigned n = 0; n < 30; n++) {
		uint32_t call = _i & 1 ? 30000 : 100, reply = _i & 2 ? 30000 : 100;

		rig_call(&rig->client, call, reply, reply);
		v2_run(20000);
	}
	expect_sizes(_i & 2 ? V2_MAX_BYTES : V2_FIRST_BYTES,
		     _i & 1 ? V2_MAX_BYTES : V2_FIRST_BYTES);
	ck_assert_uint_eq(rig->client.answered, 31);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_idle");
	TCase *tc = tcase_create("v2_idle");

	tcase_add_checked_fixture(tc, setup, v2_end);
	tcase_add_test(tc, sizes_are_lowered_again);
	tcase_add_test(tc, nothing_is_asked_where_nothing_was_raised);
	tcase_add_test(tc, no_size_is_lowered_while_a_call_needs_it);
	tcase_add_loop_test(tc, large_sends_keep_the_size_that_they_need, 0, 4);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
