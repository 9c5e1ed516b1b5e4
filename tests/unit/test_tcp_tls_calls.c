// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests what each Call of a client gets in each state of RPC-with-TLS: the table of
 * rpctcp/tcp_tls.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "tests/lib/hex.h"
#include "tests/unit/tcp_tls_bench.h"

#define XID            "0a0b0c0d "
#define CALL           XID "00000000 00000002 000186a3 00000003 "
#define NULL_          "00000000 "
#define GETATTR        "00000001 "
#define NO_AUTH        "00000000 00000000 "
#define AUTH_SYS       "00000001 00000014 00000000 00000000 00000000 00000000 00000000 "
#define AUTH_TLS       "00000007 00000000 "
#define HANDLE         "00000004 01020304 "
#define PROBE          CALL NULL_ AUTH_TLS NO_AUTH

#define ACCEPTED       XID "00000001 00000000 "
#define STARTTLS       ACCEPTED "00000000 00000008 5354415254544c53 00000000"
#define GARBAGE        ACCEPTED NO_AUTH "00000004"
#define UNAVAIL        ACCEPTED NO_AUTH "00000001"
#define DENIED         XID "00000001 00000001 00000001 "
#define BADCRED        DENIED "00000001"
#define REJECTED       DENIED "00000002"
#define BADVERF        DENIED "00000003"
#define TOOWEAK        DENIED "00000005"
#define MISMATCH       XID "00000001 00000001 00000000 00000002 00000002"
#define FORWARDED      NULL

#define CONFIG_PROGRAM 100417u /* 00018841 */

static uint8_t bytes[64u * 1024u];

static uint32_t make_record(const char *hex)
{
	uint32_t len = (uint32_t)hex_bytes(hex, bytes + RECORD_MARK_BYTES, 1024);

	record_mark_encode(bytes, len);
	return RECORD_MARK_BYTES + len;
}

/* At once, in single bytes, or in two fragments. */
enum way { AT_ONCE, BY_BYTES, IN_FRAGMENTS, WAYS };

static void send_call(const char *hex, enum way way)
{
	uint32_t len = make_record(hex);

	if (way == AT_ONCE) {
		raw_write(bytes, len);
	} else if (way == BY_BYTES) {
		for (uint32_t i = 0; i < len; i++)
			raw_write(bytes + i, 1);
	} else {
		const uint8_t first[RECORD_MARK_BYTES] = {0, 0, 0, 24};
		uint8_t second[RECORD_MARK_BYTES];

		record_mark_encode(second, len - RECORD_MARK_BYTES - 24);
		raw_write(first, sizeof(first));
		raw_write(bytes + RECORD_MARK_BYTES, 24);
		raw_write(second, sizeof(second));
		raw_write(bytes + RECORD_MARK_BYTES + 24, len - RECORD_MARK_BYTES - 24);
	}
	bench_run();
}

static void expect_answer(const char *hex)
{
	uint8_t got[128];
	uint32_t len = make_record(hex);

	ck_assert_uint_eq(raw_read(got, sizeof(got)), len);
	ck_assert_mem_eq(got, bytes, len);
}

static void expect_forwarded(void)
{
	ck_assert_uint_eq(server.ncalls, 1);
	exchange_put(bench_answer(&server, BENCH_REPLY_MIN, BENCH_REPLY_MIN));
	raw_expect_reply(0x0a0b0c0d, BENCH_REPLY_MIN);
}

static void expect(const char *answer)
{
	if (answer == FORWARDED) {
		expect_forwarded();
		return;
	}
	ck_assert_uint_eq(server.ncalls, 0);
	expect_answer(answer);
}

