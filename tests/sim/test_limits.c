// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests inline limits that change under traffic: an RPC keeps the limits with which it was planned.
 *
 * The test changes the limits in the legs' own objects, between a Call and its Reply. Receives are
 * long enough for all of these limits, as they must be before a limit is raised.
 */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/raw.h"

#define LOW  2048u
#define HIGH 6144u

static struct rig *rig;

static void set_limit(struct inline_threshold *limit, uint32_t bytes)
{
	limit->own_bytes = bytes;
	inline_threshold_set_peer(limit, bytes);
}

/* Both ends of both directions. */
static void set_limits(uint32_t bytes)
{
	struct leg *legs[] = {rig->client.leg, rig->server.leg};

	for (size_t i = 0; i < ARRAY_SIZE(legs); i++) {
		struct rdma_conn *conn = &rdma_leg_of(legs[i])->conn;

		set_limit(&conn->send_limit, bytes);
		set_limit(&conn->recv_limit, bytes);
		rdma_conn_update_limits(conn);
	}
}

static void open_at(uint32_t bytes, bool ddp)
{
	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.inline_threshold_bytes = HIGH;
	rig->server.config.inline_threshold_bytes = HIGH;
	rig->client.config.ddp = ddp;
	rig_connect(rig);
	rig_run(rig);
	ck_assert_ptr_nonnull(rig->client.leg);
	ck_assert_ptr_nonnull(rig->server.leg);
	set_limits(bytes);
	rig->client.hold = rig->server.hold = true;
}

/*
 * The Calls that wait are answered with these limits; so many of either direction get an error
 * instead.
 */
static void change_and_fail(uint32_t to, unsigned forward, unsigned reverse,
			    unsigned forward_faults, unsigned reverse_faults)
{
	rig_run(rig);
	ck_assert_uint_eq(rig->server.calls, forward);
	ck_assert_uint_eq(rig->client.calls, reverse);
	set_limits(to);
	rig_answer_held(&rig->server);
	rig_answer_held(&rig->client);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, forward - forward_faults);
	ck_assert_uint_eq(rig->server.answered, reverse - reverse_faults);
	ck_assert_uint_eq(rig->client.faults, forward_faults);
	ck_assert_uint_eq(rig->server.faults, reverse_faults);
	ck_assert_uint_eq(rig->client.wrong + rig->server.wrong, 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overlong, 0);
}

static void change_and_answer(uint32_t to, unsigned forward, unsigned reverse)
{
	change_and_fail(to, forward, reverse, 0, 0);
}

static void finish(void)
{
	ck_assert_ptr_nonnull(rig->client.leg);
	ck_assert_ptr_nonnull(rig->server.leg);
	rig_end(rig);
}

static const struct {
	uint32_t from, to;
} changes[] = {{LOW, HIGH}, {HIGH, LOW}};

/*
 * A Reply that fits between the two limits, one that fits neither, and one that fits both. A client
 * that counts on one inline does not lower its limit (B3.1-7); from one that does all the same the
 * Reply is kept (B3.1-8).
 */
START_TEST(a_reply_goes_by_the_limit_that_its_call_came_with)
{
	static const uint32_t replies[] = {4000, 100, 9000, LOW - 28, LOW - 27, HIGH - 28};
	uint32_t from = changes[_i].from, to = changes[_i].to;

	for (size_t i = 0; i < ARRAY_SIZE(replies); i++) {
		bool counts = from == HIGH && replies[i] + 100 <= HIGH - 28;

		open_at(from, false);
		rig_call(&rig->client, RIG_CALL_MIN, replies[i], replies[i] + 100);
		change_and_fail(to, 1, 0, counts && replies[i] > LOW - 28, 0);
		/* A Reply of 4000 bytes fits inline under HIGH only. */
		if (replies[i] == 4000)
			ck_assert_uint_eq(rig->server.counters.sends_nomsg, from == LOW);
		finish();
	}
}
END_TEST

START_TEST(a_reverse_reply_goes_by_the_limit_that_its_call_came_with)
{
	uint32_t reply = changes[_i].from == LOW ? 1900 : 5000;

	open_at(changes[_i].from, false);
	rig_call(&rig->server, RIG_CALL_MIN, reply, reply);
	change_and_fail(changes[_i].to, 0, 1, 0, changes[_i].to == LOW);
	finish();
}
END_TEST

