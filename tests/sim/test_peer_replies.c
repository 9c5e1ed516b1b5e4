// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests which Replies with unused or wrong chunks the client leg accepts from which server.
 */
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/quirk_peer.h"

START_TEST(strict_takes_no_grant_of_zero)
{
	open_peer(PEER_STRICT, pd_ours);
	reply_inline(make_call(100, 100, 100), 100, 0);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
}
END_TEST

/*
 * A READ before a server that takes payloads in chunks; its write list comes back with that length,
 * or not at all.
 */
static void read_written(enum peer_id id, uint32_t written_bytes, bool returned)
{
	static const uint8_t payload[1004];
	uint8_t reply[128];

	peer_ddp = true;
	open_peer(id, pd_ours);
	fake_ceiling_bytes = 8400;
	fake_result_bounds[0] = 8000;
	fake_reply_payloads[0] = (struct rpc_payload){100, 1001};
	fake_nresult_bounds = fake_nreply_payloads = 1;
	make_call(RIG_CALL_MIN, 100, 8400);
	next_call();
	ck_assert_uint_eq(call.nwrites, 1);
	ck_assert_int_eq(raw_write(raw, payload, written_bytes, call.segments[0].handle,
				   call.segments[0].offset),
			 FABRIC_OK);
	call.segments[0].len_bytes = written_bytes;
	call.nwrites = returned;
	call.credit = 32;
	rig_fill_reply(reply, 100, call.xid);
	raw_send_header(raw, &call, reply, 100);
}

START_TEST(strict_takes_no_written_pad)
{
	read_written(PEER_STRICT, 1004, true);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
}
END_TEST

START_TEST(strict_takes_a_payload_without_its_pad)
{
	read_written(PEER_STRICT, 1001, true);
	ck_assert_uint_eq(rig->client.faults, 0);
	ck_assert_uint_eq(rig->client.answered, 1);
}
END_TEST

START_TEST(strict_takes_no_reply_without_the_write_list_it_offered)
{
	read_written(PEER_STRICT, 0, false);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
}
END_TEST

/*
 * A READ or a READLINK before a server that takes payloads in chunks; it leaves the write chunk
 * unused, and its data or path come inline.
 */
static void answered_inline(enum peer_id id, bool is_data, uint32_t payload_bytes, bool returned)
{
	uint8_t reply[128];

	peer_ddp = true;
	open_peer(id, pd_ours);
	fake_ceiling_bytes = 8400;
	fake_result_bounds[0] = 8000;
	fake_reply_payloads[0] = (struct rpc_payload){60, payload_bytes};
	fake_nresult_bounds = fake_nreply_payloads = 1;
	fake_call_reads = is_data;
	make_call(RIG_CALL_MIN, 100, 8400);
	next_call();
	ck_assert_uint_eq(call.nwrites, 1);
	call.segments[0].len_bytes = 0;
	call.nwrites = returned;
	call.credit = 32;
	rig_fill_reply(reply, 100, call.xid);
	raw_send_header(raw, &call, reply, 100);
}

/* A3.7-1 */
START_TEST(inline_data_with_an_unused_write_chunk_are_refused)
{
	answered_inline((enum peer_id)_i, true, 40, true);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
}
END_TEST

START_TEST(data_without_the_write_list_are_refused)
{
	answered_inline((enum peer_id)_i, true, 40, false);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
}
END_TEST

/* A READ behind the end of the file, or that failed. */
START_TEST(without_data_a_write_chunk_stays_unused)
{
	answered_inline((enum peer_id)_i, true, 0, true);
	expect_answered(1);
}
END_TEST

START_TEST(an_inline_path_with_an_unused_write_chunk_is_accepted_except_by_strict)
{
	answered_inline((enum peer_id)_i, false, 40, true);
	if (_i == PEER_STRICT) {
		expect_fault(EXCHANGE_FAULT_BAD_REPLY);
		return;
	}
	expect_answered(1);
}
END_TEST

START_TEST(draft03_accepts_inline_data_with_an_unused_write_chunk)
{
	peer_version_one = DIALECT_DRAFT03;
	answered_inline(PEER_AUTO, true, 40, true);
	expect_answered(1);
}
END_TEST

/* What strict refuses is taken of everybody else. */
START_TEST(the_others_are_forgiven)
{
	read_written((enum peer_id)_i, 1004, true);
	ck_assert_uint_eq(rig->client.answered, 1);
	teardown_peer();
	setup_peer();
	read_written((enum peer_id)_i, 0, false);
	ck_assert_uint_eq(rig->client.answered, 1);
	reply_inline(make_call(100, 100, 100), 100, 0);
	ck_assert_uint_eq(rig->client.answered, 2);
	ck_assert_uint_eq(rig->client.faults, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peer_replies");
	TCase *tc = tcase_create("peer_replies");

	tcase_add_checked_fixture(tc, setup_peer, teardown_peer);
	tcase_add_test(tc, strict_takes_no_grant_of_zero);
	tcase_add_test(tc, strict_takes_no_written_pad);
	tcase_add_test(tc, strict_takes_a_payload_without_its_pad);
	tcase_add_test(tc, strict_takes_no_reply_without_the_write_list_it_offered);
	tcase_add_loop_test(tc, inline_data_with_an_unused_write_chunk_are_refused, PEER_AUTO,
			    PEER_COUNT);
	tcase_add_loop_test(tc, data_without_the_write_list_are_refused, PEER_AUTO, PEER_COUNT);
	tcase_add_loop_test(tc, without_data_a_write_chunk_stays_unused, PEER_AUTO, PEER_COUNT);
	tcase_add_loop_test(tc,
			    an_inline_path_with_an_unused_write_chunk_is_accepted_except_by_strict,
			    PEER_AUTO, PEER_COUNT);
	tcase_add_test(tc, draft03_accepts_inline_data_with_an_unused_write_chunk);
	tcase_add_loop_test(tc, the_others_are_forgiven, PEER_AUTO, PEER_STRICT);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