/* In clear: with TLS off, allowed and required. Within TLS. */
static const struct {
	const char *call, *off, *allowed, *required, *within;
	unsigned denied; /* counted under `required` as a Call in clear */
} rows[] = {
	{CALL NULL_ NO_AUTH NO_AUTH, FORWARDED, FORWARDED, TOOWEAK, FORWARDED, 1},
	{CALL NULL_ AUTH_SYS NO_AUTH, FORWARDED, FORWARDED, TOOWEAK, FORWARDED, 1},
	{CALL GETATTR AUTH_SYS NO_AUTH HANDLE, FORWARDED, FORWARDED, TOOWEAK, FORWARDED, 1},
	/* An unknown flavour, whose other errors are AUTH_FAILED. */
	{CALL NULL_ "00000009 00000000 " NO_AUTH, FORWARDED, FORWARDED, TOOWEAK, FORWARDED, 1},
	{PROBE, REJECTED, STARTTLS, STARTTLS, BADCRED, 0},
	/* Any program and version: the server's are unknown here. */
	{XID "00000000 00000002 000186a5 00000001 " NULL_ AUTH_TLS NO_AUTH, REJECTED, STARTTLS,
	 STARTTLS, BADCRED, 0},
	{CALL GETATTR AUTH_TLS NO_AUTH HANDLE, REJECTED, BADCRED, BADCRED, BADCRED, 0},
	{CALL NULL_ "00000007 00000004 00000000 " NO_AUTH, REJECTED, BADCRED, BADCRED, BADCRED, 0},
	{CALL NULL_ AUTH_TLS AUTH_TLS, REJECTED, BADVERF, BADVERF, BADCRED, 0},
	{CALL NULL_ AUTH_TLS "00000000 00000004 00000000 ", REJECTED, BADVERF, BADVERF, BADCRED, 0},
	{PROBE "00000000", REJECTED, GARBAGE, GARBAGE, BADCRED, 0},
	/* What RPC itself rejects, and the program that TCP has not. */
	{XID "00000000 00000003 000186a3 00000003 " NULL_ NO_AUTH NO_AUTH, MISMATCH, MISMATCH,
	 MISMATCH, MISMATCH, 0},
	{CALL NULL_ "00000001 00000191 00000000 00000000", BADCRED, BADCRED, BADCRED, BADCRED, 0},
	{XID "00000000 00000002 00018841 00000001 " NULL_ NO_AUTH NO_AUTH, UNAVAIL, UNAVAIL,
	 TOOWEAK, UNAVAIL, 1},
};

static void expect_row(const char *call, enum tcp_tls_policy policy, enum way way,
		       const char *answer)
{
	server.hold = true;
	server.config.leg.config_program = CONFIG_PROGRAM;
	tls_bench_accept(policy);
	send_call(call, way);
	expect(answer);
	ck_assert_uint_eq(server.closing, 0);
	ck_assert_uint_eq(server.secured, 0);
}

/* The connection continues: a probe is accepted, or a Call forwarded. */
static void expect_goes_on(enum tcp_tls_policy policy)
{
	server.ncalls = 0;
	if (policy != TCP_TLS_OFF) {
		raw_probe(7);
		raw_expect_answer(7);
	} else {
		send_call(CALL NULL_ NO_AUTH NO_AUTH, AT_ONCE);
		expect_forwarded();
	}
}

START_TEST(tls_is_off)
{
	const char *call = rows[_i / WAYS].call, *answer = rows[_i / WAYS].off;
	bool tls = answer && !strcmp(answer, REJECTED);

	expect_row(call, TCP_TLS_OFF, _i % WAYS, answer);
	ck_assert_uint_eq(bench_worker.counters.auth_tls_refused, tls);
	ck_assert_uint_eq(server.notes, tls);
	expect_goes_on(TCP_TLS_OFF);
}
END_TEST

START_TEST(tls_is_allowed)
{
	const char *answer = rows[_i / WAYS].allowed;
	bool probe = answer && !strcmp(answer, STARTTLS);

	expect_row(rows[_i / WAYS].call, TCP_TLS_ALLOWED, _i % WAYS, answer);
	ck_assert_uint_eq(bench_worker.counters.tls_probes_accepted, probe);
	ck_assert_uint_eq(bench_worker.counters.clear_calls_denied, 0);
	if (!probe)
		expect_goes_on(TCP_TLS_ALLOWED);
}
END_TEST

