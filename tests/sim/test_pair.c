// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests two RDMA legs connected to each other: every form of Calls and Replies, in both directions.
 */
#include "tests/lib/test.h"
#include "tests/sim/rig.h"

START_TEST(a_null_call_works_both_ways)
{
	struct rig *rig = rig_open(NULL);

	rig_call(&rig->client, RIG_CALL_MIN, RIG_REPLY_MIN, 1000);
	rig_call(&rig->server, RIG_CALL_MIN, RIG_REPLY_MIN, 1000);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert_uint_eq(rig->server.answered, 1);
	ck_assert_uint_eq(rig->server.calls, 1);
	ck_assert_uint_eq(rig->client.calls, 1);
	ck_assert_uint_eq(rig->client.wrong + rig->server.wrong, 0);
	ck_assert_uint_eq(rig->client.counters.sends_nomsg, 0);
	rig_end(rig);
}
END_TEST

/* A message of another version than the one that is spoken would be seen. */
START_TEST(messages_are_counted_by_their_version)
{
	struct rig *rig = rig_new(NULL);
	const struct rdma_leg_counters *client = &rig->client.counters;
	const struct rdma_leg_counters *server = &rig->server.counters;
	bool two = _i == 2;

	rig->client.config.highest_version = rig->server.config.highest_version = (uint32_t)_i;
	rig_connect(rig);
	rig_run(rig);
	rig_call(&rig->client, RIG_CALL_MIN, RIG_REPLY_MIN, 1000);
	rig_call(&rig->client, 100000, RIG_REPLY_MIN, 1000);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 2);
	ck_assert_uint_eq(client->sends_version_one, two ? 0 : 2);
	ck_assert_uint_eq(server->sends_version_one, two ? 0 : 2);
	/* Each end tells its characteristics first. */
	ck_assert_uint_eq(client->sends_version_two, two ? 3 : 0);
	ck_assert_uint_eq(server->sends_version_two, two ? 3 : 0);
	rig_end(rig);
}
END_TEST

/* Every length around the inline threshold and every pad residue. */
START_TEST(every_size_around_the_threshold_arrives_whole)
{
	struct rig *rig = rig_open(NULL);
	unsigned n = 0;

	for (uint32_t len = 4096 - 64; len <= 4096 + 8; len++) {
		rig_call(&rig->client, len, RIG_REPLY_MIN, RIG_REPLY_MIN);
		rig_call(&rig->client, RIG_CALL_MIN, len, len);
		n += 2;
		rig_run(rig);
	}
	ck_assert_uint_eq(rig->client.answered, n);
	ck_assert_uint_eq(rig->client.wrong, 0);
	rig_end(rig);
}
END_TEST

START_TEST(long_calls_and_replies_go_through_chunks)
{
	struct rig *rig = rig_open(NULL);
	const struct rdma_leg_counters *client = &rig->client.counters;
	const struct rdma_leg_counters *server = &rig->server.counters;
	struct leg_info here, there;

	rig_call(&rig->client, 1024 * 1024, RIG_REPLY_MIN, 200);
	rig_call(&rig->client, RIG_CALL_MIN, 1024 * 1024, 1024 * 1024);
	rig_call(&rig->client, 500000, 300000, RIG_MAX_MSG);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 3);
	ck_assert_uint_eq(rig->client.wrong, 0);
	ck_assert_uint_eq(client->sends_nomsg, 2);
	ck_assert_uint_eq(server->sends_nomsg, 2);
	/* A key for each of two Calls and two Replies. */
	ck_assert_uint_eq(client->keys_lent, 4);
	ck_assert_uint_eq(server->keys_lent, 0);
	ck_assert_uint_eq(client->call_chunk_bytes_offered, 1024 * 1024 + 500000);
	ck_assert_uint_eq(server->read_chunk_bytes_pulled, 1024 * 1024 + 500000);
	ck_assert_uint_eq(server->reply_chunk_bytes_pushed, 1024 * 1024 + 300000);
	ck_assert_uint_eq(client->reply_chunk_bytes_taken, 1024 * 1024 + 300000);
	/* Whoever moves the bytes, both ends count them. */
	leg_info(rig->client.leg, &here);
	leg_info(rig->server.leg, &there);
	ck_assert_uint_gt(here.bytes_sent, 1024 * 1024 + 500000);
	ck_assert_uint_eq(here.bytes_sent, there.bytes_received);
	ck_assert_uint_gt(here.bytes_received, 1024 * 1024 + 300000);
	ck_assert_uint_eq(here.bytes_received, there.bytes_sent);
	rig_end(rig);
}
END_TEST

