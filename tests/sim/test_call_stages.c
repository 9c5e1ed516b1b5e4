// SPDX-License-Identifier: BSD-3-Clause
/* Tests the stages of a Call's time: each cause changes its own stage only. */
#include <string.h>

#include "base/be_bytes.h"
#include "daemon/base/log.h"
#include "daemon/bridge/reply_delivery.h"
#include "tests/lib/test.h"
#include "tests/sim/chain.h"

#define HELD_MS             200u
#define SLACK_MS            20u
#define REPLY_STATUS_OFFSET 24u /* of an accepted Reply with an empty verifier */
#define NFS3ERR_STALE       70u

static struct chain *chain;

static void setup(void)
{
	chain = NULL;
}

static void teardown(void)
{
	if (chain)
		chain_end(chain);
}

static void open_chain(const struct chain_params *params)
{
	chain = chain_new(params);
	chain_connect(chain);
	chain_end_call(&chain->client, chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1"));
	chain_run(chain, 100);
	ck_assert_uint_eq(chain->client.replies, 1);
}

static void call_read(uint32_t bytes)
{
	chain_end_call(&chain->client, chain_book_add_sized(&chain->book, CHAIN_CLIENT, 0, bytes));
}

static const struct operation_stats *stats_of(unsigned gate, enum nfs_operation operation)
{
	const struct operation_stats *found = chain->gates[gate].ws.calls.operations[operation];

	ck_assert_ptr_nonnull(found);
	return found;
}

/* The client sends a Call, and takes nothing from then on. */
static void read_and_stop(uint32_t bytes)
{
	call_read(bytes);
	stream_watch(chain->client.wire.stream, 0);
}

/* Of a gate's READs, in milliseconds. */
static uint64_t stage_ms(unsigned gate, enum call_stage stage)
{
	return stats_of(gate, NFS_OPERATION_READ)->stages[stage].sum_us / 1000;
}

/* All of @ms was spent in @stage, and next to nothing in the others. */
static void expect_only(unsigned gate, enum call_stage stage, uint64_t ms)
{
	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++)
		if (i != stage)
			ck_assert_msg(stage_ms(gate, i) <= SLACK_MS, "gate %u: %llu ms in %s", gate,
				      (unsigned long long)stage_ms(gate, i), call_stage_name(i));
	ck_assert_uint_ge(stage_ms(gate, stage), ms);
	ck_assert_uint_le(stage_ms(gate, stage), ms + SLACK_MS);
	ck_assert_uint_ge(stats_of(gate, NFS_OPERATION_READ)->whole.sum_us / 1000, ms);
}

/* ---- each cause ---- */

START_TEST(a_slow_server_moves_the_servers_stage)
{
	const struct chain_params params = {.gates = _i + 1};

	open_chain(&params);
	chain->server.hold = true;
	call_read(1000);
	chain_run(chain, HELD_MS);
	chain_end_answer(&chain->server);
	chain_run(chain, 100);
	for (int i = 0; i <= _i; i++) {
		ck_assert_uint_eq(stats_of(i, NFS_OPERATION_READ)->calls, 1);
		expect_only(i, CALL_STAGE_SERVER, HELD_MS);
	}
}
END_TEST

/* More than the stream holds, so that neither does the proxy get rid of it. */
START_TEST(a_client_that_stops_reading_moves_the_clients_stage)
{
	const struct chain_params params = {.gates = _i + 1};

	open_chain(&params);
	read_and_stop(1000000);
	chain_run(chain, HELD_MS);
	ck_assert_ptr_null(chain->gates[0].ws.calls.operations[NFS_OPERATION_READ]);
	stream_watch(chain->client.wire.stream, LOOP_READ);
	chain_run(chain, 100);
	expect_only(0, CALL_STAGE_CLIENT, HELD_MS);
	/* The second gate's client, which is the first gate, takes all it is given. */
	if (_i)
		ck_assert_uint_le(stage_ms(1, CALL_STAGE_CLIENT), SLACK_MS);
}
END_TEST

