// SPDX-License-Identifier: BSD-3-Clause
/* Tests the TLS handshake of an accepted TCP leg: from the probe to the first Call within TLS. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "rpc/starttls.h"
#include "tests/unit/tcp_tls_bench.h"

#define PROBE_RECORD_BYTES  (RECORD_MARK_BYTES + TLS_PROBE_BYTES)
#define ANSWER_RECORD_BYTES (RECORD_MARK_BYTES + TLS_ANSWER_BYTES)

static uint8_t bytes[64u * 1024u];

static const struct tls_peer *peer_of(const struct bench_side *side)
{
	struct leg_info info;

	leg_info(side->leg, &info);
	return info.tls;
}

/* Whether the leg has sent nothing but its answer to the probe. */
static bool has_only_answered(const struct bench_side *side)
{
	struct leg_info info;

	leg_info(side->leg, &info);
	return info.tls_answer_bytes && info.bytes_sent == info.tls_answer_bytes;
}

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
	ck_assert_uint_eq(server.secured, 0);
	ck_assert_uint_eq(server.ncalls, 0);
}

static void expect_call_and_reply(void)
{
	raw_send_call(9, 100);
	raw_expect_reply(9, BENCH_REPLY_MIN);
	ck_assert_uint_eq(server.ncalls, 1);
}

START_TEST(a_probe_begins_tls)
{
	const struct tls_peer *peer;

	tls_bench_accept(_i);
	ck_assert_ptr_null(peer_of(&server));
	raw_probe(3);
	ck_assert_str_eq(state_of(&server), "securing");
	ck_assert_ptr_null(peer_of(&server));
	raw_expect_answer(3);
	raw_expect(-EAGAIN);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	bench_run();
	ck_assert(raw_secured);
	ck_assert_uint_eq(server.secured, 1);
	ck_assert_uint_eq(server.opened, 1);
	ck_assert_str_eq(state_of(&server), "open");
	peer = peer_of(&server);
	ck_assert_ptr_nonnull(peer);
	ck_assert(!peer->verified);
	ck_assert_str_eq(peer->name, "");
	ck_assert_ptr_nonnull(strstr(peer->cipher, "TLS_"));
	ck_assert(has_only_answered(&server));
	expect_call_and_reply();
	ck_assert(!has_only_answered(&server));
	ck_assert(wire_is_tls(&to_leg, 0));
	ck_assert(wire_is_tls(&from_leg, 0));
	ck_assert_uint_eq(tls_bench_counters.handshakes_ok, 1);
	/* The deadline is over. */
	fake_loop_advance(bench_loop, 2 * TCP_TLS_TIMEOUT_US);
	ck_assert_uint_eq(server.closing, 0);
}
END_TEST

START_TEST(calls_in_clear_can_precede_a_probe)
{
	tls_bench_accept(TCP_TLS_ALLOWED);
	raw_send_call(1, 100);
	raw_expect_reply(1, BENCH_REPLY_MIN);
	raw_probe(2);
	raw_expect_answer(2);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	bench_run();
	ck_assert_uint_eq(server.secured, 1);
	server.ncalls = 0;
	expect_call_and_reply();
	ck_assert(wire_is_tls(&from_leg, 0));
}
END_TEST

START_TEST(a_verified_client_has_its_name)
{
	server.config.tls.context = tls_server_verifies;
	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_probe(3);
	raw_expect_answer(3);
	raw_secure(TLS_ROLE_CLIENT, tls_client_named, NULL, 0);
	bench_run();
	ck_assert_uint_eq(server.secured, 1);
	ck_assert(peer_of(&server)->verified);
	ck_assert_str_eq(peer_of(&server)->name, "client.example");
	expect_call_and_reply();
}
END_TEST

START_TEST(a_client_without_a_certificate_is_refused)
{
	server.config.tls.context = tls_server_verifies;
	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_probe(3);
	raw_expect_answer(3);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	bench_run();
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_TLS);
	ck_assert_str_ne(server.detail, "");
	ck_assert_uint_eq(tls_bench_counters.handshakes_certificate, 1);
	ck_assert_uint_eq(server.secured, 0);
	ck_assert(wire_is_tls(&from_leg, 0));
}
END_TEST

