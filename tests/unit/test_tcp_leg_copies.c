// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Calls that a TCP client retransmits with other bytes: RPCSEC_GSS clients raise the sequence
 * number, AUTH_SYS clients can use another credential. Also tests the proxy's own answers to such
 * clients.
 */
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "rpc/rpc_header.h"
#include "tests/lib/gss_call.h"
#include "tests/unit/tcp_leg_fixture.h"

#define XID        0x777u
#define SEQ        150u
#define ARGS_BYTES 1000u
#define LONG_BYTES (40u * 1024u)

static uint8_t args[LONG_BYTES], msg[LONG_BYTES + GSS_CALL_BESIDE_BYTES];

static struct gss_call data_call(uint32_t service)
{
	memset(args, 0x55, sizeof(args));
	return (struct gss_call){.xid = XID,
				 .prog = 100003,
				 .vers = 3,
				 .proc = 6,
				 .seq = SEQ,
				 .service = service,
				 .handle = 7,
				 .args = args,
				 .args_bytes = ARGS_BYTES};
}

static void send_gss(const struct gss_call *call)
{
	peer_send_record(msg, gss_call_put(msg, call));
}

static void send_again(struct gss_call *call)
{
	call->seq += 50;
	send_gss(call);
}

static void expect_swallowed(unsigned copies)
{
	RUN_UNTIL(worker.counters.retransmissions_swallowed == copies);
	ck_assert_uint_eq(seen.ncalls, 1);
	ck_assert_uint_eq(seen.closing, 0);
}

static void expect_reused(void)
{
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_XID_REUSED);
	ck_assert_uint_eq(seen.ncalls, 1);
}

static void expect_auth_failed(uint32_t xid)
{
	static const uint32_t words[] = {RPC_REPLY, RPC_MSG_DENIED, 1, RPC_AUTH_FAILED};
	uint32_t len;
	const uint8_t *got = peer_read_record(&len);

	ck_assert_uint_eq(len, 20);
	ck_assert_uint_eq(get_word(got), xid);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(get_word(got + 4 + 4 * i), words[i]);
}

/* Copies */

/* The server has the first copy, and its Reply goes to the client. */
START_TEST(a_copy_with_another_sequence_number_is_swallowed)
{
	struct gss_call call = data_call((uint32_t)_i);
	uint32_t first_seq;

	fixture_open();
	send_gss(&call);
	RUN_UNTIL(seen.ncalls == 1);
	send_again(&call);
	send_again(&call);
	expect_swallowed(2);
	first_seq = get_word(seen.calls[0]->call.data + 40);
	ck_assert_uint_eq(first_seq, SEQ);
	answer_call(0, 24, 8);
	peer_expect_reply(XID, 24, 8);
	/*
	 * A client that accepts its newest number only sends the Call once more: that is a Call of
	 * its own.
	 */
	send_again(&call);
	RUN_UNTIL(seen.ncalls == 2);
	ck_assert_uint_eq(get_word(seen.calls[1]->call.data + 40), SEQ + 150);
	ck_assert_uint_eq(worker.counters.retransmissions_swallowed, 2);
	answer_call(1, 24, 9);
	peer_expect_reply(XID, 24, 9);
	seen.ncalls = 0;
	peer_expect_alive();
}
END_TEST

/* However it comes: in fragments its length shows at its end. */
START_TEST(a_copy_may_come_in_fragments)
{
	struct gss_call call = data_call(RPC_GSS_INTEGRITY);

	fixture_open();
	call.args_bytes = _i ? LONG_BYTES : ARGS_BYTES;
	send_gss(&call);
	RUN_UNTIL(seen.ncalls == 1);
	call.seq += 50;
	peer_send_fragments(msg, gss_call_put(msg, &call), _i ? 20000 : 100);
	expect_swallowed(1);
	answer_call(0, 24, 8);
	peer_expect_reply(XID, 24, 8);
	seen.ncalls = 0;
	peer_expect_alive();
}
END_TEST

