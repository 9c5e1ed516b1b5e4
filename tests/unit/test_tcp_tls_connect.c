// SPDX-License-Identifier: BSD-3-Clause
/* Tests a TCP leg that connects by TLS: the probe, its answer, and the handshake. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/be_bytes.h"
#include "rpc/record_mark.h"
#include "rpc/starttls.h"
#include "tests/lib/hex.h"
#include "tests/unit/tcp_tls_bench.h"

#define PROBE_RECORD_BYTES (RECORD_MARK_BYTES + TLS_PROBE_BYTES)

/* An answer without its mark and XID. */
#define ACCEPTED "00000001 00000000 "
#define NO_AUTH  "00000000 00000000 "
#define STARTTLS ACCEPTED "00000000 00000008 5354415254544c53 "

static uint8_t bytes[64u * 1024u];
static uint32_t xid; /* of the probe */

static void connect_and_probe(void)
{
	uint8_t want[RPC_NULL_CALL_BYTES];

	bench_connect();
	bench_run();
	ck_assert_uint_eq(raw_read(bytes, sizeof(bytes)), PROBE_RECORD_BYTES);
	xid = be32_get(bytes + RECORD_MARK_BYTES);
	ck_assert_uint_eq(starttls_encode_probe(want, xid, 100003, 4), sizeof(want));
	ck_assert_uint_eq(be32_get(bytes), RECORD_LAST_FRAGMENT | sizeof(want));
	ck_assert_mem_eq(bytes + RECORD_MARK_BYTES, want, sizeof(want));
	ck_assert_uint_eq(client.opened, 0);
}

/* Returns the length of the record that answers the probe. */
static uint32_t make_answer(const char *hex)
{
	uint32_t len = 4 + (uint32_t)hex_bytes(hex, bytes + RECORD_MARK_BYTES + 4, 1024);

	be32_put(bytes + RECORD_MARK_BYTES, xid);
	record_mark_encode(bytes, len);
	return RECORD_MARK_BYTES + len;
}

static void answer(const char *hex)
{
	raw_write(bytes, make_answer(hex));
	bench_run();
}

static void secure(struct tls_context *context)
{
	answer(STARTTLS "00000000");
	raw_secure(TLS_ROLE_SERVER, context, NULL, 0);
	bench_run();
}

static void expect_failed(enum leg_close why, const char *detail)
{
	ck_assert_uint_eq(client.closing, 1);
	ck_assert_msg(client.why == why, "%s: %s", leg_close_name(client.why), client.detail);
	ck_assert_str_eq(client.detail, detail);
	ck_assert_uint_eq(client.opened, 0);
	ck_assert_uint_eq(bench_worker.counters.connect_failures, 1);
	ck_assert_uint_eq(bench_worker.counters.connections_opened, 0);
}

static const char *state_of_client(void)
{
	struct leg_info info;

	leg_info(client.leg, &info);
	return info.state;
}

START_TEST(calls_wait_for_the_handshake)
{
	struct leg_info info;
	struct exchange *x;

	bench_connect();
	x = bench_call(&client, 5, 100, 100);
	bench_run();
	ck_assert_uint_eq(raw_read(bytes, sizeof(bytes)), PROBE_RECORD_BYTES);
	xid = be32_get(bytes + RECORD_MARK_BYTES);
	ck_assert_str_eq(state_of_client(), "securing");
	secure(tls_server);
	ck_assert(raw_secured);
	ck_assert_uint_eq(client.opened, 1);
	ck_assert_uint_eq(client.secured, 0);
	ck_assert_uint_eq(bench_worker.counters.connections_opened, 1);
	raw_expect_call(5, 100);
	ck_assert(wire_is_tls(&from_leg, 0));
	raw_send_reply(5, BENCH_REPLY_MIN);
	ck_assert_uint_eq(client.nreplies, 1);
	ck_assert_uint_eq(client.nfaults, 0);
	leg_info(client.leg, &info);
	ck_assert(info.tls->verified);
	ck_assert_str_eq(info.tls->name, "server.example");
	fake_loop_advance(bench_loop, 2 * BENCH_CONNECT_US);
	ck_assert_uint_eq(client.closing, 0);
	exchange_put(x);
}
END_TEST

START_TEST(the_preface_precedes_the_probe)
{
	static const char preface[] = "PROXY it";
	uint8_t got[sizeof(preface) - 1 + PROBE_RECORD_BYTES];

	memcpy(client.config.leg.preface, preface, sizeof(preface) - 1);
	client.config.leg.preface_bytes = sizeof(preface) - 1;
	bench_connect();
	bench_run();
	ck_assert_uint_eq(raw_read(got, sizeof(got)), sizeof(got));
	ck_assert_mem_eq(got, preface, sizeof(preface) - 1);
	xid = be32_get(got + sizeof(preface) - 1 + RECORD_MARK_BYTES);
	secure(tls_server);
	ck_assert_uint_eq(client.opened, 1);
}
END_TEST