static size_t make_probe(uint32_t xid)
{
	size_t len = starttls_encode_probe(bytes + RECORD_MARK_BYTES, xid, 100003, 4);

	record_mark_encode(bytes, (uint32_t)len);
	return RECORD_MARK_BYTES + len;
}

/* The client does not wait for the answer to its probe. */
START_TEST(a_handshake_can_come_with_the_probe)
{
	size_t len = make_probe(3);

	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_secure(TLS_ROLE_CLIENT, tls_client, bytes, len);
	bench_run();
	ck_assert(raw_secured);
	ck_assert_uint_eq(server.secured, 1);
	expect_call_and_reply();
	ck_assert(wire_is_tls(&to_leg, PROBE_RECORD_BYTES));
	ck_assert(wire_is_tls(&from_leg, ANSWER_RECORD_BYTES));
}
END_TEST

/* … also after Calls that are denied, of which the leg cannot read all at once. */
START_TEST(a_handshake_can_come_with_other_input)
{
	const unsigned count = 2 * TCP_LOCAL_REPLIES_MAX;
	const size_t call_bytes = RECORD_MARK_BYTES + BENCH_CALL_MIN;
	const size_t denied_bytes = RECORD_MARK_BYTES + 20;
	size_t probe_bytes = make_probe(3), len = count * call_bytes + probe_bytes;
	uint8_t *all = malloc(len);

	for (unsigned i = 0; i < count; i++) {
		record_mark_encode(all + i * call_bytes, BENCH_CALL_MIN);
		put_call(all + i * call_bytes + RECORD_MARK_BYTES, i, BENCH_CALL_MIN);
	}
	memcpy(all + count * call_bytes, bytes, probe_bytes);
	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_secure(TLS_ROLE_CLIENT, tls_client, all, len);
	raw_skip(count * denied_bytes);
	bench_run();
	ck_assert(raw_secured);
	ck_assert_uint_eq(bench_worker.counters.clear_calls_denied, count);
	ck_assert_uint_gt(bench_worker.counters.stash_bytes, 0);
	expect_call_and_reply();
	ck_assert(wire_is_tls(&to_leg, len));
	ck_assert(wire_is_tls(&from_leg, count * denied_bytes + ANSWER_RECORD_BYTES));
	free(all);
}
END_TEST

/* A Call that follows the probe: at once, later, and what is cut within its mark. */
START_TEST(nothing_in_clear_follows_a_probe)
{
	uint8_t got[ANSWER_RECORD_BYTES];
	size_t len = make_probe(3), rest = _i == 2 ? 1 : RECORD_MARK_BYTES + 100;

	record_mark_encode(bytes + len, 100);
	put_call(bytes + len + RECORD_MARK_BYTES, 4, 100);
	tls_bench_accept(TCP_TLS_ALLOWED);
	raw_watch();
	if (_i == 1) {
		raw_write(bytes, len);
		ck_assert_uint_eq(raw_read(got, sizeof(got)), sizeof(got));
		raw_write(bytes + len, rest);
	} else {
		raw_write(bytes, len + rest);
	}
	bench_run();
	expect_closed(LEG_CLOSE_TLS, "the client does not speak TLS");
	ck_assert_uint_eq(tls_bench_counters.handshakes_protocol, 1);
	raw_read(bytes, sizeof(bytes));
	ck_assert_uint_eq(from_leg.len_bytes, ANSWER_RECORD_BYTES);
}
END_TEST

/* Parts of the beginning of a handshake, and the answer unread: what follows does not come. */
static const uint8_t hello[] = {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3};

START_TEST(a_handshake_has_a_deadline)
{
	tls_bench_accept(TCP_TLS_ALLOWED);
	raw_probe(3);
	fake_loop_advance(bench_loop, TCP_TLS_TIMEOUT_US / 2);
	raw_write(hello, (size_t)_i);
	fake_loop_advance(bench_loop, TCP_TLS_TIMEOUT_US / 2 - 1);
	ck_assert_uint_eq(server.closing, 0);
	fake_loop_advance(bench_loop, 1);
	expect_closed(LEG_CLOSE_TLS, "no TLS handshake within 10 s of the probe");
	ck_assert_uint_eq(server.closed, 1);
	ck_assert_uint_eq(tls_bench_counters.handshakes_closed, 1);
}
END_TEST

