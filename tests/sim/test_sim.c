// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the sim fabric itself: its promises to users, and its checks of users that break the rules.
 */
#include <string.h>

#include "tests/lib/test.h"
#include "tests/sim/raw.h"

static struct rig *rig;
static struct raw *raw;

static const uint8_t pd_4096[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

static void open_with(const struct sim_faults *faults)
{
	rig = rig_new(faults);
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
}

static void setup(void)
{
	open_with(NULL);
}

static void teardown(void)
{
	raw_free(raw);
	rig_end(rig);
}

/* Exposes the leg's memory through a Call with a reply chunk. */
static struct rpcrdma_segment leg_memory(void)
{
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len;

	rig_call(&rig->client, RIG_CALL_MIN, 100, 10000);
	rig_run_for(rig, 1000);
	raw_next_header(raw, &hdr, &body, &len);
	return hdr.segments[0];
}

START_TEST(an_access_is_held_against_the_bounds_of_its_key)
{
	struct rpcrdma_segment seg = leg_memory();

	ck_assert_int_eq(raw_write(raw, "ab", 2, seg.handle, seg.offset), FABRIC_OK);
	ck_assert_int_eq(raw_write(raw, "ab", 2, seg.handle, seg.offset + 9998), FABRIC_OK);
	ck_assert_int_eq(raw_write(raw, "ab", 2, seg.handle, seg.offset + 9999), FABRIC_ERR_REMOTE);
	rig_run(rig);
	ck_assert_uint_eq(sim_net_stats(rig->net)->access_errors, 1);
	ck_assert(raw->closed);
	ck_assert_uint_eq(rig->client.closed, 1);
}
END_TEST

START_TEST(an_access_before_its_key_is_refused)
{
	struct rpcrdma_segment seg = leg_memory();

	ck_assert_int_eq(raw_write(raw, "ab", 2, seg.handle, seg.offset - 1), FABRIC_ERR_REMOTE);
}
END_TEST

START_TEST(an_access_without_the_right_is_refused)
{
	struct rpcrdma_segment seg = leg_memory();
	uint8_t byte;

	ck_assert_int_eq(raw_read(raw, &byte, 1, seg.handle, seg.offset), FABRIC_ERR_REMOTE);
}
END_TEST

START_TEST(an_access_by_no_key_is_refused)
{
	struct rpcrdma_segment seg = leg_memory();

	ck_assert_int_eq(raw_write(raw, "ab", 2, seg.handle + 1, seg.offset), FABRIC_ERR_REMOTE);
}
END_TEST

START_TEST(a_write_of_nothing_needs_no_key)
{
	ck_assert_int_eq(raw_write(raw, NULL, 0, 0, 0), FABRIC_OK);
}
END_TEST

START_TEST(invalidating_an_unknown_key_closes)
{
	struct rpcrdma_segment seg = leg_memory();

	raw_send_inv(raw, "x", 1, seg.handle + 1);
	rig_run(rig);
	ck_assert(raw->closed);
	ck_assert_int_eq(raw->why, FABRIC_CLOSE_TERMINATED);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_PROTOCOL);
}
END_TEST

START_TEST(a_send_longer_than_the_receive_closes)
{
	uint8_t bytes[5000] = {0};

	raw_send(raw, bytes, 4096);
	ck_assert(!raw->closed);
	raw_send(raw, bytes, 4097);
	rig_run(rig);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overlong, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_PROTOCOL);
}
END_TEST

START_TEST(work_requests_complete_in_order)
{
	teardown();
	open_with(&(struct sim_faults){.max_delay_us = 10000, .seed = 4});
	for (unsigned char i = 0; i < 100; i++)
		raw_post_send(raw, (const unsigned char[]){i}, 1);
	rig_run(rig);
	ck_assert_uint_eq(raw->posted, 100);
	ck_assert_uint_eq(raw->done, 100);
	ck_assert_int_eq(raw->last_status, FABRIC_OK);
}
END_TEST

