// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that a TCP leg does over TLS what it does over a plain stream: messages of any size, flow
 * control, each kind of end, and the bytes that the peer has acknowledged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_tls_bench.h"

#define LONG_BYTES (200u * 1024u)

static const char *state_of(const struct bench_side *side)
{
	struct leg_info info;

	leg_info(side->leg, &info);
	return info.state;
}

static void expect_closed(enum leg_close why, const char *detail)
{
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_msg(server.why == why, "%s: %s", leg_close_name(server.why), server.detail);
	ck_assert_str_eq(server.detail, detail);
}

/* Makes `client` open over TLS, to `raw`. */
static void open_client(struct tls_context *context)
{
	static const uint8_t start[] = {0, 0, 0,   1,   0,   0,   0,   0,   0,   0,   0, 0, 0, 0,
					0, 8, 'S', 'T', 'A', 'R', 'T', 'T', 'L', 'S', 0, 0, 0, 0};
	uint8_t bytes[RECORD_MARK_BYTES + TLS_PROBE_BYTES];

	bench_connect();
	bench_run();
	ck_assert_uint_eq(raw_read(bytes, sizeof(bytes)), sizeof(bytes));
	memcpy(bytes + RECORD_MARK_BYTES + 4, start, sizeof(start));
	record_mark_encode(bytes, TLS_ANSWER_BYTES);
	raw_write(bytes, RECORD_MARK_BYTES + TLS_ANSWER_BYTES);
	raw_secure(TLS_ROLE_SERVER, context, NULL, 0);
	bench_run();
	ck_assert_uint_eq(client.opened, 1);
}

/* Two legs, both over TLS. */

#define ADVANCE_UNTIL(cond)                                                                        \
	do {                                                                                       \
		for (unsigned rest = 100000; !(cond); rest--) {                                    \
			ck_assert_uint_gt(rest, 0);                                                \
			fake_loop_advance(bench_loop, 100);                                        \
		}                                                                                  \
	} while (0)

static void exchange_one(uint32_t xid, uint32_t call_bytes, uint32_t reply_bytes)
{
	uint8_t *want = malloc(LONG_BYTES);
	struct exchange *x = bench_call(&client, xid, call_bytes, call_bytes), *y;
	unsigned replies = client.nreplies;

	ADVANCE_UNTIL(!TAILQ_EMPTY(&server.calls));
	y = TAILQ_FIRST(&server.calls);
	put_call(want, xid, call_bytes);
	ck_assert_uint_eq(y->call.len_bytes, call_bytes);
	ck_assert(!memcmp(y->call.data, want, call_bytes));
	exchange_put(bench_answer(&server, reply_bytes, reply_bytes));
	ADVANCE_UNTIL(client.nreplies > replies);
	put_reply(want, xid, reply_bytes);
	ck_assert_int_eq(x->fault, EXCHANGE_OK);
	ck_assert_uint_eq(x->reply.len_bytes, reply_bytes);
	ck_assert(!memcmp(x->reply.data, want, reply_bytes));
	exchange_put(x);
	free(want);
}

START_TEST(messages_of_any_size_pass)
{
	static const uint32_t sizes[] = {BENCH_CALL_MIN, 16380, 16384, 50000, LONG_BYTES};
	const struct pair_faults faults = {.seed = (uint64_t)_i,
					   .max_delay_us = _i ? 200 : 0,
					   .short_reads = _i % 2,
					   .short_writes = _i % 3,
					   .buffer_bytes = _i % 5 ? 3000 : 0};

	tls_bench_renew(&faults);
	server.hold = true;
	bench_join();
	ADVANCE_UNTIL(client.opened && server.secured);
	for (uint32_t i = 0; i < ARRAY_SIZE(sizes); i++)
		exchange_one(10 + i, sizes[i], sizes[ARRAY_SIZE(sizes) - 1 - i]);
	ck_assert_uint_eq(server.closing + client.closing, 0);
}
END_TEST