/* The deadline covers the time that another thread takes, and frees nothing that it uses. */
START_TEST(a_leg_can_close_while_its_handshake_is_computed)
{
	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_probe(3);
	raw_expect_answer(3);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	/* The client computes its part, and not the leg. */
	tls_bench_hold = true;
	tls_bench_passes = 1;
	bench_run();
	ck_assert_uint_eq(server.closing, 0);
	if (_i == 0)
		fake_loop_advance(bench_loop, TCP_TLS_TIMEOUT_US);
	else if (_i == 1)
		leg_close(server.leg, LEG_CLOSE_DISCONNECTED);
	else
		leg_drain(server.leg);
	bench_run();
	ck_assert_uint_eq(server.closed, 1);
	leg_free(server.leg);
	server.leg = NULL;
	tls_bench_release();
	ck_assert_uint_eq(server.secured, 0);
}
END_TEST

START_TEST(the_client_can_leave)
{
	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_probe(3);
	raw_expect_answer(3);
	stream_close(raw, _i);
	bench_run();
	ck_assert_uint_eq(server.closed, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_TLS);
	ck_assert_str_eq(server.detail,
			 _i ? "the connection broke during the handshake"
			    : "the client closed the connection during the handshake");
	ck_assert_uint_eq(tls_bench_counters.handshakes_closed, 1);
}
END_TEST

START_TEST(the_owner_can_refuse_a_handshake)
{
	server.limit = "16 of this address are under way";
	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_watch();
	raw_probe(3);
	expect_closed(LEG_CLOSE_TLS_LIMIT, "16 of this address are under way");
	ck_assert_uint_eq(tls_bench_counters.handshakes_limited, 1);
	ck_assert_uint_eq(bench_worker.counters.tls_probes_accepted, 0);
	raw_read(bytes, sizeof(bytes));
	ck_assert_uint_eq(from_leg.len_bytes, 0);
}
END_TEST

/* The threads of all services have more handshakes than they can take. */
START_TEST(a_handshake_can_be_one_too_many)
{
	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_probe(3);
	raw_expect_answer(3);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	tls_bench_full = true;
	tls_bench_passes = 1;
	bench_run();
	expect_closed(LEG_CLOSE_TLS_LIMIT, "too many TLS handshakes wait");
}
END_TEST

/* A reverse Call between the probe and the end of the handshake goes through TLS only. */
START_TEST(a_reverse_call_waits_for_the_handshake)
{
	struct exchange *x;

	tls_bench_accept(TCP_TLS_ALLOWED);
	raw_probe(3);
	x = bench_call(&server, 5, 100, 100);
	bench_run();
	raw_expect_answer(3);
	raw_expect(-EAGAIN);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	bench_run();
	raw_expect_call(5, 100);
	ck_assert(wire_is_tls(&from_leg, 0));
	raw_send_reply(5, BENCH_REPLY_MIN);
	ck_assert_uint_eq(server.nreplies, 1);
	ck_assert_uint_eq(server.nfaults, 0);
	exchange_put(x);
}
END_TEST

/* … and its time runs meanwhile: before it is sent, or before the client answers. */
START_TEST(a_reverse_call_is_late_after_the_handshake)
{
	struct exchange *x;

	server.config.reverse_timeout_us = 1000000;
	tls_bench_accept(TCP_TLS_ALLOWED);
	raw_probe(3);
	x = bench_call(&server, 5, 100, 100);
	bench_run();
	raw_expect_answer(3);
	fake_loop_advance(bench_loop, _i ? 1000000 : 500000);
	ck_assert_uint_eq(server.nreplies, 0);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	bench_run();
	if (_i) {
		raw_expect(-EAGAIN);
	} else {
		raw_expect_call(5, 100);
		ck_assert_uint_eq(server.nfaults, 0);
		fake_loop_advance(bench_loop, 500000);
	}
	ck_assert_uint_eq(server.nfaults, 1);
	ck_assert_int_eq(x->fault, EXCHANGE_FAULT_LATE);
	expect_call_and_reply();
	exchange_put(x);
}
END_TEST