/* The server's own status does not matter: it may look at the program after the flavour. */
static const char *const good[] = {
	STARTTLS "00000000",
	STARTTLS "00000001",
	STARTTLS "00000002 00000003 00000003",
};

START_TEST(any_status_will_do)
{
	uint32_t len;

	connect_and_probe();
	len = make_answer(good[_i]);
	for (uint32_t i = 0; i < len; i++) {
		ck_assert_uint_eq(client.closing, 0);
		raw_write(bytes + i, 1);
	}
	raw_secure(TLS_ROLE_SERVER, tls_server, NULL, 0);
	bench_run();
	ck_assert_uint_eq(client.opened, 1);
}
END_TEST

#define NOT_ANSWER "the answer to the RPC-with-TLS probe is not a Reply to it"

static const struct {
	const char *hex;
	enum leg_close why;
	const char *detail;
} bad[] = {
	{ACCEPTED NO_AUTH "00000000", LEG_CLOSE_TLS, "the server does not offer TLS"},
	{ACCEPTED NO_AUTH "00000001", LEG_CLOSE_TLS, "the server does not offer TLS"},
	{ACCEPTED "00000000 00000008 7374617274746c73 00000000", LEG_CLOSE_TLS,
	 "the server does not offer TLS"},
	{ACCEPTED
	 "00000002 00000024 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
	 "00000000 00000000 00000000",
	 LEG_CLOSE_TLS, "the server does not offer TLS"},
	{"00000001 00000001 00000001 00000002", LEG_CLOSE_TLS,
	 "the server does not offer TLS: it denied the RPC-with-TLS probe"},
	{"00000001 00000001 00000000 00000002 00000002", LEG_CLOSE_TLS,
	 "the server does not offer TLS: it denied the RPC-with-TLS probe"},
	{"00000000 00000002 000186a3 00000004 00000000 " NO_AUTH NO_AUTH, LEG_CLOSE_NOT_RPC,
	 NOT_ANSWER},
	{STARTTLS "00000009", LEG_CLOSE_NOT_RPC, NOT_ANSWER},
};

START_TEST(another_answer_ends_the_connection)
{
	connect_and_probe();
	answer(bad[_i].hex);
	expect_failed(bad[_i].why, bad[_i].detail);
	raw_expect(-ECONNRESET);
}
END_TEST

START_TEST(a_reply_to_another_call_is_no_answer)
{
	connect_and_probe();
	xid++;
	answer(STARTTLS "00000000");
	expect_failed(LEG_CLOSE_NOT_RPC, NOT_ANSWER);
}
END_TEST

static const struct {
	const char *bytes;
	size_t len;
	const char *detail;
} garbage[] = {
	{"HTTP/1.1 400 Bad Request\r\n\r\n", 28,
	 "does not look like RPC: the first bytes are \"HTTP/1.1 400 Bad\" (HTTP): is that its RPC "
	 "port?"},
	{"SSH-2.0-OpenSSH_9.2p1\r\n", 23,
	 "does not look like RPC: the first bytes are \"SSH-2.0-OpenSSH_\" (SSH): is that its RPC "
	 "port?"},
	{"\x15\x03\x03\x00\x02\x02\x28", 7,
	 "does not look like RPC: the first bytes are 15 03 03 00 02 02 28 (TLS): is that its RPC "
	 "port?"},
	{"\x80\x00\x00\x13\x00", 5,
	 "does not look like RPC: the first bytes are 80 00 00 13 00: is that its RPC port?"},
	{"\x80\x00\x00\x14 this is no Reply, is it?", 30,
	 "does not look like RPC: the first bytes are 80 00 00 14 20 74 68 69 73 20 69 73 20 6e 6f "
	 "20: is that its RPC port?"},
};

START_TEST(garbage_ends_the_connection)
{
	connect_and_probe();
	raw_write((const uint8_t *)garbage[_i].bytes, garbage[_i].len);
	bench_run();
	expect_failed(LEG_CLOSE_NOT_RPC, garbage[_i].detail);
}
END_TEST

START_TEST(a_server_can_close_instead)
{
	connect_and_probe();
	stream_close(raw, _i);
	bench_run();
	expect_failed(LEG_CLOSE_TLS, _i ? "Connection reset by peer before the server answered the "
					  "RPC-with-TLS probe"
					: "the connection ended before the server answered the "
					  "RPC-with-TLS probe");
	ck_assert_int_eq(client.leg->close_errno, _i ? ECONNRESET : 0);
}
END_TEST

/* No answer, a part of one, and no handshake after it: connect_timeout_us is for all. */
START_TEST(the_deadline_of_connecting_covers_tls)
{
	uint32_t len;

	connect_and_probe();
	fake_loop_advance(bench_loop, BENCH_CONNECT_US / 2);
	len = make_answer(STARTTLS "00000000");
	raw_write(bytes, _i == 2 ? len : _i * (len - 1));
	fake_loop_advance(bench_loop, BENCH_CONNECT_US / 2 - 1);
	ck_assert_uint_eq(client.closing, 0);
	fake_loop_advance(bench_loop, 1);
	expect_failed(LEG_CLOSE_TIMEOUT,
		      _i == 2 ? "the TLS handshake did not end in time"
			      : "the server did not answer the RPC-with-TLS probe in time");
	ck_assert_int_eq(client.leg->close_errno, ETIMEDOUT);
}
END_TEST