/* More in one TLS record than one iteration takes. */
START_TEST(many_calls_of_one_record_are_answered)
{
	const unsigned count = TCP_ITERATION_RECORDS + 50;
	const uint32_t len = RECORD_MARK_BYTES + BENCH_CALL_MIN;
	uint8_t *all = malloc((size_t)count * len);

	raw_secured_by_client(TCP_TLS_REQUIRED);
	for (uint32_t i = 0; i < count; i++) {
		record_mark_encode(all + (size_t)i * len, BENCH_CALL_MIN);
		put_call(all + (size_t)i * len + RECORD_MARK_BYTES, i, BENCH_CALL_MIN);
	}
	raw_write(all, (size_t)count * len);
	for (uint32_t i = 0; i < count; i++)
		raw_expect_reply(i, BENCH_REPLY_MIN);
	ck_assert_uint_eq(server.ncalls, count);
	free(all);
}
END_TEST

/* Ends by the peer */

START_TEST(a_half_closed_client_gets_its_replies)
{
	raw_secured_by_client(TCP_TLS_REQUIRED);
	server.hold = true;
	raw_send_call(4, 100);
	ck_assert_int_eq(stream_shutdown(raw), 0);
	bench_run();
	ck_assert_uint_eq(server.half_closed, 1);
	ck_assert_uint_eq(server.closing, 0);
	exchange_put(bench_answer(&server, LONG_BYTES, LONG_BYTES));
	bench_run();
	ck_assert_uint_eq(server.closing, 0);
	raw_expect_reply(4, LONG_BYTES);
	expect_closed(LEG_CLOSE_PEER, "");
	raw_expect(0);
	ck_assert_uint_eq(tls_bench_counters.truncations, 0);
}
END_TEST

/* The last bytes of a Reply are accepted by TLS before the socket has space for them. */
START_TEST(the_end_of_a_reply_is_never_lost)
{
	const uint32_t len = PAIR_BUFFER_BYTES - 300 + (uint32_t)_i / 2 * 20;

	raw_secured_by_client(TCP_TLS_REQUIRED);
	server.hold = true;
	raw_send_call(4, 100);
	if (_i % 2) {
		ck_assert_int_eq(stream_shutdown(raw), 0);
		bench_run();
	}
	exchange_put(bench_answer(&server, len, len));
	bench_run();
	if (!(_i % 2))
		leg_close(server.leg, LEG_CLOSE_LOCAL);
	bench_run();
	raw_expect_reply(4, len);
	raw_expect(0);
}
END_TEST

START_TEST(an_end_without_close_notify_is_a_loss)
{
	raw_secured_by_client(TCP_TLS_REQUIRED);
	server.hold = true;
	if (_i)
		raw_send_call(4, 100);
	raw_cut(false);
	expect_closed(LEG_CLOSE_LOST, "the client ended the connection without close_notify");
	ck_assert_uint_eq(server.half_closed, 0);
	ck_assert_uint_eq(tls_bench_counters.truncations, 1);
}
END_TEST

START_TEST(a_reset_is_a_loss)
{
	raw_secured_by_client(TCP_TLS_REQUIRED);
	raw_cut(true);
	expect_closed(LEG_CLOSE_LOST, "Connection reset by peer");
	ck_assert_int_eq(server.leg->close_errno, ECONNRESET);
}
END_TEST