/* A leg that drains, or is paused, in the middle. */
START_TEST(a_drain_waits_for_a_reverse_call)
{
	struct exchange *x;

	tls_bench_accept(TCP_TLS_ALLOWED);
	raw_probe(3);
	x = bench_call(&server, 5, 100, 100);
	leg_drain(server.leg);
	bench_run();
	ck_assert_uint_eq(server.closing, 0);
	raw_expect_answer(3);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	bench_run();
	ck_assert_str_eq(state_of(&server), "draining");
	raw_expect_call(5, 100);
	raw_send_reply(5, BENCH_REPLY_MIN);
	ck_assert_uint_eq(server.nreplies, 1);
	ck_assert_uint_eq(server.closing, 1);
	ck_assert_int_eq(server.why, LEG_CLOSE_SHUTDOWN);
	raw_expect(0);
	exchange_put(x);
}
END_TEST

START_TEST(a_drain_ends_an_idle_handshake)
{
	tls_bench_accept(TCP_TLS_ALLOWED);
	raw_probe(3);
	leg_drain(server.leg);
	bench_run();
	expect_closed(LEG_CLOSE_SHUTDOWN, "");
}
END_TEST

START_TEST(a_pause_lasts_over_the_handshake)
{
	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_probe(3);
	raw_expect_answer(3);
	leg_pause(server.leg, true);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	bench_run();
	ck_assert_uint_eq(server.secured, 1);
	raw_send_call(9, 100);
	bench_run();
	ck_assert_uint_eq(server.ncalls, 0);
	leg_pause(server.leg, false);
	bench_run();
	ck_assert_uint_eq(server.ncalls, 1);
	raw_expect_reply(9, BENCH_REPLY_MIN);
}
END_TEST

START_TEST(the_daemon_can_ask_in_the_handshake)
{
	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_probe(3);
	raw_expect_answer(3);
	leg_check_peer_close(server.leg);
	ck_assert_uint_eq(leg_acked_bytes(server.leg), ANSWER_RECORD_BYTES);
	ck_assert_uint_eq(leg_transmitted_bytes(server.leg), ANSWER_RECORD_BYTES);
	if (_i) {
		stream_shutdown(raw);
		leg_check_peer_close(server.leg);
		bench_run();
		ck_assert_int_eq(server.why, LEG_CLOSE_TLS);
		ck_assert_uint_eq(server.half_closed, 0);
	} else {
		pair_net_cut(bench_net);
		leg_check_peer_close(server.leg);
		bench_run();
		ck_assert_int_eq(server.why, LEG_CLOSE_LOST);
	}
}
END_TEST

/* The deadlines of what preceded TLS are over. */
START_TEST(a_probe_in_parts_leaves_no_deadline)
{
	size_t len = make_probe(3);

	tls_bench_accept(TCP_TLS_REQUIRED);
	raw_write(bytes, 10);
	raw_write(bytes + 10, len - 10);
	raw_expect_answer(3);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	bench_run();
	ck_assert_uint_eq(server.secured, 1);
	fake_loop_advance(bench_loop, 2 * BENCH_STALL_US);
	ck_assert_uint_eq(server.closing, 0);
}
END_TEST

/* Moves the time until something has come. */
#define ADVANCE_UNTIL(cond)                                                                        \
	do {                                                                                       \
		unsigned rest = 10000;                                                             \
                                                                                                   \
		for (; !(cond); rest--) {                                                          \
			ck_assert_uint_gt(rest, 0);                                                \
			fake_loop_advance(bench_loop, 100);                                        \
		}                                                                                  \
	} while (0)

static void write_slowly(const uint8_t *from, size_t len_bytes)
{
	while (len_bytes) {
		struct iovec iov = {(void *)from, len_bytes};
		ssize_t n = stream_writev(raw, &iov, 1);

		ck_assert(n > 0 || n == -EAGAIN);
		if (n > 0) {
			from += n;
			len_bytes -= (size_t)n;
		}
		fake_loop_advance(bench_loop, 100);
	}
}