/* The window opens with the first Reply and grows with use to what both ends have configured. */
START_TEST(many_calls_at_once_are_all_answered)
{
	struct rig *rig = rig_open(NULL);
	struct leg_info info;

	for (int i = 0; i < 300; i++)
		rig_call(&rig->client, RIG_CALL_MIN + 8 * i, 100 + 20 * i, 7000);
	leg_info(rig->client.leg, &info);
	ck_assert_uint_eq(info.calls_in_flight_out, 1);
	ck_assert_uint_eq(info.calls_queued, 299);
	ck_assert(!info.credits_known);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 300);
	ck_assert_uint_eq(rig->client.wrong, 0);
	leg_info(rig->server.leg, &info);
	ck_assert_uint_eq(info.credits_granted, 32);
	ck_assert_uint_eq(info.calls_in_flight_in, 0);
	ck_assert_uint_eq(info.inline_send_bytes, 4096);
	ck_assert_uint_eq(info.rpcrdma_version, 1);
	ck_assert_str_eq(info.dialect, "rfc8166");
	ck_assert(!info.configured);
	ck_assert_str_eq(info.state, "open");
	leg_info(rig->client.leg, &info);
	ck_assert_uint_eq(info.credits_available, 32);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	rig_end(rig);
}
END_TEST

static void expect_described(const struct leg *leg, const char *text)
{
	char is[LEG_TEXT_BYTES];

	leg_describe(leg, is);
	ck_assert_str_eq(is, text);
}

START_TEST(both_ends_report_the_negotiated_values)
{
	struct rig *rig = rig_open(NULL);

	expect_described(
		rig->client.leg,
		"RPC-over-RDMA version 1 (rfc8166), inline up to 4096 bytes to it and 4096 from it, asks "
		"for 32 credits, remote invalidation on; its private data: Sends of 4096 "
		"bytes, receives of 4096, remote invalidation");
	expect_described(
		rig->server.leg,
		"RPC-over-RDMA version 1 (rfc8166), inline up to 4096 bytes to it and 4096 from it, grants "
		"up to 32 credits, remote invalidation on; its private data: Sends of 4096 "
		"bytes, receives of 4096, remote invalidation");
	rig_end(rig);
}
END_TEST

/* D2.1.2-2 and the queue of 64 past the peer's credit. */
START_TEST(reverse_calls_past_their_queue_fail)
{
	struct rig *rig = rig_open(NULL);

	rig->client.hold = true;
	for (int i = 0; i < 1 + 64 + 10; i++) {
		ck_assert(leg_can_call(rig->server.leg));
		rig_call(&rig->server, RIG_CALL_MIN, 100, 100);
	}
	ck_assert_uint_eq(rig->server.faults, 0);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.calls, 1);
	ck_assert_uint_eq(rig->server.faults, 10);
	ck_assert_int_eq(rig->server.last_fault, EXCHANGE_FAULT_CANT_SEND);
	ck_assert_uint_eq(rig->server.counters.reverse_refused, 10);
	rig->client.hold = false;
	rig_answer_held(&rig->client);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.answered, 65);
	rig_end(rig);
}
END_TEST

START_TEST(a_reverse_call_too_big_fails)
{
	struct rig *rig = rig_open(NULL);

	rig_call(&rig->server, 4096 - 28, 100, 100);
	rig_call(&rig->server, 4096 - 27, 100, 100);
	ck_assert_uint_eq(rig->server.faults, 0);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.answered, 1);
	ck_assert_uint_eq(rig->server.faults, 1);
	ck_assert_int_eq(rig->server.last_fault, EXCHANGE_FAULT_CANT_SEND);
	rig_end(rig);
}
END_TEST

START_TEST(both_directions_at_once)
{
	struct rig *rig = rig_open(&(struct sim_faults){.seed = 7, .max_delay_us = 500});

	for (int i = 0; i < 50; i++) {
		rig_call(&rig->client, 3000 + 100 * i, 6000 - 100 * i, 7000);
		rig_call(&rig->server, 100 + 60 * i, 4000 - 60 * i, 4000);
	}
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 50);
	ck_assert_uint_eq(rig->server.answered, 50);
	ck_assert_uint_eq(rig->client.wrong + rig->server.wrong, 0);
	rig_end(rig);
}
END_TEST