START_TEST(tls_is_required)
{
	const char *answer = rows[_i / WAYS].required;
	bool probe = !strcmp(answer, STARTTLS);

	expect_row(rows[_i / WAYS].call, TCP_TLS_REQUIRED, _i % WAYS, answer);
	ck_assert_uint_eq(bench_worker.counters.tls_probes_accepted, probe);
	ck_assert_uint_eq(bench_worker.counters.clear_calls_denied, rows[_i / WAYS].denied);
	ck_assert_uint_eq(bench_worker.counters.calls_received, 0);
	if (!probe)
		expect_goes_on(TCP_TLS_REQUIRED);
}
END_TEST

START_TEST(within_tls)
{
	const char *call = rows[_i].call, *answer = rows[_i].within;

	for (enum tcp_tls_policy policy = TCP_TLS_ALLOWED; policy <= TCP_TLS_REQUIRED; policy++) {
		server.hold = true;
		server.config.leg.config_program = CONFIG_PROGRAM;
		raw_secured_by_client(policy);
		send_call(call, AT_ONCE);
		expect(answer);
		server.ncalls = 0;
		send_call(CALL NULL_ NO_AUTH NO_AUTH, AT_ONCE);
		expect_forwarded();
		ck_assert_uint_eq(bench_worker.counters.tls_probes_accepted, 1);
		ck_assert_uint_eq(bench_worker.counters.clear_calls_denied, 0);
		tls_bench_renew(NULL);
	}
}
END_TEST

START_TEST(a_probe_is_rejected_while_a_call_is_in_flight)
{
	server.hold = true;
	tls_bench_accept(TCP_TLS_ALLOWED);
	raw_send_call(1, BENCH_CALL_MIN);
	send_call(PROBE, AT_ONCE);
	expect_answer(REJECTED);
	ck_assert_uint_eq(bench_worker.counters.auth_tls_refused, 1);
	ck_assert_uint_eq(server.notes, 1);
	exchange_put(bench_answer(&server, BENCH_REPLY_MIN, BENCH_REPLY_MIN));
	raw_expect_reply(1, BENCH_REPLY_MIN);
	send_call(PROBE, AT_ONCE);
	expect_answer(STARTTLS);
}
END_TEST

START_TEST(a_probe_is_rejected_while_a_reverse_call_is_outstanding)
{
	struct exchange *x;

	tls_bench_accept(TCP_TLS_ALLOWED);
	raw_send_call(1, BENCH_CALL_MIN);
	raw_expect_reply(1, BENCH_REPLY_MIN);
	x = bench_call(&server, 5, BENCH_CALL_MIN, BENCH_CALL_MIN);
	bench_run();
	raw_expect_call(5, BENCH_CALL_MIN);
	send_call(PROBE, AT_ONCE);
	expect_answer(REJECTED);
	raw_send_reply(5, BENCH_REPLY_MIN);
	ck_assert_uint_eq(server.nreplies, 1);
	send_call(PROBE, AT_ONCE);
	expect_answer(STARTTLS);
	exchange_put(x);
}
END_TEST

/* Longer than what is checked at once; longer than the limit; and of unknown length. */
START_TEST(a_long_call_in_clear_is_denied)
{
	static const uint32_t sizes[] = {20000, BENCH_MAX_MESSAGE + 1000};
	uint8_t *record = malloc(RECORD_MARK_BYTES + BENCH_MAX_MESSAGE + 1000);

	tls_bench_accept(TCP_TLS_REQUIRED);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		raw_send_call(0x0a0b0c0d, sizes[i]);
		expect_answer(TOOWEAK);
	}
	put_call(record + RECORD_MARK_BYTES, 0x0a0b0c0d, 20000);
	record_mark_encode(record, 20000);
	record[0] = 0;
	raw_write(record, RECORD_MARK_BYTES + 20000);
	expect_answer(TOOWEAK);
	record_mark_encode(record, 40);
	raw_write(record, RECORD_MARK_BYTES + 40);
	raw_expect(-EAGAIN);
	ck_assert_uint_eq(bench_worker.counters.clear_calls_denied, 3);
	ck_assert_uint_eq(server.notes, 1);
	expect_goes_on(TCP_TLS_REQUIRED);
	free(record);
}
END_TEST