static bool has_read(size_t len_bytes)
{
	static size_t have;

	have += raw_read(bytes + have, len_bytes - have);
	if (have < len_bytes)
		return false;
	have = 0;
	return true;
}

/* The whole exchange, over streams that are slow, and that give and take bytes as they like. */
START_TEST(any_stream_will_do)
{
	const struct pair_faults faults = {.seed = (uint64_t)_i,
					   .max_delay_us = 1000,
					   .short_reads = true,
					   .short_writes = true,
					   .buffer_bytes = 700};
	const uint32_t len = RECORD_MARK_BYTES + 5000;

	tls_bench_renew(&faults);
	tls_bench_accept(TCP_TLS_REQUIRED);
	write_slowly(bytes, make_probe(3));
	ADVANCE_UNTIL(has_read(ANSWER_RECORD_BYTES));
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	ADVANCE_UNTIL(raw_secured);
	record_mark_encode(bytes, 5000);
	put_call(bytes + RECORD_MARK_BYTES, 9, 5000);
	write_slowly(bytes, len);
	ADVANCE_UNTIL(server.ncalls);
	ADVANCE_UNTIL(has_read(RECORD_MARK_BYTES + BENCH_REPLY_MIN));
}
END_TEST

/* The connection breaks before each of its steps. */
START_TEST(a_break_at_any_step_frees_all)
{
	struct pair_faults faults = {0};
	unsigned steps;

	tls_bench_renew(NULL);
	raw_secured_by_client(TCP_TLS_REQUIRED);
	expect_call_and_reply();
	steps = pair_net_steps(bench_net);
	ck_assert_uint_gt(steps, 5);
	for (faults.cut_at_step = 1; faults.cut_at_step <= steps; faults.cut_at_step++) {
		size_t len;

		tls_bench_renew(&faults);
		tls_bench_accept(TCP_TLS_REQUIRED);
		len = make_probe(3);
		raw_secure(TLS_ROLE_CLIENT, tls_client, bytes, len);
		bench_run();
		ck_assert(raw_secured || raw_error);
		ck_assert_uint_eq(server.closed, server.closing);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_tls_accept");
	TCase *tc = tcase_create("handshake");

	tcase_add_unchecked_fixture(tc, tls_bench_begin, tls_bench_end);
	tcase_add_checked_fixture(tc, tls_bench_setup, tls_bench_teardown);
	tcase_add_loop_test(tc, a_probe_begins_tls, TCP_TLS_ALLOWED, TCP_TLS_REQUIRED + 1);
	tcase_add_test(tc, calls_in_clear_can_precede_a_probe);
	tcase_add_test(tc, a_verified_client_has_its_name);
	tcase_add_test(tc, a_client_without_a_certificate_is_refused);
	tcase_add_test(tc, a_handshake_can_come_with_the_probe);
	tcase_add_test(tc, a_handshake_can_come_with_other_input);
	tcase_add_loop_test(tc, nothing_in_clear_follows_a_probe, 0, 3);
	tcase_add_loop_test(tc, a_handshake_has_a_deadline, 0, sizeof(hello) + 1);
	tcase_add_loop_test(tc, a_leg_can_close_while_its_handshake_is_computed, 0, 3);
	tcase_add_loop_test(tc, the_client_can_leave, 0, 2);
	tcase_add_test(tc, the_owner_can_refuse_a_handshake);
	tcase_add_test(tc, a_handshake_can_be_one_too_many);
	tcase_add_test(tc, a_reverse_call_waits_for_the_handshake);
	tcase_add_loop_test(tc, a_reverse_call_is_late_after_the_handshake, 0, 2);
	tcase_add_test(tc, a_drain_waits_for_a_reverse_call);
	tcase_add_test(tc, a_drain_ends_an_idle_handshake);
	tcase_add_test(tc, a_pause_lasts_over_the_handshake);
	tcase_add_loop_test(tc, the_daemon_can_ask_in_the_handshake, 0, 2);
	tcase_add_test(tc, a_probe_in_parts_leaves_no_deadline);
	tcase_add_loop_test(tc, any_stream_will_do, 0, 30);
	tcase_add_test(tc, a_break_at_any_step_frees_all);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