START_TEST(a_bad_record_ends_the_connection)
{
	static const uint8_t bad[] = {0x17, 3,  3,  0,  20, 1,  2,  3,  4,  5,  6,  7, 8,
				      9,    10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

	raw_secured_by_client(TCP_TLS_REQUIRED);
	raw_inject(bad, sizeof(bad));
	expect_closed(LEG_CLOSE_TLS, "the client sent a record that cannot be decrypted");
	ck_assert_uint_eq(tls_bench_counters.record_errors, 1);
}
END_TEST

/* TLS 1.3: a server rejects the client's certificate when the client has been open already. */
START_TEST(an_alert_ends_the_connection)
{
	open_client(tls_server_verifies);
	ck_assert_uint_eq(client.closing, 1);
	ck_assert_int_eq(client.why, LEG_CLOSE_TLS);
	ck_assert_str_ne(client.detail, "");
}
END_TEST

/* Its first bytes say nothing about its protocol: it speaks TLS and RPC. */
START_TEST(a_bad_message_ends_a_connection_to_a_server)
{
	uint8_t record[RECORD_MARK_BYTES + BENCH_REPLY_MIN];

	open_client(tls_server);
	record_mark_encode(record, BENCH_REPLY_MIN);
	put_reply(record + RECORD_MARK_BYTES, 5, BENCH_REPLY_MIN);
	record[RECORD_MARK_BYTES + 7] = 2;
	raw_write(record, sizeof(record));
	ck_assert_uint_eq(client.closing, 1);
	ck_assert_int_eq(client.why, LEG_CLOSE_NOT_RPC);
	ck_assert_str_eq(client.detail, "invalid message header: bad message type");
}
END_TEST

/* While the leg is not read, an end is noticed as on a plain stream. */
START_TEST(an_end_is_noticed_while_paused)
{
	raw_secured_by_client(TCP_TLS_REQUIRED);
	leg_pause(server.leg, true);
	raw_send_call(4, 100);
	ck_assert_uint_eq(server.ncalls, 0);
	if (_i == 0) {
		raw_cut(true);
		expect_closed(LEG_CLOSE_LOST, "while it was not being read");
	} else if (_i == 1) {
		stream_shutdown(raw);
		bench_run();
		ck_assert_uint_eq(server.half_closed, 1);
		leg_pause(server.leg, false);
		bench_run();
		raw_expect_reply(4, BENCH_REPLY_MIN);
		expect_closed(LEG_CLOSE_PEER, "");
	} else {
		pair_net_cut(bench_net);
		leg_check_peer_close(server.leg);
		bench_run();
		ck_assert_uint_eq(server.closing, 1);
		ck_assert_int_eq(server.why, LEG_CLOSE_LOST);
	}
}
END_TEST

/* Ends by the leg */

START_TEST(a_drain_ends_by_close_notify)
{
	raw_secured_by_client(TCP_TLS_REQUIRED);
	server.hold = true;
	raw_send_call(4, 100);
	leg_drain(server.leg);
	bench_run();
	ck_assert_uint_eq(server.closing, 0);
	exchange_put(bench_answer(&server, LONG_BYTES, LONG_BYTES));
	raw_expect_reply(4, LONG_BYTES);
	raw_expect(0);
	expect_closed(LEG_CLOSE_SHUTDOWN, "");
	ck_assert_str_eq(state_of(&server), "lingering");
	ck_assert_uint_eq(server.closed, 0);
	/* What the client still sends is discarded. */
	if (_i) {
		raw_send_call(5, 100);
		stream_shutdown(raw);
		bench_run();
	} else {
		/* Once more, since the client has read. */
		fake_loop_advance(bench_loop, 2 * BENCH_CLOSE_US);
	}
	ck_assert_uint_eq(server.closed, 1);
	ck_assert_uint_eq(server.ncalls, 1);
}
END_TEST

START_TEST(a_close_flushes_what_is_queued)
{
	raw_secured_by_client(TCP_TLS_REQUIRED);
	server.hold = true;
	raw_send_call(4, 100);
	exchange_put(bench_answer(&server, LONG_BYTES, LONG_BYTES));
	leg_close(server.leg, LEG_CLOSE_LOCAL);
	bench_run();
	ck_assert_str_eq(state_of(&server), "flushing");
	/* Its time begins anew while the client reads. */
	fake_loop_advance(bench_loop, BENCH_CLOSE_US - 1);
	if (_i) {
		raw_expect_reply(4, LONG_BYTES);
		raw_expect(0);
		ck_assert_str_eq(state_of(&server), "lingering");
	} else {
		fake_loop_advance(bench_loop, BENCH_CLOSE_US);
		ck_assert_uint_eq(server.closed, 1);
	}
}
END_TEST

START_TEST(a_connection_to_a_server_is_reset)
{
	open_client(tls_server);
	leg_close(client.leg, LEG_CLOSE_SUPERSEDED);
	bench_run();
	raw_expect(-ECONNRESET);
}
END_TEST

START_TEST(a_stopping_daemon_ends_a_connection_to_a_server_in_order)
{
	open_client(tls_server);
	leg_close(client.leg, LEG_CLOSE_SHUTDOWN);
	bench_run();
	ck_assert_uint_eq(client.closed, 1);
	raw_expect(0);
}
END_TEST

/* Acknowledgements */

START_TEST(what_is_acknowledged_never_exceeds_what_is_sent)
{
	uint64_t acked = 0;
	uint8_t byte;

	raw_secured_by_client(TCP_TLS_REQUIRED);
	server.hold = true;
	raw_send_call(4, 100);
	exchange_put(bench_answer(&server, LONG_BYTES, LONG_BYTES));
	bench_run();
	ck_assert_uint_lt(leg_acked_bytes(server.leg), leg_sent_bytes(server.leg));
	for (uint32_t i = 0; i < RECORD_MARK_BYTES + LONG_BYTES; i++) {
		uint64_t now = leg_acked_bytes(server.leg);

		ck_assert_uint_le(now, leg_sent_bytes(server.leg));
		ck_assert_uint_le(now,
				  RECORD_MARK_BYTES + TLS_ANSWER_BYTES + i + PAIR_BUFFER_BYTES * 2);
		acked = now > acked ? now : acked;
		ck_assert_uint_eq(raw_read(&byte, 1), 1);
	}
	ck_assert_uint_eq(leg_sent_bytes(server.leg),
			  2 * RECORD_MARK_BYTES + TLS_ANSWER_BYTES + LONG_BYTES);
	ck_assert_uint_eq(leg_acked_bytes(server.leg), leg_sent_bytes(server.leg));
	ck_assert_uint_eq(leg_transmitted_bytes(server.leg), leg_sent_bytes(server.leg));
}
END_TEST

START_TEST(a_client_that_reads_nothing_has_stalled)
{
	/* Longer than the buffers; and so that only encrypted bytes remain. */
	const uint32_t len = _i ? LONG_BYTES : PAIR_BUFFER_BYTES - 50;

	raw_secured_by_client(TCP_TLS_REQUIRED);
	server.hold = true;
	raw_send_call(4, 100);
	exchange_put(bench_answer(&server, len, len));
	bench_run();
	fake_loop_advance(bench_loop, BENCH_STALL_US - 1);
	ck_assert_uint_eq(server.closing, 0);
	fake_loop_advance(bench_loop, BENCH_STALL_US);
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_REPLY_STALLED);
}
END_TEST