START_TEST(keys_that_die_slowly_change_nothing)
{
	struct rig *rig = rig_open(
		&(struct sim_faults){.seed = 9, .max_delay_us = 900, .async_unbind = true});

	for (int i = 0; i < 60; i++)
		rig_call(&rig->client, 1000 * i + RIG_CALL_MIN, 70000 - 1000 * i, 70000);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 60);
	ck_assert_uint_eq(rig->client.wrong, 0);
	rig_end(rig);
}
END_TEST

START_TEST(small_segments_and_thresholds_change_nothing)
{
	static const struct {
		uint32_t client, server, segment;
	} sizes[] = {
		{1024, 4096, 65536}, {4096, 1024, 65536}, {65536, 65536, 8192}, {1, 1, 100000}};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct rig *rig = rig_new(NULL);

		rig->client.config.inline_threshold_bytes = sizes[i].client;
		rig->server.config.inline_threshold_bytes = sizes[i].server;
		rig->client.config.max_segment_bytes = sizes[i].segment;
		rig_connect(rig);
		rig_run(rig);
		for (uint32_t n = 0; n < 40; n++)
			rig_call(&rig->client, RIG_CALL_MIN + n * 1700, 70000 - n * 1700, 70000);
		rig_run(rig);
		ck_assert_uint_eq(rig->client.answered, 40);
		ck_assert_uint_eq(rig->client.wrong, 0);
		ck_assert_uint_eq(sim_net_stats(rig->net)->overlong, 0);
		rig_end(rig);
	}
}
END_TEST

/* A header large enough for them all would still be more than our own tables hold. */
START_TEST(a_reply_of_more_segments_than_a_header_may_have_is_not_asked_for)
{
	struct rig *rig = rig_new(NULL);

	rig->client.config.inline_threshold_bytes = 65536;
	rig->server.config.inline_threshold_bytes = 65536;
	rig->client.config.max_segment_bytes = 1024;
	rig_connect(rig);
	rig_run(rig);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 300 * 1024);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.faults, 1);
	ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_CANT_SEND);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 250 * 1024);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 1);
	rig_end(rig);
}
END_TEST

START_TEST(calls_made_before_the_leg_is_open_are_held)
{
	struct rig *rig = rig_new(NULL);

	rig_connect(rig);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 2);
	rig_end(rig);
}
END_TEST

START_TEST(a_refused_client_is_notified)
{
	struct rig *rig = rig_new(NULL);

	rig->reject = true;
	rig_connect(rig);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_REFUSED);
	ck_assert_uint_eq(rig->client.counters.connect_failures, 1);
	ck_assert_str_eq(rig->client.detail, "it rejects: \"its server cannot be reached\"");
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_UNREACHABLE);
	ck_assert_uint_eq(rig->client.opened + rig->server.opened, 0);
	rig_end(rig);
}
END_TEST

START_TEST(a_connection_that_is_not_accepted_times_out)
{
	struct rig *rig = rig_new(NULL);

	rig->never_accept = true;
	rig_connect(rig);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	rig_run_for(rig, 4 * 1000000);
	ck_assert_uint_eq(rig->client.closed, 0);
	rig_run_for(rig, 2 * 1000000);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_TIMEOUT);
	ck_assert_uint_eq(rig->client.counters.connect_failures, 1);
	rig_end(rig);
}
END_TEST

START_TEST(a_client_that_closes_before_it_is_accepted_is_let_go)
{
	struct rig *rig = rig_new(NULL);

	rig->never_accept = true;
	rig_connect(rig);
	rig_run_for(rig, 1000);
	ck_assert_uint_eq(rig->server.requested, 1);
	leg_close(rig->client.leg, LEG_CLOSE_PEER);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.counters.connect_failures, 0);
	ck_assert_uint_eq(rig->server.closed, 1);
	rig_end(rig);
}
END_TEST