/* The stream holds it, so the proxy has nothing left to send; but it is not taken. */
START_TEST(a_reply_in_a_socket_buffer_counts_as_not_delivered)
{
	const struct chain_params params = {.gates = 1};
	const struct operation_stats *read;

	open_chain(&params);
	read_and_stop(1000);
	chain_run(chain, HELD_MS);
	read = stats_of(0, NFS_OPERATION_READ);
	ck_assert_uint_eq(read->calls, 1);
	ck_assert_uint_eq(histogram_count(&read->whole), 0);
	stream_watch(chain->client.wire.stream, LOOP_READ);
	chain_run(chain, 100);
	/* It is asked for at growing intervals. */
	ck_assert_uint_eq(histogram_count(&read->whole), 1);
	ck_assert_uint_ge(stage_ms(0, CALL_STAGE_CLIENT), HELD_MS);
	ck_assert_uint_le(stage_ms(0, CALL_STAGE_CLIENT), HELD_MS + 70);
}
END_TEST

/* It has left the proxy, and its acknowledgement may be as late with a client that has it. */
START_TEST(a_reply_with_a_delayed_ack_counts_as_delivered_when_sent)
{
	const struct chain_params params = {.gates = 1};

	open_chain(&params);
	read_and_stop(1000);
	chain_run(chain, 75);
	stream_watch(chain->client.wire.stream, LOOP_READ);
	chain_run(chain, 100);
	ck_assert_uint_eq(histogram_count(&stats_of(0, NFS_OPERATION_READ)->whole), 1);
	ck_assert_uint_eq(stage_ms(0, CALL_STAGE_CLIENT), 0);
}
END_TEST

/* The same time, but there was no room for it. */
START_TEST(a_reply_that_did_not_leave_the_host_counts_as_not_delivered)
{
	const struct chain_params params = {.gates = 1};

	open_chain(&params);
	read_and_stop(1000000);
	chain_run(chain, 75);
	stream_watch(chain->client.wire.stream, LOOP_READ);
	chain_run(chain, 100);
	ck_assert_uint_ge(stage_ms(0, CALL_STAGE_CLIENT), 75);
}
END_TEST

/*
 * When the first question is due, so that no timer need wake anybody; without another Reply the
 * timer asks.
 */
START_TEST(a_reply_that_comes_by_asks_for_those_before_it)
{
	const struct chain_params params = {.gates = 1};
	const struct operation_stats *read;

	open_chain(&params);
	call_read(100);
	chain_run(chain, 2);
	read = stats_of(0, NFS_OPERATION_READ);
	ck_assert_uint_eq(read->calls, 1);
	call_read(100);
	chain_run(chain, 3);
	ck_assert_uint_eq(read->calls, 2);
	ck_assert_uint_eq(histogram_count(&read->whole), 0);
	call_read(100);
	chain_run(chain, 1);
	ck_assert_uint_eq(read->calls, 3);
	ck_assert_uint_eq(histogram_count(&read->whole), 2);
	chain_run(chain, (REPLY_DELIVERY_FIRST_US + REPLY_DELIVERY_LATE_US) / 1000);
	ck_assert_uint_eq(histogram_count(&read->whole), 3);
}
END_TEST

