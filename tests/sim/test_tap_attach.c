// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the events that taps receive of the RPCs in a chain: each RPC once, complete, with the form
 * in which each leg carried it.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/tap/tap.h"
#include "daemon/tap/tap_event.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/sim/chain.h"

#define QUEUE_BYTES (4u * 1024u * 1024u)
#define LONG_BYTES  100000u
#define RECORDS_MAX 32u

/* A tap at one gate, and what it has been told. */
struct watcher {
	struct tap_subscriber seat;
	enum tap_kind kind;
	unsigned count;
	struct tap_call calls[RECORDS_MAX];
	struct tap_message messages[RECORDS_MAX];
	uint32_t sums[RECORDS_MAX]; /* of the bytes of each message */
};

static struct chain *chain;
static struct watcher watchers[CHAIN_GATES_MAX];

static void on_filled(void *arg)
{
}

static void watch(unsigned gate, enum tap_kind kind, const char *wanted)
{
	struct tap_config config = {
		.queue_bytes = QUEUE_BYTES,
		.loop = chain->loop,
		.post = fake_loop_post,
		.filled = on_filled,
	};
	struct watcher *watcher = &watchers[gate];
	char error[TAP_ERROR_BYTES];

	ck_assert_int_eq(tap_request_parse(kind, wanted, &config.request, error), 0);
	*watcher = (struct watcher){.kind = kind, .seat.tap = tap_new(&config)};
	ck_assert_ptr_nonnull(watcher->seat.tap);
	LIST_INSERT_HEAD(&chain->gates[gate].env.taps, &watcher->seat, entry);
}

static void setup(void)
{
	chain = NULL;
	memset(watchers, 0, sizeof(watchers));
}