/* A NULL with as many arguments as are not examined. */
START_TEST(a_long_probe_is_none)
{
	uint8_t *record = calloc(1, RECORD_MARK_BYTES + 20000);

	tls_bench_accept(TCP_TLS_ALLOWED);
	make_record(PROBE);
	memcpy(record, bytes, RECORD_MARK_BYTES + TLS_PROBE_BYTES);
	record_mark_encode(record, 20000);
	raw_write(record, RECORD_MARK_BYTES + 20000);
	expect_answer(GARBAGE);
	ck_assert_uint_eq(bench_worker.counters.auth_tls_refused, 1);
	expect_goes_on(TCP_TLS_ALLOWED);
	free(record);
}
END_TEST

/* Denied Calls whose Replies the client does not read: reading stops, and goes on. */
START_TEST(many_denied_calls_are_answered)
{
	const unsigned count = 4 * TCP_LOCAL_REPLIES_MAX;
	const uint32_t len = make_record(CALL NULL_ NO_AUTH NO_AUTH);
	uint8_t *all = malloc((size_t)count * len);

	tls_bench_accept(TCP_TLS_REQUIRED);
	for (unsigned i = 0; i < count; i++)
		memcpy(all + (size_t)i * len, bytes, len);
	raw_write(all, (size_t)count * len);
	raw_probe(7);
	for (unsigned i = 0; i < count; i++) {
		uint8_t got[24];

		ck_assert_uint_eq(raw_read(got, sizeof(got)), sizeof(got));
		make_record(TOOWEAK);
		ck_assert_mem_eq(got, bytes, sizeof(got));
	}
	raw_expect_answer(7);
	free(all);
}
END_TEST

/* A server's Call on a leg that has connected by TLS: no client asks for TLS there. */
START_TEST(a_reverse_call_with_auth_tls_is_rejected_as_ever)
{
	client.hold = true;
	tls_bench_connect();
	bench_run();
	{
		uint8_t probe[RECORD_MARK_BYTES + TLS_PROBE_BYTES];

		ck_assert_uint_eq(raw_read(probe, sizeof(probe)), sizeof(probe));
		make_record(STARTTLS);
		memcpy(bytes + RECORD_MARK_BYTES, probe + RECORD_MARK_BYTES, 4);
		raw_write(bytes, RECORD_MARK_BYTES + TLS_ANSWER_BYTES);
	}
	raw_secure(TLS_ROLE_SERVER, tls_server, NULL, 0);
	bench_run();
	ck_assert_uint_eq(client.opened, 1);
	send_call(PROBE, AT_ONCE);
	expect_answer(REJECTED);
	send_call(CALL NULL_ NO_AUTH NO_AUTH, AT_ONCE);
	ck_assert_uint_eq(client.ncalls, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_tls_calls");
	TCase *tc = tcase_create("states");

	tcase_add_unchecked_fixture(tc, tls_bench_begin, tls_bench_end);
	tcase_add_checked_fixture(tc, tls_bench_setup, tls_bench_teardown);
	tcase_add_loop_test(tc, tls_is_off, 0, ARRAY_SIZE(rows) * WAYS);
	tcase_add_loop_test(tc, tls_is_allowed, 0, ARRAY_SIZE(rows) * WAYS);
	tcase_add_loop_test(tc, tls_is_required, 0, ARRAY_SIZE(rows) * WAYS);
	tcase_add_loop_test(tc, within_tls, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, a_probe_is_rejected_while_a_call_is_in_flight);
	tcase_add_test(tc, a_probe_is_rejected_while_a_reverse_call_is_outstanding);
	tcase_add_test(tc, a_long_call_in_clear_is_denied);
	tcase_add_test(tc, a_long_probe_is_none);
	tcase_add_test(tc, many_denied_calls_are_answered);
	tcase_add_test(tc, a_reverse_call_with_auth_tls_is_rejected_as_ever);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