/* Work posted before a close is sent first. */
START_TEST(a_reply_before_the_close_arrives)
{
	struct rig *rig = rig_open(NULL);

	rig->server.hold = true;
	rig_call(&rig->client, RIG_CALL_MIN, 60000, 60000);
	rig_run(rig);
	rig_answer_held(&rig->server);
	leg_close(rig->server.leg, LEG_CLOSE_SHUTDOWN);
	leg_close(rig->server.leg, LEG_CLOSE_PEER);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert_uint_eq(rig->client.wrong, 0);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_PEER);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_SHUTDOWN);
	rig_end(rig);
}
END_TEST

START_TEST(calls_given_to_a_closing_leg_are_let_go)
{
	struct rig *rig = rig_open(NULL);

	leg_close(rig->client.leg, LEG_CLOSE_PEER);
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	rig_call(&rig->client, 60000, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered + rig->client.faults, 0);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_PEER);
	rig_end(rig);
}
END_TEST

/*
 * Two pairs with a bridge of two lines between them: it forwards each message from one to the
 * other.
 */
static struct rig *near_rig, *far_rig;

static void cross_call(struct rig_side *side, struct exchange *x)
{
	bool forward = side == &near_rig->server;

	leg_call(forward ? far_rig->client.leg : near_rig->server.leg, x);
}

static void cross_reply(void *arg, struct exchange *x)
{
	bool forward = arg == &far_rig->client;

	leg_reply(forward ? near_rig->server.leg : far_rig->client.leg, x);
}

static struct rig *open_end(struct leg_events *events, bool near)
{
	struct rig *rig = rig_new(NULL);
	struct rig_side *inner = near ? &rig->server : &rig->client;

	rig->client.config.inline_threshold_bytes = near ? 1024 : 8192;
	*events = *inner->config.leg.events;
	events->reply = cross_reply;
	inner->config.leg.events = events;
	inner->on_call = cross_call;
	rig_connect(rig);
	rig_run(rig);
	return rig;
}

START_TEST(a_gateway_between_two_pairs_carries_both_ways)
{
	static struct leg_events near_events, far_events;

	near_rig = open_end(&near_events, true);
	far_rig = open_end(&far_events, false);
	for (int i = 0; i < 40; i++) {
		rig_call(&near_rig->client, RIG_CALL_MIN + 2000 * i, 80000 - 2000 * i, 80000);
		rig_call(&far_rig->server, RIG_CALL_MIN + 10 * i, 100 + 20 * i, 900);
	}
	for (int i = 0; i < 1000; i++) {
		rig_run_for(near_rig, 1);
		rig_run_for(far_rig, 1);
	}
	ck_assert_uint_eq(near_rig->client.answered, 40);
	ck_assert_uint_eq(far_rig->server.answered, 40);
	ck_assert_uint_eq(near_rig->client.wrong + far_rig->server.wrong, 0);
	rig_end(near_rig);
	rig_end(far_rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pair");
	TCase *tc = tcase_create("pair");

	tcase_add_test(tc, a_null_call_works_both_ways);
	tcase_add_loop_test(tc, messages_are_counted_by_their_version, 1, 3);
	tcase_add_test(tc, every_size_around_the_threshold_arrives_whole);
	tcase_add_test(tc, long_calls_and_replies_go_through_chunks);
	tcase_add_test(tc, many_calls_at_once_are_all_answered);
	tcase_add_test(tc, both_ends_report_the_negotiated_values);
	tcase_add_test(tc, reverse_calls_past_their_queue_fail);
	tcase_add_test(tc, a_reverse_call_too_big_fails);
	tcase_add_test(tc, both_directions_at_once);
	tcase_add_test(tc, keys_that_die_slowly_change_nothing);
	tcase_add_test(tc, small_segments_and_thresholds_change_nothing);
	tcase_add_test(tc, a_reply_of_more_segments_than_a_header_may_have_is_not_asked_for);
	tcase_add_test(tc, calls_made_before_the_leg_is_open_are_held);
	tcase_add_test(tc, a_refused_client_is_notified);
	tcase_add_test(tc, a_connection_that_is_not_accepted_times_out);
	tcase_add_test(tc, a_client_that_closes_before_it_is_accepted_is_let_go);
	tcase_add_test(tc, a_reply_before_the_close_arrives);
	tcase_add_test(tc, calls_given_to_a_closing_leg_are_let_go);
	tcase_add_test(tc, a_gateway_between_two_pairs_carries_both_ways);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