START_TEST(with_one_credit_calls_wait_in_the_credits_stage)
{
	const struct operation_stats *read;

	chain = chain_new(NULL);
	chain->gates[1].config.credits = 1;
	chain_connect(chain);
	chain_end_call(&chain->client, chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1"));
	chain_run(chain, 100);
	chain->server.hold = true;
	call_read(1000);
	call_read(1000);
	chain_run(chain, HELD_MS);
	chain_end_answer(&chain->server);
	chain->server.hold = false;
	chain_run(chain, 100);
	read = stats_of(0, NFS_OPERATION_READ);
	ck_assert_uint_eq(read->calls, 2);
	/* Of each of them once. */
	ck_assert_uint_ge(stage_ms(0, CALL_STAGE_CREDIT), HELD_MS);
	ck_assert_uint_le(stage_ms(0, CALL_STAGE_CREDIT), HELD_MS + SLACK_MS);
	ck_assert_uint_le(stage_ms(0, CALL_STAGE_SERVER), HELD_MS + SLACK_MS);
	ck_assert_uint_eq(stage_ms(0, CALL_STAGE_MEMORY), 0);
}
END_TEST

/* What two READs of 1 MiB may take, of each gate, which the server keeps. */
START_TEST(with_little_memory_calls_wait_in_the_memorys_stage)
{
	const struct chain_params params = {
		.gates = _i + 1, .budget_bytes = 5u << 20, .max_message_bytes = 2u << 20};

	open_chain(&params);
	chain->server.hold = true;
	for (unsigned i = 0; i < 8; i++)
		call_read(1u << 20);
	chain_run(chain, HELD_MS);
	ck_assert_uint_lt(chain->server.calls, 9);
	chain->server.hold = false;
	chain_end_answer(&chain->server);
	chain_run(chain, 1000);
	ck_assert_uint_eq(stats_of(0, NFS_OPERATION_READ)->calls, 8);
	ck_assert_uint_ge(stage_ms(0, CALL_STAGE_MEMORY), HELD_MS - SLACK_MS);
	ck_assert_uint_le(stage_ms(0, CALL_STAGE_CREDIT), SLACK_MS);
	ck_assert_uint_le(stage_ms(0, CALL_STAGE_CLIENT), SLACK_MS);
}
END_TEST

/* ---- what has a bound ---- */

/*
 * No more than there is memory for wait to be taken; the others count as taken, and none is lost.
 */
START_TEST(unread_replies_are_bounded)
{
	const struct chain_params params = {.gates = 1};
	const struct operation_stats *read;

	open_chain(&params);
	/* Its first Call has had the first block; others have had the rest. */
	chain->gates[0].ws.reply_delivery.nblocks = REPLY_DELIVERY_MAX / REPLY_DELIVERY_BLOCK;
	for (unsigned i = 0; i < 100; i++)
		call_read(100);
	stream_watch(chain->client.wire.stream, 0);
	chain_run(chain, HELD_MS);
	read = stats_of(0, NFS_OPERATION_READ);
	ck_assert_uint_eq(read->calls, 100);
	ck_assert_uint_eq(histogram_count(&read->whole), 100 - REPLY_DELIVERY_BLOCK);
	stream_watch(chain->client.wire.stream, LOOP_READ);
	chain_run(chain, 100);
	ck_assert_uint_eq(histogram_count(&read->whole), 100);
}
END_TEST

/* Where no more can wait, a Reply asks for the others first, and so has a place. */
START_TEST(a_reply_asks_before_it_takes_a_place)
{
	const struct chain_params params = {.gates = 1};
	const struct operation_stats *read;

	open_chain(&params);
	chain->gates[0].ws.reply_delivery.nblocks = REPLY_DELIVERY_MAX / REPLY_DELIVERY_BLOCK;
	for (unsigned i = 0; i < REPLY_DELIVERY_BLOCK; i++)
		call_read(100);
	chain_run(chain, 2);
	read = stats_of(0, NFS_OPERATION_READ);
	ck_assert_uint_eq(read->calls, REPLY_DELIVERY_BLOCK);
	ck_assert_uint_eq(histogram_count(&read->whole), 0);
	chain_run(chain, 3);
	call_read(100);
	chain_run(chain, 1);
	ck_assert_uint_eq(read->calls, REPLY_DELIVERY_BLOCK + 1);
	ck_assert_uint_eq(histogram_count(&read->whole), REPLY_DELIVERY_BLOCK);
}
END_TEST

/* ---- what is counted ---- */

START_TEST(bytes_and_statuses_are_counted)
{
	const struct operation_stats *read;

	open_chain(NULL);
	call_read(1000);
	call_read(3000);
	chain_run(chain, 100);
	for (unsigned i = 0; i < 2; i++) {
		read = stats_of(i, NFS_OPERATION_READ);
		ck_assert_uint_eq(read->calls, 2);
		ck_assert_uint_eq(read->errors, 0);
		ck_assert_uint_eq(read->unanswered, 0);
		ck_assert_uint_eq(histogram_count(&read->whole), 2);
		ck_assert_uint_gt(read->reply_bytes, 4000);
		ck_assert_uint_lt(read->reply_bytes, 4400);
		ck_assert_uint_lt(read->request_bytes, 400);
		for (unsigned stage = 0; stage < CALL_STAGE_COUNT; stage++)
			ck_assert_uint_eq(histogram_count(&read->stages[stage]), 2);
	}
}
END_TEST

START_TEST(callbacks_are_counted_too)
{
	open_chain(NULL);
	chain_end_call(&chain->server,
		       chain_book_add_row(&chain->book, CHAIN_SERVER, "NFSv4.0 callback op 4"));
	chain_run(chain, 100);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_uint_eq(stats_of(i, NFS_OPERATION_CB_RECALL)->calls, 1);
}
END_TEST

START_TEST(a_call_whose_connection_ends_is_unanswered)
{
	open_chain(NULL);
	chain->server.hold = true;
	call_read(1000);
	chain_run(chain, 100);
	record_end_close(&chain->server.wire, true);
	chain_run(chain, 100);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(stats_of(i, NFS_OPERATION_READ)->unanswered, 1);
		ck_assert_uint_eq(stats_of(i, NFS_OPERATION_READ)->calls, 0);
	}
}
END_TEST