static void teardown(void)
{
	for (unsigned i = 0; i < CHAIN_GATES_MAX; i++) {
		if (!watchers[i].seat.tap)
			continue;
		LIST_REMOVE(&watchers[i].seat, entry);
		tap_close(watchers[i].seat.tap);
		fake_loop_run(chain->loop);
		tap_unref(watchers[i].seat.tap);
	}
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

static unsigned begin(uint32_t call_bytes, uint32_t reply_bytes)
{
	unsigned rpc = chain_book_add_sized(&chain->book, CHAIN_CLIENT, call_bytes, reply_bytes);

	chain_end_call(&chain->client, rpc);
	return rpc;
}

static unsigned call(uint32_t call_bytes, uint32_t reply_bytes)
{
	unsigned rpc = begin(call_bytes, reply_bytes);

	chain_run(chain, 100);
	return rpc;
}

static uint32_t sum(const uint8_t *bytes, uint32_t len)
{
	uint32_t sum = 1;

	while (len--)
		sum = sum * 31 + *bytes++;
	return sum;
}

static bool on_record(void *arg, const void *record, size_t bytes)
{
	struct watcher *watcher = arg;
	unsigned n = watcher->count++;

	ck_assert_uint_lt(n, RECORDS_MAX);
	if (watcher->kind == TAP_CALLS) {
		ck_assert_uint_eq(bytes, sizeof(struct tap_call));
		memcpy(&watcher->calls[n], record, bytes);
	} else {
		struct tap_message *message = &watcher->messages[n];

		memcpy(message, record, sizeof(*message));
		ck_assert_uint_eq(bytes, sizeof(*message) + message->kept_bytes);
		watcher->sums[n] =
			sum((const uint8_t *)record + sizeof(*message), message->kept_bytes);
	}
	return true;
}

/* All that a gate's has been told since the last time: so many records. */
static struct watcher *expect(unsigned gate, unsigned count)
{
	struct watcher *watcher = &watchers[gate];
	uint64_t missed;

	watcher->count = 0;
	(void)tap_drain(watcher->seat.tap, on_record, watcher, &missed);
	ck_assert_uint_eq(missed, 0);
	ck_assert_uint_eq(watcher->count, count);
	return watcher;
}

static void expect_forms(const uint8_t forms[2], enum message_form origin, enum message_form target)
{
	ck_assert_str_eq(message_form_name(forms[EXCHANGE_ORIGIN]), message_form_name(origin));
	ck_assert_str_eq(message_form_name(forms[EXCHANGE_TARGET]), message_form_name(target));
}

/* ---- RPCs ---- */

static const struct {
	bool ddp;
	uint32_t call_bytes, reply_bytes;
	enum message_form call, reply; /* between the gates */
} carried[] = {
	{false, 0, 100, MESSAGE_FORM_SHORT, MESSAGE_FORM_SHORT},
	{false, 0, LONG_BYTES, MESSAGE_FORM_SHORT, MESSAGE_FORM_LONG},
	{false, LONG_BYTES, 0, MESSAGE_FORM_LONG, MESSAGE_FORM_SHORT},
	{true, 0, LONG_BYTES, MESSAGE_FORM_SHORT, MESSAGE_FORM_CHUNKED},
	{true, LONG_BYTES, 0, MESSAGE_FORM_CHUNKED, MESSAGE_FORM_SHORT},
};

START_TEST(each_leg_tells_how_it_carried_a_message)
{
	const struct chain_params params = {.ddp = carried[_i].ddp};
	struct watcher *watcher;
	unsigned rpc;

	open_chain(&params);
	watch(0, TAP_CALLS, "");
	watch(1, TAP_CALLS, "");
	rpc = call(carried[_i].call_bytes, carried[_i].reply_bytes);
	for (unsigned gate = 0; gate < 2; gate++) {
		watcher = expect(gate, 1);
		ck_assert(watcher->calls[0].answered);
		ck_assert(!watcher->calls[0].callback);
		ck_assert_uint_eq(watcher->calls[0].status, 0);
		ck_assert_uint_eq(watcher->calls[0].request_bytes,
				  chain->book.list[rpc].call_bytes);
		ck_assert_uint_eq(watcher->calls[0].reply_bytes, chain->book.list[rpc].reply_bytes);
	}
	expect_forms(watchers[0].calls[0].call_forms, MESSAGE_FORM_RECORD, carried[_i].call);
	expect_forms(watchers[0].calls[0].reply_forms, MESSAGE_FORM_RECORD, carried[_i].reply);
	expect_forms(watchers[1].calls[0].call_forms, carried[_i].call, MESSAGE_FORM_RECORD);
	expect_forms(watchers[1].calls[0].reply_forms, carried[_i].reply, MESSAGE_FORM_RECORD);
}
END_TEST

START_TEST(only_selected_rpcs_are_traced)
{
	open_chain(NULL);
	watch(0, TAP_CALLS, "--operation WRITE");
	watch(1, TAP_CALLS, "another");
	call(0, 100);
	call(100, 0);
	call(0, 100);
	ck_assert_int_eq(expect(0, 1)->calls[0].operation, NFS_OPERATION_WRITE);
	expect(1, 0);
}
END_TEST

START_TEST(fast_calls_are_not_passed_to_a_tap_for_slow_ones)
{
	open_chain(NULL);
	watch(0, TAP_CALLS, "--slower 150ms");
	call(0, 100);
	chain->server.hold = true;
	begin(0, 100);
	chain_run(chain, 200);
	chain_end_answer(&chain->server);
	chain_run(chain, 100);
	expect(0, 1);
	ck_assert_uint_ge(watchers[0].calls[0].stage_elapsed_us[CALL_STAGE_SERVER], 200000);
}
END_TEST

START_TEST(callbacks_are_traced_too)
{
	open_chain(NULL);
	watch(0, TAP_CALLS, "");
	watch(1, TAP_CALLS, "");
	chain_end_call(&chain->server,
		       chain_book_add_row(&chain->book, CHAIN_SERVER, "NFSv4.0 callback op 4"));
	chain_run(chain, 100);
	for (unsigned gate = 0; gate < 2; gate++) {
		const struct tap_call *told = &expect(gate, 1)->calls[0];

		ck_assert(told->callback);
		ck_assert_int_eq(told->operation, NFS_OPERATION_CB_RECALL);
	}
}
END_TEST

START_TEST(an_unanswered_call_is_traced_as_such)
{
	open_chain(NULL);
	watch(0, TAP_CALLS, "");
	chain->server.hold = true;
	begin(0, 100);
	chain_run(chain, 200);
	record_end_close(&chain->server.wire, true);
	chain_run(chain, 100);
	ck_assert(!expect(0, 1)->calls[0].answered);
	ck_assert(watchers[0].calls[0].sent);
	ck_assert_int_eq(watchers[0].calls[0].operation, NFS_OPERATION_READ);
	ck_assert_uint_ge(watchers[0].calls[0].stage_elapsed_us[CALL_STAGE_SERVER], 200000);
}
END_TEST

/* Those that hang are what is looked for. */
START_TEST(an_unanswered_call_is_slow_by_its_waiting_time)
{
	open_chain(NULL);
	watch(0, TAP_CALLS, "--slower 150ms");
	watch(1, TAP_CALLS, "--slower 300ms");
	chain->server.hold = true;
	begin(0, 100);
	chain_run(chain, 200);
	record_end_close(&chain->server.wire, true);
	chain_run(chain, 10);
	expect(0, 1);
	expect(1, 0);
}
END_TEST

/* RPCs that were in flight when the tap was opened are reported when they are over. */
START_TEST(a_tap_may_come_in_the_midst)
{
	open_chain(NULL);
	chain->server.hold = true;
	begin(0, 100);
	chain_run(chain, 100);
	watch(0, TAP_CALLS, "");
	chain_end_answer(&chain->server);
	chain_run(chain, 100);
	expect(0, 1);
}
END_TEST

/* ---- messages ---- */

static void expect_message(unsigned gate, unsigned n, enum tap_message_what what,
			   const uint8_t *bytes, uint32_t len)
{
	const struct tap_message *message = &watchers[gate].messages[n];

	ck_assert_int_eq(message->what, what);
	ck_assert_uint_eq(message->len_bytes, len);
	ck_assert_uint_eq(message->kept_bytes, len);
	ck_assert_uint_eq(watchers[gate].sums[n], sum(bytes, len));
}

START_TEST(messages_are_captured_whole)
{
	const struct chain_params params = {.ddp = _i & 1};
	const struct chain_rpc *rpc;

	open_chain(&params);
	watch(0, TAP_MESSAGES, "");
	watch(1, TAP_MESSAGES, "");
	rpc = &chain->book.list[_i < 2 ? call(0, LONG_BYTES) : call(LONG_BYTES, 0)];
	for (unsigned gate = 0; gate < 2; gate++) {
		expect(gate, 2);
		expect_message(gate, 0, TAP_MESSAGE_CALL, rpc->call, rpc->call_bytes);
		expect_message(gate, 1, TAP_MESSAGE_REPLY, rpc->reply, rpc->reply_bytes);
	}
	ck_assert_str_eq(watchers[0].messages[1].client_fabric, "tcp");
	ck_assert_str_eq(watchers[0].messages[1].server_fabric, "sim");
}
END_TEST

/* Larger than what is passed on in one piece. */
START_TEST(messages_in_parts_are_captured_when_complete)
{
	const struct chain_params params = {.ddp = _i & 1};
	const struct chain_rpc *rpc;

	open_chain(&params);
	watch(0, TAP_MESSAGES, "--snaplen 1M");
	watch(1, TAP_MESSAGES, "--snaplen 1M");
	rpc = &chain->book.list[_i < 2 ? call(0, 700000) : call(700000, 0)];
	for (unsigned gate = 0; gate < 2; gate++) {
		expect(gate, 2);
		expect_message(gate, 0, TAP_MESSAGE_CALL, rpc->call, rpc->call_bytes);
		expect_message(gate, 1, TAP_MESSAGE_REPLY, rpc->reply, rpc->reply_bytes);
	}
}
END_TEST

/*
 * A server that does not wait for the rest of a Call. Over TCP its Reply goes to the client
 * immediately; an RDMA client gets it when its Call has been Read. In both cases both messages are
 * reported once, and the RPC too.
 */
#define EARLY_BYTES 3000000u

static const struct chain_rpc *call_and_be_answered_early(unsigned gates, enum tap_kind kind,
							  const char *wanted)
{
	const struct chain_params params = {
		.gates = gates,
		.ddp = true, /* so that the second gate passes it on in parts */
		.client = {.seed = 1, .buffer_bytes = 16384, .max_delay_us = 2000},
	};
	unsigned rpc;

	open_chain(&params);
	for (unsigned gate = 0; gate < gates; gate++)
		watch(gate, kind, wanted);
	chain->server.early = true;
	rpc = begin(EARLY_BYTES, 0);
	while (!chain->book.list[rpc].is_early)
		chain_run(chain, 1);
	/* Over TCP alone the client has it before it has sent all of its Call. */
	for (unsigned ms = 0; gates == 1 && !chain->book.list[rpc].answered && ms < 10; ms++)
		chain_run(chain, 1);
	ck_assert_int_eq(chain->book.list[rpc].answered, gates == 1);
	ck_assert(gates == 2 || chain->client.wire.out_bytes > 0);
	ck_assert_uint_eq(chain->book.list[rpc].arrived, 0);
	chain_run(chain, 1000);
	ck_assert_uint_eq(chain->book.list[rpc].answered, 1);
	ck_assert_uint_eq(chain->book.list[rpc].arrived, 1);
	return &chain->book.list[rpc];
}

START_TEST(messages_with_an_early_reply_are_captured_once)
{
	const unsigned gates = (unsigned)_i;
	const struct chain_rpc *rpc =
		call_and_be_answered_early(gates, TAP_MESSAGES, "--snaplen 1M");

	for (unsigned gate = 0; gate < gates; gate++) {
		/* The one that it came through first has the Reply first. */
		unsigned reply = gate == gates - 1 ? 0 : 1;
		const struct tap_message *call = &expect(gate, 2)->messages[1 - reply];

		ck_assert_int_eq(call->what, TAP_MESSAGE_CALL);
		ck_assert_uint_eq(call->len_bytes, rpc->call_bytes);
		ck_assert_uint_eq(watchers[gate].sums[1 - reply], sum(rpc->call, call->kept_bytes));
		expect_message(gate, reply, TAP_MESSAGE_REPLY, rpc->reply, rpc->reply_bytes);
	}
}
END_TEST

START_TEST(an_rpc_with_an_early_reply_is_traced_once)
{
	const unsigned gates = (unsigned)_i;
	const struct chain_rpc *rpc = call_and_be_answered_early(gates, TAP_CALLS, "");

	for (unsigned gate = 0; gate < gates; gate++) {
		const struct tap_call *told = &expect(gate, 1)->calls[0];

		ck_assert(told->answered);
		ck_assert_uint_eq(told->request_bytes, rpc->call_bytes);
		ck_assert_uint_eq(told->reply_bytes, rpc->reply_bytes);
	}
}
END_TEST

START_TEST(no_more_of_a_message_is_kept_than_is_wanted)
{
	const struct chain_rpc *rpc;

	open_chain(NULL);
	watch(0, TAP_MESSAGES, "--snaplen 100");
	rpc = &chain->book.list[call(0, LONG_BYTES)];
	expect(0, 2);
	ck_assert_uint_eq(watchers[0].messages[1].kept_bytes, 100);
	ck_assert_uint_eq(watchers[0].messages[1].len_bytes, rpc->reply_bytes);
	ck_assert_uint_eq(watchers[0].sums[1], sum(rpc->reply, 100));
}
END_TEST

START_TEST(the_end_of_a_connection_is_traced_once)
{
	open_chain(NULL);
	watch(0, TAP_MESSAGES, "--operation WRITE");
	record_end_close(&chain->client.wire, true);
	chain_run(chain, 100);
	ck_assert_int_eq(expect(0, 1)->messages[0].what, TAP_MESSAGE_END);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tapping");
	TCase *calls = tcase_create("RPCs"), *messages = tcase_create("messages");

	tcase_add_checked_fixture(calls, setup, teardown);
	tcase_add_loop_test(calls, each_leg_tells_how_it_carried_a_message, 0, ARRAY_SIZE(carried));
	tcase_add_test(calls, only_selected_rpcs_are_traced);
	tcase_add_test(calls, fast_calls_are_not_passed_to_a_tap_for_slow_ones);
	tcase_add_test(calls, callbacks_are_traced_too);
	tcase_add_test(calls, an_unanswered_call_is_traced_as_such);
	tcase_add_test(calls, an_unanswered_call_is_slow_by_its_waiting_time);
	tcase_add_test(calls, a_tap_may_come_in_the_midst);
	suite_add_tcase(suite, calls);
	tcase_add_checked_fixture(messages, setup, teardown);
	tcase_add_loop_test(messages, messages_are_captured_whole, 0, 4);
	tcase_add_loop_test(messages, messages_in_parts_are_captured_when_complete, 0, 4);
	tcase_add_loop_test(messages, messages_with_an_early_reply_are_captured_once, 1, 3);
	tcase_add_loop_test(messages, an_rpc_with_an_early_reply_is_traced_once, 1, 3);
	tcase_add_test(messages, no_more_of_a_message_is_kept_than_is_wanted);
	tcase_add_test(messages, the_end_of_a_connection_is_traced_once);
	suite_add_tcase(suite, messages);
	return test_main(suite);
}
