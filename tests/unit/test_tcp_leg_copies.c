// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that a TCP client sends again in other bytes: an RPCSEC_GSS client raises its sequence number, an AUTH_SYS client
 * may have another credential.
 */
#include <stdlib.h>
#include <string.h>

#include "rpc/msg.h"
#include "rpc/record.h"
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
	/* A client that accepts its newest number only sends the Call once more: that is a Call of its own. */
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
	return test_main(suite);
}