/* A client that reads nothing and disconnects: its Replies count as undelivered until then. */
START_TEST(a_client_that_goes_has_taken_until_then)
{
	const struct chain_params params = {.gates = 1};

	open_chain(&params);
	read_and_stop(1000);
	chain_run(chain, HELD_MS);
	record_end_close(&chain->client.wire, true);
	chain_run(chain, 100);
	ck_assert_uint_eq(histogram_count(&stats_of(0, NFS_OPERATION_READ)->whole), 1);
	ck_assert_uint_ge(stage_ms(0, CALL_STAGE_CLIENT), HELD_MS);
}
END_TEST

START_TEST(the_oldest_call_has_its_operation_and_stage)
{
	struct bridge_info info;

	open_chain(NULL);
	chain->server.hold = true;
	call_read(1000);
	chain_run(chain, 100);
	bridge_info_get(bridge_next(&chain->gates[0].ws, NULL), &info);
	ck_assert(info.has_call);
	ck_assert_str_eq(nfs_operation_name(info.oldest_operation), "READ");
	ck_assert_str_eq(call_stage_name(info.oldest_stage), "server");
	chain_end_answer(&chain->server);
	chain_run(chain, 100);
	bridge_info_get(bridge_next(&chain->gates[0].ws, NULL), &info);
	ck_assert(!info.has_call);
}
END_TEST

/* ---- log lines ---- */

static char said[64 * 1024];

static bool collect(void *arg, const char *line, size_t len)
{
	ck_assert_uint_lt(strlen(said) + len, sizeof(said));
	strncat(said, line, len);
	return true;
}

static uint64_t chain_clock_us(clockid_t clock)
{
	return loop_now_us(chain->loop);
}