START_TEST(a_longer_one_in_fragments_is_another_call)
{
	struct gss_call call = data_call(RPC_GSS_PRIVACY);

	fixture_open();
	call.args_bytes = LONG_BYTES - 4;
	send_gss(&call);
	RUN_UNTIL(seen.ncalls == 1);
	call.args_bytes = LONG_BYTES;
	call.seq += 50;
	peer_send_fragments(msg, gss_call_put(msg, &call), 20000);
	expect_reused();
}
END_TEST

/* Context, procedure, service, length, and what can be read of the arguments. */
START_TEST(another_call_under_its_xid_closes)
{
	struct gss_call call = data_call(RPC_GSS_INTEGRITY);

	fixture_open();
	send_gss(&call);
	RUN_UNTIL(seen.ncalls == 1);
	switch (_i) {
	case 0:
		call.handle++;
		break;
	case 1:
		call.proc++;
		break;
	case 2:
		call.service = RPC_GSS_PRIVACY;
		call.args_bytes += 20;
		break;
	case 3:
		call.args_bytes -= 4;
		break;
	case 4:
		args[255] ^= 1;
		break;
	}
	send_again(&call);
	expect_reused();
}
END_TEST

/* So do Linux knfsd and NFS-Ganesha, which look at no credential. */
START_TEST(a_copy_with_another_credential_of_auth_sys_is_swallowed)
{
	static const uint32_t creds[2][9] = {{RPC_AUTH_SYS, 20, 0x1111, 0, 0, 0, 0, 0, 0},
					     {RPC_AUTH_SYS, 24, 0x2222, 0, 7, 7, 1, 5, 0}};
	uint8_t copy[2][200];
	uint32_t len[2];

	for (unsigned i = 0; i < 2; i++) {
		unsigned words = 2 + creds[i][1] / 4;

		put_call(copy[i], XID, 40, 0);
		for (unsigned w = 0; w < words; w++)
			put_word(copy[i] + 24 + 4 * w, creds[i][w]);
		put_word(copy[i] + 24 + 4 * words, RPC_AUTH_NONE);
		put_word(copy[i] + 28 + 4 * words, 0);
		memset(copy[i] + 32 + 4 * words, 0x55, 100);
		len[i] = 132 + 4 * words;
	}
	fixture_open();
	peer_send_record(copy[0], len[0]);
	RUN_UNTIL(seen.ncalls == 1);
	peer_send_record(copy[1], len[1]);
	expect_swallowed(1);
	answer_call(0, 24, 8);
	peer_expect_reply(XID, 24, 8);
	/* Its arguments count. */
	peer_send_record(copy[0], len[0]);
	RUN_UNTIL(seen.ncalls == 2);
	copy[1][len[1] - 1] ^= 1;
	peer_send_record(copy[1], len[1]);
	RUN_UNTIL(seen.closed);
	ck_assert_int_eq(seen.why, LEG_CLOSE_XID_REUSED);
}
END_TEST

/* Answers of the proxy's own: an accepted one has no verifier that the client accepts. */

START_TEST(a_fault_is_denied)
{
	struct gss_call call = data_call(RPC_GSS_NONE);

	fixture_open();
	send_gss(&call);
	RUN_UNTIL(seen.ncalls == 1);
	seen.calls[0]->fault = (enum exchange_fault)_i;
	leg_reply(leg, seen.calls[0]);
	seen.ncalls = 0;
	expect_auth_failed(XID);
	ck_assert_uint_eq(worker.counters.auth_failed_sent, 1);
	ck_assert_uint_eq(worker.counters.system_errors_sent, 1);
	peer_expect_alive();
}
END_TEST

