// SPDX-License-Identifier: BSD-3-Clause
/* Tests how much of the budget Receives of another size take, and when they return it. */
#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

#define MINUTE_MS 60000u

static void setup(void)
{
	v2_begin(NULL);
}

/* The two ends know of each other, and the version is settled at both. */
static void open_and_call(void)
{
	v2_open();
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	v2_run(100);
	ck_assert_uint_eq(rig->client.answered, 1);
}

static void open_with(bool fixed)
{
	struct sim_faults faults = {.fixed_recvs = fixed};

	v2_end();
	v2_begin(&faults);
	open_and_call();
}

/* Small Calls of one end, as many as are answered one after the other. */
static void use_receives(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
		rig_call(&rig->server, RIG_CALL_MIN, 100, 100);
		v2_run(1);
	}
}

static uint64_t posted_bytes(struct rig_side *side)
{
	return posted_recvs_bytes(&v2_leg(side)->conn.recvs);
}

static unsigned posted(struct rig_side *side)
{
	return v2_leg(side)->conn.recvs_posted;
}

static size_t held(const struct test_budget *budget)
{
	return budget->account.used_bytes;
}

static void raise_both(void)
{
	v2_ask(&rig->client, V2_MAX_BYTES);
	v2_raise(&rig->client, V2_MAX_BYTES);
	v2_run(1);
	use_receives(100);
	ck_assert_uint_eq(v2_size(&rig->client), V2_MAX_BYTES);
	ck_assert_uint_eq(v2_size(&rig->server), V2_MAX_BYTES);
	ck_assert_uint_ge(held(&rig->budget) + V2_FIRST_BYTES * posted(&rig->server),
			  posted_bytes(&rig->server));
	ck_assert_uint_ge(held(&rig->client_budget) + V2_FIRST_BYTES * posted(&rig->client),
			  posted_bytes(&rig->client));
	ck_assert_uint_gt(posted_bytes(&rig->client), 8 * V2_MAX_BYTES);
	ck_assert_uint_gt(posted_bytes(&rig->server), 8 * V2_MAX_BYTES);
}

START_TEST(lowering_a_size_returns_its_memory)
{
	unsigned here, there;

	open_with(_i);
	raise_both();
	here = posted(&rig->client);
	there = posted(&rig->server);
	v2_ask(&rig->client, V2_FIRST_BYTES);
	v2_ask(&rig->server, V2_FIRST_BYTES);
	v2_run(1);
	ck_assert_uint_eq(v2_size(&rig->client), V2_FIRST_BYTES);
	ck_assert_uint_eq(v2_size(&rig->server), V2_FIRST_BYTES);
	ck_assert_int_eq(held(&rig->budget) > 0, _i);
	use_receives(here > there ? here : there);
	ck_assert_uint_eq(posted_bytes(&rig->client), V2_FIRST_BYTES * posted(&rig->client));
	ck_assert_uint_eq(posted_bytes(&rig->server), V2_FIRST_BYTES * posted(&rig->server));
	ck_assert_uint_eq(held(&rig->budget), 0);
	ck_assert_uint_eq(held(&rig->client_budget), 0);
	v2_no_sim_error();
}
END_TEST

/* To a size between the two: what the smaller ones do not take comes back, and no more. */
START_TEST(lowering_a_size_partly_returns_its_memory)
{
	size_t all, some;

	open_with(_i);
	raise_both();
	all = held(&rig->budget);
	v2_ask(&rig->client, 16384);
	v2_run(1);
	use_receives(100);
	some = held(&rig->budget);
	ck_assert_uint_eq(v2_size(&rig->server), 16384);
	ck_assert_uint_lt(some, all / 4);
	ck_assert_uint_ge(some + V2_FIRST_BYTES * posted(&rig->server), posted_bytes(&rig->server));
}
END_TEST

/* While large ones are still posted, the claim for them is there for what is raised again. */
START_TEST(a_size_is_raised_again_while_large_receives_are_posted)
{
	size_t all;

	open_with(true);
	raise_both();
	all = held(&rig->budget);
	v2_ask(&rig->client, V2_FIRST_BYTES);
	v2_run(1);
	use_receives(2);
	v2_ask(&rig->client, 16384);
	v2_run(1);
	ck_assert_uint_eq(held(&rig->budget), all);
	use_receives(100);
	ck_assert_uint_eq(v2_size(&rig->server), 16384);
	ck_assert_uint_lt(held(&rig->budget), all / 4);
	ck_assert_uint_eq(rig->server.counters.recv_raises_refused, 0);
}
END_TEST

/* Replies of 20 KiB, each by chunk for as long as receives are small. */
static void large_replies(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		rig_call(&rig->client, RIG_CALL_MIN, 20000, 20000);
		v2_run(1);
	}
}

static void large_calls(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		rig_call(&rig->client, 20000, 100, 100);
		v2_run(1);
	}
}

START_TEST(traffic_raises_the_size_that_it_wants)
{
	open_and_call();
	large_replies(15);
	ck_assert_uint_eq(v2_size(&rig->client), V2_FIRST_BYTES);
	large_replies(2);
	ck_assert_uint_eq(v2_size(&rig->client), 32768);
	ck_assert_uint_eq(v2_size(&rig->server), V2_FIRST_BYTES);
	large_calls(17);
	ck_assert_uint_eq(v2_size(&rig->server), 32768);
	ck_assert_uint_eq(rig->client.counters.recv_raises, 1);
	ck_assert_uint_eq(rig->server.counters.recv_raises, 1);
	ck_assert_uint_eq(rig->client.wrong, 0);
}
END_TEST