/* The second gate logs Calls that take 100 ms; `said` has the lines from now on. */
static void open_telling_chain(void)
{
	static const struct log_output output = {
		.write = collect, .form = LOG_FORM_LEVEL, .now_us = chain_clock_us};

	chain = chain_new(NULL);
	chain->gates[1].config.slow_log_ms = 100;
	chain_connect(chain);
	chain_end_call(&chain->client, chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1"));
	chain_run(chain, 10);
	said[0] = '\0';
	log_set_output(&output);
	log_set_level(LOG_LEVEL_INFO);
}

static void stop_telling(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	log_set_output(NULL);
}

START_TEST(a_slow_call_is_logged_with_its_stages)
{
	open_telling_chain();
	chain->server.hold = true;
	call_read(1000);
	chain_run(chain, HELD_MS);
	chain_end_answer(&chain->server);
	chain_run(chain, 10);
	stop_telling();
	ck_assert_msg(strstr(said, "READ took 200 ms: server 200 ms; ") != NULL, "%s", said);
	ck_assert_msg(strstr(said, " back\n") != NULL, "%s", said);
}
END_TEST

/* The Reply to a GETATTR is then its status alone. */
START_TEST(a_slow_call_that_failed_has_the_name_of_its_error)
{
	struct chain_rpc *rpc;
	unsigned number;

	open_telling_chain();
	number = chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1");
	rpc = &chain->book.list[number];
	be32_put(rpc->reply + REPLY_STATUS_OFFSET, NFS3ERR_STALE);
	rpc->reply_bytes = REPLY_STATUS_OFFSET + 4;
	chain->server.hold = true;
	chain_end_call(&chain->client, number);
	chain_run(chain, HELD_MS);
	chain_end_answer(&chain->server);
	chain_run(chain, 10);
	stop_telling();
	ck_assert_msg(strstr(said, "GETATTR took 200 ms: server 200 ms; ") != NULL, "%s", said);
	ck_assert_msg(strstr(said, " back, NFS3ERR_STALE\n") != NULL, "%s", said);
}
END_TEST

START_TEST(a_fast_call_is_not_logged)
{
	open_telling_chain();
	chain->server.hold = true;
	call_read(1000);
	chain_run(chain, 90);
	chain_end_answer(&chain->server);
	chain_run(chain, 10);
	stop_telling();
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(many_slow_calls_have_a_bound)
{
	const char *line = said;
	unsigned lines = 0;

	open_telling_chain();
	chain->server.hold = true;
	for (unsigned i = 0; i < 50; i++)
		call_read(1000);
	chain_run(chain, HELD_MS);
	chain->server.hold = false;
	chain_end_answer(&chain->server);
	chain_run(chain, 10);
	for (; (line = strstr(line, "READ took")); line++)
		lines++;
	ck_assert_uint_eq(lines, LOG_LIMIT_BURST);
	service_log_suppressed(&chain->gates[1].service);
	stop_telling();
	ck_assert_msg(strstr(said, "more Calls took slow_log_ms or longer in ") != NULL, "%s",
		      said);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stages");
	TCase *tc = tcase_create("stages");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_slow_server_moves_the_servers_stage, 0, 2);
	tcase_add_loop_test(tc, a_client_that_stops_reading_moves_the_clients_stage, 0, 2);
	tcase_add_test(tc, a_reply_in_a_socket_buffer_counts_as_not_delivered);
	tcase_add_test(tc, a_reply_with_a_delayed_ack_counts_as_delivered_when_sent);
	tcase_add_test(tc, a_reply_that_did_not_leave_the_host_counts_as_not_delivered);
	tcase_add_test(tc, a_reply_that_comes_by_asks_for_those_before_it);
	tcase_add_test(tc, with_one_credit_calls_wait_in_the_credits_stage);
	tcase_add_loop_test(tc, with_little_memory_calls_wait_in_the_memorys_stage, 0, 2);
	tcase_add_test(tc, unread_replies_are_bounded);
	tcase_add_test(tc, a_reply_asks_before_it_takes_a_place);
	tcase_add_test(tc, bytes_and_statuses_are_counted);
	tcase_add_test(tc, callbacks_are_counted_too);
	tcase_add_test(tc, a_call_whose_connection_ends_is_unanswered);
	tcase_add_test(tc, a_client_that_goes_has_taken_until_then);
	tcase_add_test(tc, the_oldest_call_has_its_operation_and_stage);
	tcase_add_test(tc, a_slow_call_is_logged_with_its_stages);
	tcase_add_test(tc, a_slow_call_that_failed_has_the_name_of_its_error);
	tcase_add_test(tc, a_fast_call_is_not_logged);
	tcase_add_test(tc, many_slow_calls_have_a_bound);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