START_TEST(a_server_of_another_name_is_refused)
{
	client.config.tls.context = tls_client_misled;
	connect_and_probe();
	secure(tls_server);
	ck_assert_uint_eq(client.closing, 1);
	ck_assert_int_eq(client.why, LEG_CLOSE_TLS);
	ck_assert_msg(strstr(client.detail, "server.example"), "%s", client.detail);
	ck_assert_uint_eq(bench_worker.counters.connect_failures, 1);
	ck_assert_uint_eq(tls_bench_counters.handshakes_certificate, 1);
	ck_assert_uint_eq(client.opened, 0);
}
END_TEST

/* In the same segment as the answer, and later. */
START_TEST(nothing_in_clear_follows_the_answer)
{
	uint32_t len;

	connect_and_probe();
	raw_watch();
	len = make_answer(STARTTLS "00000000");
	put_reply(bytes + len, 5, 100);
	if (_i) {
		raw_write(bytes, len);
		raw_write(bytes + len, 100);
	} else {
		raw_write(bytes, len + 100);
	}
	bench_run();
	expect_failed(LEG_CLOSE_TLS, "the server does not speak TLS");
	raw_read(bytes, sizeof(bytes));
	if (from_leg.len_bytes)
		ck_assert(wire_is_tls(&from_leg, 0));
}
END_TEST

START_TEST(a_server_that_leaves_in_the_handshake_has_failed)
{
	connect_and_probe();
	answer(STARTTLS "00000000");
	stream_close(raw, false);
	bench_run();
	ck_assert_uint_eq(client.closing, 1);
	ck_assert_int_eq(client.why, LEG_CLOSE_TLS);
	ck_assert_str_ne(client.detail, "");
	ck_assert_uint_eq(tls_bench_counters.handshakes_closed, 1);
}
END_TEST

/* With a Call it drains after the handshake, and ends it without one. */
START_TEST(a_drain_waits_for_queued_calls)
{
	struct exchange *x;

	connect_and_probe();
	if (_i)
		x = bench_call(&client, 5, 100, 100);
	leg_drain(client.leg);
	bench_run();
	ck_assert_uint_eq(client.closing, !_i);
	if (!_i)
		return;
	secure(tls_server);
	ck_assert_str_eq(state_of_client(), "draining");
	raw_expect_call(5, 100);
	raw_send_reply(5, BENCH_REPLY_MIN);
	ck_assert_uint_eq(client.nreplies, 1);
	ck_assert_uint_eq(client.closing, 1);
	ck_assert_int_eq(client.why, LEG_CLOSE_SHUTDOWN);
	exchange_put(x);
}
END_TEST

START_TEST(a_break_at_any_step_frees_all)
{
	struct pair_faults faults = {0};
	unsigned steps;

	tls_bench_renew(NULL);
	bench_join();
	bench_run();
	ck_assert_uint_eq(client.opened, 1);
	ck_assert_uint_eq(server.secured, 1);
	steps = pair_net_steps(bench_net);
	for (faults.cut_at_step = 1; faults.cut_at_step <= steps; faults.cut_at_step++) {
		tls_bench_renew(&faults);
		bench_join();
		exchange_put(bench_call(&client, 5, 100, 100));
		bench_run();
		ck_assert_uint_eq(client.closed, 1);
		ck_assert(!server.leg || server.closed == 1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_tls_connect");
	TCase *tc = tcase_create("handshake");

	tcase_add_unchecked_fixture(tc, tls_bench_begin, tls_bench_end);
	tcase_add_checked_fixture(tc, tls_bench_setup, tls_bench_teardown);
	tcase_add_test(tc, calls_wait_for_the_handshake);
	tcase_add_test(tc, the_preface_precedes_the_probe);
	tcase_add_loop_test(tc, any_status_will_do, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(tc, another_answer_ends_the_connection, 0, ARRAY_SIZE(bad));
	tcase_add_test(tc, a_reply_to_another_call_is_no_answer);
	tcase_add_loop_test(tc, garbage_ends_the_connection, 0, ARRAY_SIZE(garbage));
	tcase_add_loop_test(tc, a_server_can_close_instead, 0, 2);
	tcase_add_loop_test(tc, the_deadline_of_connecting_covers_tls, 0, 3);
	tcase_add_test(tc, a_server_of_another_name_is_refused);
	tcase_add_loop_test(tc, nothing_in_clear_follows_the_answer, 0, 2);
	tcase_add_test(tc, a_server_that_leaves_in_the_handshake_has_failed);
	tcase_add_loop_test(tc, a_drain_waits_for_queued_calls, 0, 2);
	tcase_add_test(tc, a_break_at_any_step_frees_all);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