/* No context, no verifier: RFC 2203 section 5.2.3.1. */
START_TEST(a_fault_of_a_call_that_makes_a_context_is_answered_system_err)
{
	struct gss_call call = data_call(RPC_GSS_NONE);

	fixture_open();
	call.gss_proc = RPC_GSS_INIT;
	call.proc = 0;
	send_gss(&call);
	RUN_UNTIL(seen.ncalls == 1);
	seen.calls[0]->fault = EXCHANGE_FAULT_BAD_REPLY;
	leg_reply(leg, seen.calls[0]);
	seen.ncalls = 0;
	peer_expect_system_err(XID);
	ck_assert_uint_eq(worker.counters.auth_failed_sent, 0);
}
END_TEST

/* Whole, in two parts, and of a length that shows at its end only. */
START_TEST(a_call_longer_than_is_carried_is_denied)
{
	struct gss_call call = data_call(RPC_GSS_PRIVACY);
	uint8_t mark[RECORD_MARK_BYTES];
	uint32_t len;

	config.leg.max_message_bytes = LONG_BYTES;
	fixture_open();
	call.args_bytes = LONG_BYTES;
	len = gss_call_put(msg, &call);
	switch (_i) {
	case 0:
		peer_send_record(msg, len);
		break;
	case 1:
		record_mark_encode(mark, len);
		peer_write(mark, sizeof(mark));
		peer_write(msg, 20);
		settle();
		peer_write(msg + 20, len - 20);
		break;
	case 2:
		peer_send_fragments(msg, len, 20000);
		break;
	}
	expect_auth_failed(XID);
	ck_assert_uint_eq(worker.counters.auth_failed_sent, 1);
	ck_assert_uint_eq(worker.counters.calls_too_big, 1);
	ck_assert_uint_eq(seen.ncalls, 0);
	peer_expect_alive();
}
END_TEST

/* A server's Call: its client is the one that is asked. */
START_TEST(a_servers_call_past_its_limits_is_denied)
{
	struct gss_call call = data_call(RPC_GSS_INTEGRITY);

	fixture_connect();
	call.args_bytes = LONG_BYTES;
	send_gss(&call);
	expect_auth_failed(XID);
	ck_assert_uint_eq(worker.counters.reverse_refused, 1);
	ck_assert_uint_eq(worker.counters.auth_failed_sent, 1);
}
END_TEST

/* A6.2-8 */
START_TEST(the_program_that_configures_is_denied)
{
	struct gss_call call = data_call(RPC_GSS_NONE);

	config.leg.config_program = call.prog = 100417;
	fixture_open();
	send_gss(&call);
	expect_auth_failed(XID);
	ck_assert_uint_eq(worker.counters.prog_unavail, 1);
	ck_assert_uint_eq(worker.counters.auth_failed_sent, 1);
}
END_TEST

static TCase *new_case(Suite *suite, const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return tc;
}

int main(void)
{
	Suite *suite = suite_create("tcp_leg_copies");
	TCase *tc = new_case(suite, "copies");

	tcase_add_loop_test(tc, a_copy_with_another_sequence_number_is_swallowed, RPC_GSS_NONE,
			    RPC_GSS_PRIVACY + 1);
	tcase_add_loop_test(tc, a_copy_may_come_in_fragments, 0, 2);
	tcase_add_test(tc, a_longer_one_in_fragments_is_another_call);
	tcase_add_loop_test(tc, another_call_under_its_xid_closes, 0, 5);
	tcase_add_test(tc, a_copy_with_another_credential_of_auth_sys_is_swallowed);

	tc = new_case(suite, "answers");
	tcase_add_loop_test(tc, a_fault_is_denied, EXCHANGE_FAULT_ERR_CHUNK,
			    EXCHANGE_FAULT_LATE + 1);
	tcase_add_test(tc, a_fault_of_a_call_that_makes_a_context_is_answered_system_err);
	tcase_add_loop_test(tc, a_call_longer_than_is_carried_is_denied, 0, 3);
	tcase_add_test(tc, a_servers_call_past_its_limits_is_denied);
	tcase_add_test(tc, the_program_that_configures_is_denied);
	return test_main(suite);
}