START_TEST(an_incomplete_call_has_a_deadline)
{
	uint8_t record[RECORD_MARK_BYTES + 1000];

	raw_secured_by_client(TCP_TLS_REQUIRED);
	record_mark_encode(record, 1000);
	put_call(record + RECORD_MARK_BYTES, 4, 1000);
	raw_write(record, 500);
	fake_loop_advance(bench_loop, BENCH_STALL_US);
	expect_closed(LEG_CLOSE_RECORD_STALLED, "496 bytes of a record received");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_tls_life");
	TCase *tc = tcase_create("open");

	tcase_add_unchecked_fixture(tc, tls_bench_begin, tls_bench_end);
	tcase_add_checked_fixture(tc, tls_bench_setup, tls_bench_teardown);
	tcase_add_loop_test(tc, messages_of_any_size_pass, 0, 20);
	tcase_add_test(tc, many_calls_of_one_record_are_answered);
	tcase_add_test(tc, a_half_closed_client_gets_its_replies);
	tcase_add_loop_test(tc, the_end_of_a_reply_is_never_lost, 0, 60);
	tcase_add_loop_test(tc, an_end_without_close_notify_is_a_loss, 0, 2);
	tcase_add_test(tc, a_reset_is_a_loss);
	tcase_add_test(tc, a_bad_record_ends_the_connection);
	tcase_add_test(tc, an_alert_ends_the_connection);
	tcase_add_test(tc, a_bad_message_ends_a_connection_to_a_server);
	tcase_add_loop_test(tc, an_end_is_noticed_while_paused, 0, 3);
	tcase_add_loop_test(tc, a_drain_ends_by_close_notify, 0, 2);
	tcase_add_loop_test(tc, a_close_flushes_what_is_queued, 0, 2);
	tcase_add_test(tc, a_connection_to_a_server_is_reset);
	tcase_add_test(tc, a_stopping_daemon_ends_a_connection_to_a_server_in_order);
	tcase_add_test(tc, what_is_acknowledged_never_exceeds_what_is_sent);
	tcase_add_loop_test(tc, a_client_that_reads_nothing_has_stalled, 0, 2);
	tcase_add_test(tc, an_incomplete_call_has_a_deadline);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
