// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the client leg with servers that refuse long Calls: what it learns from a refusal, for which
 * clients, and for how long.
 */
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/quirk_peer.h"

static void long_call_is_refused(void)
{
	make_call(5000, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	refuse(call.xid);
	ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_ERR_CHUNK);
}

static void retry_connect(void)
{
	raw_free(raw);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	rig->client.opened = rig->client.closing = rig->client.closed = 0;
	raw = raw_open_server(rig, NULL, 0);
}

START_TEST(a_server_that_refuses_a_long_call_gets_no_other)
{
	open_peer(PEER_AUTO, NULL);
	long_call_is_refused();
	ck_assert_uint_eq(sends_waiting(), 0); /* nothing is sent twice */
	expect_peer("chimera");
	expect_not_sendable(5000);
	/* Short messages are still carried. */
	make_call(200, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}
END_TEST

START_TEST(a_refusal_of_long_calls_is_remembered_for_a_while)
{
	open_peer(PEER_AUTO, NULL);
	long_call_is_refused();
	retry_connect();
	expect_peer("chimera");
	expect_not_sendable(5000);
	rig_run_for(rig, PEER_CACHE_US);
	retry_connect();
	expect_peer("ganesha");
	long_call_is_refused();
	expect_peer("chimera");
}
END_TEST

static void connect_as(uint64_t another)
{
	rig->client.config.peer_client = another;
	retry_connect();
}

/* The server may have refused it for what was in it. */
START_TEST(a_refusal_that_one_client_met_is_not_held_against_the_others)
{
	peer_client = 1;
	open_peer(PEER_AUTO, NULL);
	long_call_is_refused();
	expect_peer("chimera");
	connect_as(2);
	expect_peer("ganesha");
	make_call(5000, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
	/* A server that takes them refuses none for its form. */
	connect_as(1);
	expect_peer("ganesha");
	long_call_is_refused();
	expect_peer("ganesha");
	connect_as(3);
	long_call_is_refused();
	expect_peer("ganesha");
}
END_TEST

START_TEST(a_refusal_that_two_clients_met_is_remembered_for_all)
{
	peer_client = 1;
	open_peer(PEER_AUTO, NULL);
	long_call_is_refused();
	connect_as(2);
	long_call_is_refused();
	connect_as(3);
	expect_peer("chimera");
	expect_not_sendable(5000);
	rig_run_for(rig, PEER_CACHE_US);
	connect_as(1);
	expect_peer("ganesha");
}
END_TEST

static void long_call_is_taken(void)
{
	make_call(5000, 100, 100);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	reply_inline(call.xid, 100, 32);
}

/* On one connection, which lives for longer than that is remembered. */
START_TEST(a_server_that_goes_on_taking_long_calls_is_remembered_so)
{
	peer_client = 1;
	open_peer(PEER_AUTO, NULL);
	for (unsigned i = 1; i <= 12; i++) {
		long_call_is_taken();
		expect_answered(i);
		rig_run_for(rig, PEER_CACHE_US / 5);
	}
	connect_as(2);
	long_call_is_refused();
	expect_peer("ganesha");
	rig_run_for(rig, PEER_CACHE_US);
	long_call_is_refused();
	expect_peer("chimera");
}
END_TEST

/* Private data show that another server has come to that place. */
START_TEST(private_data_override_remembered_values)
{
	atomic_store(&peer_memory.rejects_until_us, UINT64_MAX);
	open_peer(PEER_AUTO, pd_4096);
	expect_peer("linux");
}
END_TEST

static void open_auto(void)
{
	open_peer(PEER_AUTO, NULL);
}

static void open_auto_with_private_data(void)
{
	open_peer(PEER_AUTO, pd_ours);
}

static void open_configured(void)
{
	open_peer(PEER_GANESHA, NULL);
}

/* The Reply could be longer than what it was offered. */
static void open_with_long_reply(void)
{
	open_peer(PEER_AUTO, NULL);
	fake_ceiling_bytes = 1000;
}

static void open_having_taken_one(void)
{
	open_peer(PEER_AUTO, NULL);
	make_call(5000, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}

static const struct {
	void (*open)(void);
	uint32_t call_bytes, reply_max_bytes;
	const char *name;
} refusals[] = {
	{open_auto, 5000, 100, "chimera"},
	{open_auto, 5000, 5000, "chimera"},
	{open_auto, 5000, RIG_MAX_MSG, "chimera"},
	{open_auto, 500, 100, "ganesha"},  /* an inline Call */
	{open_auto, 500, 5000, "ganesha"}, /* whose reply chunk it may be about */
	{open_auto_with_private_data, 5000, 100, "auto"},
	{open_configured, 5000, 100, "ganesha"},
	{open_having_taken_one, 5000, 100, "ganesha"},
	{open_with_long_reply, 5000, 100, "ganesha"},
};

START_TEST(only_a_refusal_that_can_mean_nothing_else_teaches)
{
	refusals[_i].open();
	make_call(refusals[_i].call_bytes, 100, refusals[_i].reply_max_bytes);
	next_call();
	refuse(call.xid);
	expect_peer(refusals[_i].name);
}
END_TEST

START_TEST(a_reply_chunk_that_may_be_too_short_teaches_nothing)
{
	open_peer(PEER_AUTO, NULL);
	fake_ceiling_bytes = 6000;
	make_call(5000, 100, 5000);
	next_call();
	refuse(call.xid);
	expect_peer("ganesha");
	fake_ceiling_bytes = RIG_MAX_MSG;
	make_call(5000, 100, RIG_MAX_MSG);
	next_call();
	refuse(call.xid);
	expect_peer("ganesha");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peer_long_calls");
	TCase *tc = tcase_create("peer_long_calls");

	tcase_add_checked_fixture(tc, setup_peer, teardown_peer);
	tcase_add_test(tc, a_server_that_refuses_a_long_call_gets_no_other);
	tcase_add_test(tc, a_refusal_of_long_calls_is_remembered_for_a_while);
	tcase_add_test(tc, a_refusal_that_one_client_met_is_not_held_against_the_others);
	tcase_add_test(tc, a_refusal_that_two_clients_met_is_remembered_for_all);
	tcase_add_test(tc, a_server_that_goes_on_taking_long_calls_is_remembered_so);
	tcase_add_test(tc, private_data_override_remembered_values);
	tcase_add_loop_test(tc, only_a_refusal_that_can_mean_nothing_else_teaches, 0,
			    ARRAY_SIZE(refusals));
	tcase_add_test(tc, a_reply_chunk_that_may_be_too_short_teaches_nothing);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