START_TEST(a_cut_flushes_posted_work)
{
	for (int i = 0; i < 10; i++)
		raw_post_send(raw, "x", 1);
	sim_net_cut(rig->net);
	ck_assert_uint_eq(raw->done, 0);
	rig_run(rig);
	ck_assert_uint_eq(raw->done, 10);
	ck_assert_int_eq(raw->last_status, FABRIC_FLUSHED);
	ck_assert_int_eq(raw->why, FABRIC_CLOSE_LOST);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_LOST);
}
END_TEST

START_TEST(sends_posted_before_a_close_are_delivered)
{
	for (int i = 0; i < 10; i++)
		raw_post_send(raw, "x", 1);
	fabric_ep_close(raw->ep);
	ck_assert_int_eq(raw->last_status, 0);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.counters.short_discarded, 10);
	ck_assert_int_eq(raw->why, FABRIC_CLOSE_LOCAL);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_PEER);
}
END_TEST

START_TEST(a_connect_without_a_listener_fails)
{
	struct sockaddr_storage addr = {.ss_family = AF_INET6};
	struct leg *leg;
	struct rig *other = rig_new(NULL);

	ck_assert_int_eq(rdma_leg_connect(&other->client.config, other->fabric,
					  (const struct sockaddr *)&addr, &leg),
			 0);
	other->client.leg = leg;
	rig_run(other);
	ck_assert_uint_eq(other->client.closed, 1);
	ck_assert_int_eq(other->client.why, LEG_CLOSE_REFUSED);
	rig_end(other);
}
END_TEST

static unsigned steps_of(uint64_t seed)
{
	struct rig *other = rig_open(&(struct sim_faults){.seed = seed, .max_delay_us = 1000});
	unsigned steps;

	for (int i = 0; i < 20; i++)
		rig_call(&other->client, RIG_CALL_MIN + 1000 * i, 20000 - 900 * i, 20000);
	rig_run(other);
	steps = sim_net_stats(other->net)->steps;
	rig_end(other);
	return steps;
}

START_TEST(the_same_seed_gives_the_same_run)
{
	ck_assert_uint_eq(steps_of(11), steps_of(11));
}
END_TEST

START_TEST(a_dropped_connection_is_refused)
{
	struct rig *other = rig_new(NULL);

	other->drop = true;
	rig_connect(other);
	rig_run(other);
	ck_assert_int_eq(other->client.why, LEG_CLOSE_REFUSED);
	rig_end(other);
}
END_TEST

START_TEST(a_paused_listener_takes_nothing)
{
	struct rig *other = rig_new(NULL);
	struct sockaddr_storage addr;

	fabric_listener_addr(other->listener, &addr);
	ck_assert_int_eq(addr.ss_family, rig_addr.ss_family);
	fabric_listener_pause(other->listener, true);
	rig_connect(other);
	rig_run(other);
	ck_assert_int_eq(other->client.why, LEG_CLOSE_REFUSED);
	fabric_listener_pause(other->listener, false);
	other->client.closing = other->client.closed = 0;
	rig_connect(other);
	rig_run(other);
	ck_assert_uint_eq(other->client.opened, 1);
	rig_end(other);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim");
	TCase *tc = tcase_create("sim");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_access_is_held_against_the_bounds_of_its_key);
	tcase_add_test(tc, an_access_before_its_key_is_refused);
	tcase_add_test(tc, an_access_without_the_right_is_refused);
	tcase_add_test(tc, an_access_by_no_key_is_refused);
	tcase_add_test(tc, a_write_of_nothing_needs_no_key);
	tcase_add_test(tc, invalidating_an_unknown_key_closes);
	tcase_add_test(tc, a_send_longer_than_the_receive_closes);
	tcase_add_test(tc, work_requests_complete_in_order);
	tcase_add_test(tc, a_cut_flushes_posted_work);
	tcase_add_test(tc, sends_posted_before_a_close_are_delivered);
	tcase_add_test(tc, a_connect_without_a_listener_fails);
	tcase_add_test(tc, the_same_seed_gives_the_same_run);
	tcase_add_test(tc, a_dropped_connection_is_refused);
	tcase_add_test(tc, a_paused_listener_takes_nothing);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