START_TEST(calls_go_by_the_limit_of_their_own_time)
{
	uint32_t from = changes[_i].from, to = changes[_i].to;

	open_at(from, false);
	rig_call(&rig->client, 4000, 100, 100);
	change_and_answer(to, 1, 0);
	ck_assert_uint_eq(rig->client.counters.sends_nomsg, from == LOW);
	rig_call(&rig->client, 4000, 100, 100);
	change_and_answer(to, 2, 0);
	ck_assert_uint_eq(rig->client.counters.sends_nomsg, 1);
	finish();
}
END_TEST

/*
 * Its room on both sides was made for the limit of the Call: by another one the payload is looked
 * for elsewhere.
 */
START_TEST(a_payload_that_landed_is_found_whatever_the_limit_is_now)
{
	static const struct {
		uint32_t before, payload, behind;
	} shapes[] = {{128, 40000, 0}, {1000, 40000, 900}, {48, 39997, 300}, {500, 4, 500}};

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		uint32_t padded = (shapes[i].payload + 3) & ~3u;
		uint32_t total = shapes[i].before + padded + shapes[i].behind;

		open_at(changes[_i].from, true);
		fake_result_bounds[0] = 40000;
		fake_reply_payloads[0] = (struct rpc_payload){shapes[i].before, shapes[i].payload};
		fake_nresult_bounds = fake_nreply_payloads = 1;
		/* The pad is zero in no Reply of the rig's. */
		if (padded != shapes[i].payload)
			fake_reply_payloads[0].len_bytes = padded;
		rig_call(&rig->client, RIG_CALL_MIN, total, 40000 + 1900);
		change_and_answer(changes[_i].to, 1, 0);
		ck_assert_uint_gt(rig->client.counters.write_chunk_bytes_taken, 0);
		finish();
	}
}
END_TEST

START_TEST(a_call_is_pulled_together_whatever_the_limit_is_now)
{
	open_at(changes[_i].from, true);
	fake_call_payloads[0] = (struct rpc_payload){160, 9000};
	fake_ncall_payloads = 1;
	rig_call(&rig->client, 160 + 9000 + 40, 1000, 1000);
	rig_call(&rig->client, 30000, 1000, 1000);
	rig_run(rig);
	set_limits(changes[_i].to);
	rig_answer_held(&rig->server);
	change_and_answer(changes[_i].from, 2, 0);
	finish();
}
END_TEST

/* Both roles and both directions, with a change at every step that the network makes. */
static struct {
	uint32_t to;
	bool done;
} change;

static void do_change(void *arg)
{
	if (rig->client.opened && rig->server.opened)
		set_limits(change.to);
	change.done = true;
}

static unsigned traffic_with_change(unsigned step, uint32_t from, uint32_t to)
{
	struct sim_faults faults = {.max_delay_us = 300, .seed = 3};
	unsigned steps;

	faults.hook_at_step = step;
	faults.hook = do_change;
	change.to = to;
	change.done = false;
	fake_nfs_reset();
	rig = rig_new(&faults);
	rig->client.config.inline_threshold_bytes = HIGH;
	rig->server.config.inline_threshold_bytes = HIGH;
	rig_connect(rig);
	rig_run(rig);
	if (!change.done)
		set_limits(from);
	for (uint32_t i = 0; i < 12; i++) {
		rig_call(&rig->client, 200 + 700 * i, 8000 - 600 * i, 8000);
		rig_call(&rig->server, 100 + 150 * i, 1900 - 150 * i, 1900);
	}
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 12);
	ck_assert_uint_eq(rig->server.answered, 12);
	ck_assert_uint_eq(rig->client.wrong + rig->server.wrong, 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overlong, 0);
	steps = sim_net_stats(rig->net)->steps;
	finish();
	return steps;
}

START_TEST(a_change_at_any_step_delivers_right_bytes)
{
	unsigned steps = 1;

	for (unsigned step = 1; step <= steps; step++)
		steps = traffic_with_change(step, changes[_i].from, changes[_i].to);
	ck_assert_uint_gt(steps, 50);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("limits");
	TCase *tc = tcase_create("limits");
	const int n = ARRAY_SIZE(changes);

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_reply_goes_by_the_limit_that_its_call_came_with, 0, n);
	tcase_add_loop_test(tc, a_reverse_reply_goes_by_the_limit_that_its_call_came_with, 0, n);
	tcase_add_loop_test(tc, calls_go_by_the_limit_of_their_own_time, 0, n);
	tcase_add_loop_test(tc, a_payload_that_landed_is_found_whatever_the_limit_is_now, 0, n);
	tcase_add_loop_test(tc, a_call_is_pulled_together_whatever_the_limit_is_now, 0, n);
	tcase_add_loop_test(tc, a_change_at_any_step_delivers_right_bytes, 0, n);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