/* It is counted, and tried again a minute later at the earliest; Calls go on by chunk. */
START_TEST(a_raise_without_memory_is_refused)
{
	struct rdma_leg_counters *counters = &rig->client.counters;
	unsigned answered;

	test_budget_limit(&rig->client_budget, 3u << 20);
	open_and_call();
	large_replies(17);
	ck_assert_uint_eq(counters->recv_raises_refused, 1);
	ck_assert_uint_eq(rig->client.notes, 1);
	large_replies(64);
	ck_assert_uint_eq(counters->recv_raises_refused, 1);
	ck_assert_uint_eq(v2_size(&rig->client), V2_FIRST_BYTES);
	v2_run(MINUTE_MS - 200);
	large_replies(50);
	ck_assert_uint_eq(counters->recv_raises_refused, 1);
	v2_run(MINUTE_MS);
	large_replies(17);
	ck_assert_uint_eq(counters->recv_raises_refused, 2);
	ck_assert_uint_eq(counters->recv_raises, 0);
	answered = rig->client.answered;
	ck_assert_uint_eq(answered, 1 + 17 + 64 + 50 + 17);
	ck_assert_uint_eq(rig->client.wrong + rig->client.faults, 0);
}
END_TEST

/* The same at the other end, of which it is asked. */
START_TEST(a_size_that_is_rejected_is_asked_for_again_after_a_minute)
{
	test_budget_limit(&rig->budget, 3u << 20);
	open_and_call();
	large_calls(17);
	ck_assert_uint_eq(rig->server.counters.recv_raises_refused, 1);
	large_calls(64);
	ck_assert_uint_eq(rig->server.counters.recv_raises_refused, 1);
	v2_run(MINUTE_MS);
	large_calls(17);
	ck_assert_uint_eq(rig->server.counters.recv_raises_refused, 2);
	ck_assert_uint_eq(v2_size(&rig->server), V2_FIRST_BYTES);
	ck_assert_uint_eq(rig->client.wrong + rig->client.faults, 0);
}
END_TEST

/* Whether a raise is met that has this much memory in all. */
static bool raises_within(size_t limit)
{
	bool raised;

	v2_end();
	v2_begin(NULL);
	test_budget_limit(&rig->budget, limit);
	open_and_call();
	v2_ask(&rig->client, V2_MAX_BYTES);
	v2_run(10);
	raised = v2_size(&rig->server) == V2_MAX_BYTES;
	ck_assert_uint_eq(rig->server.counters.recv_raises_refused, !raised);
	return raised;
}

START_TEST(permanent_memory_leaves_enough_for_the_largest_messages)
{
	size_t low = 1u << 20, high = 63u << 20, room = 2 * rpc_msg_cost_bytes(RIG_MAX_MSG);
	struct budget_claim claim;

	while (high - low > 4096) {
		size_t middle = (low + high) / 2;

		if (raises_within(middle))
			high = middle;
		else
			low = middle;
	}
	ck_assert(raises_within(high));
	ck_assert_uint_gt(held(&rig->budget), 0);
	budget_claim_init(&claim, NULL, NULL);
	ck_assert(budget_claim(&rig->budget.other, &claim, room));
	budget_claim_release(&claim);
	rig_call(&rig->client, RIG_MAX_MSG - 4096, RIG_MAX_MSG - 4096, RIG_MAX_MSG);
	v2_run(100);
	ck_assert_uint_eq(rig->client.answered, 2);
}
END_TEST

START_TEST(memory_comes_back_with_the_end_of_the_connection)
{
	open_with(_i);
	raise_both();
	leg_close(rig->client.leg, LEG_CLOSE_LOCAL);
	v2_run(100);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_uint_eq(held(&rig->budget), 0);
	ck_assert_uint_eq(held(&rig->client_budget), 0);
}
END_TEST

/*
 * While its endpoint takes a while to close, the receives are there, and so is the claim for them.
 */
START_TEST(memory_is_held_until_the_endpoint_is_closed)
{
	struct fabric_ep *ep;
	size_t all;

	open_with(_i);
	raise_both();
	all = held(&rig->budget);
	ep = v2_leg(&rig->server)->conn.ep;
	ep->events->ending(ep->arg, FABRIC_CLOSE_LOST, "gone");
	v2_run(1);
	ck_assert(rdma_conn_is_closing(&v2_leg(&rig->server)->conn));
	ck_assert_uint_eq(rig->server.closed, 0);
	ck_assert_uint_eq(held(&rig->budget), all);
	leg_close(rig->client.leg, LEG_CLOSE_LOCAL);
	v2_run(100);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_uint_eq(held(&rig->budget), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_memory");
	TCase *tc = tcase_create("v2_memory");

	tcase_add_checked_fixture(tc, setup, v2_end);
	tcase_add_loop_test(tc, lowering_a_size_returns_its_memory, 0, 2);
	tcase_add_loop_test(tc, lowering_a_size_partly_returns_its_memory, 0, 2);
	tcase_add_test(tc, a_size_is_raised_again_while_large_receives_are_posted);
	tcase_add_test(tc, traffic_raises_the_size_that_it_wants);
	tcase_add_test(tc, a_raise_without_memory_is_refused);
	tcase_add_test(tc, a_size_that_is_rejected_is_asked_for_again_after_a_minute);
	tcase_add_test(tc, permanent_memory_leaves_enough_for_the_largest_messages);
	tcase_add_loop_test(tc, memory_comes_back_with_the_end_of_the_connection, 0, 2);
	tcase_add_loop_test(tc, memory_is_held_until_the_endpoint_is_closed, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
