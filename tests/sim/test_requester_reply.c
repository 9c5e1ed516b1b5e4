// SPDX-License-Identifier: BSD-3-Clause
/* Tests the client leg with conforming and broken hand-made servers. */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "tests/lib/test.h"
#include "tests/sim/server_peer.h"

/* Exposure ends with the Reply: what the peer then does hits nothing. */
START_TEST(the_peer_reaches_nothing_after_its_reply)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 60000);

	next_call();
	reply_inline(xid, 100, 32);
	expect_answered(1);
	ck_assert_int_eq(
		raw_write(raw, "late", 4, call.segments[0].handle, call.segments[0].offset),
		FABRIC_ERR_REMOTE);
}
END_TEST

START_TEST(a_call_cannot_be_written_nor_a_reply_read)
{
	uint8_t byte;

	make_call(10000, 100, 60000);
	next_call();
	ck_assert_int_eq(raw_read(raw, &byte, 1, call.segments[0].handle, call.segments[0].offset),
			 FABRIC_ERR_REMOTE);
	expect_closed(LEG_CLOSE_LOST);
}
END_TEST

/* With asynchronous unbinding the Reply is not delivered before the key is unbound. */
START_TEST(a_reply_waits_for_its_keys_to_die)
{
	reopen(&(struct sim_faults){.async_unbind = true, .max_delay_us = 100000, .seed = 3},
	       pd_4096, sizeof(pd_4096));
	raw->step_us = 1000000;
	for (unsigned i = 1; i <= 20; i++) {
		rig_call(&rig->client, 9000, 50001, 60000);
		rig_run_for(rig, 1000000);
		next_call();
		write_reply(50001);
		send_nomsg();
		expect_answered(i); /* the rig holds it against the keys' references */
	}
}
END_TEST

static uint32_t rkey_of_reply_chunk(uint32_t reply_max)
{
	make_call(RIG_CALL_MIN, 100, reply_max);
	next_call();
	return call.segments[0].handle;
}

static void reply_invalidating(uint32_t xid, uint32_t rkey)
{
	struct rpcrdma_header hdr;
	uint8_t bytes[256];
	size_t n;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
	rig_fill_reply(bytes + n, 100, xid);
	raw_send_inv(raw, bytes, n + 100, rkey);
}

/* Linux servers invalidate though their own flag is clear. */
START_TEST(a_key_of_the_rpc_may_be_invalidated)
{
	uint32_t rkey = rkey_of_reply_chunk(60000);

	reply_invalidating(call.xid, rkey);
	expect_answered(1);
	ck_assert_uint_eq(rig->client.counters.remote_invalidations_received, 1);
}
END_TEST

START_TEST(a_key_of_another_rpc_may_not_be_invalidated)
{
	uint32_t first, rkey;

	reply_inline(make_call(RIG_CALL_MIN, 100, 100), 100, 32);
	next_call();
	rkey_of_reply_chunk(60000);
	first = call.xid;
	rkey = rkey_of_reply_chunk(60000);
	reply_invalidating(first, rkey);
	expect_closed(LEG_CLOSE_PROTOCOL);
}
END_TEST

START_TEST(no_key_may_be_invalidated_unless_we_offered_it)
{
	raw_free(raw);
	rig_end(rig);
	rig = rig_new(NULL);
	rig->client.config.remote_invalidation = false;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
	ck_assert_uint_eq(raw->private_data[5], 0);
	reply_invalidating(call.xid, rkey_of_reply_chunk(60000));
	expect_closed(LEG_CLOSE_PROTOCOL);
}
END_TEST

START_TEST(a_server_without_private_data_gets_the_defaults)
{
	struct leg_info info;

	reopen(NULL, NULL, 0);
	leg_info(rig->client.leg, &info);
	ck_assert_uint_eq(info.inline_send_bytes, 1024);
	ck_assert_uint_eq(info.inline_recv_bytes, 1024);
	ck_assert_str_eq(info.kind, "sim");
	ck_assert_uint_eq(rig->client.counters.private_data_defaults, 1);
	make_call(1024 - 28, 100, 1024 - 28);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_MSG);
	ck_assert(!call.has_reply_chunk);
	reply_inline(call.xid, 100, 32);
	make_call(1024 - 27, 100, 1024 - 27);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	ck_assert(call.has_reply_chunk);
}
END_TEST

/* C3.2-2 */
START_TEST(a_device_whose_keys_are_shared_offers_no_invalidation)
{
	reopen(&(struct sim_faults){.shared_keys = true}, pd_4096, sizeof(pd_4096));
	ck_assert_uint_eq(raw->private_data[5], 0);
	reply_invalidating(call.xid, rkey_of_reply_chunk(60000));
	expect_closed(LEG_CLOSE_PROTOCOL);
}
END_TEST

static void offer_reply_chunk(void)
{
	make_call(RIG_CALL_MIN, 5000, 60000);
	next_call();
	write_reply(5000);
}

static void expect_bad_reply(void)
{
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.bad_replies, 1);
	/* And the next Call works. */
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}

/* A3.7-4 */
START_TEST(a_returned_chunk_that_grew_is_a_bad_reply)
{
	offer_reply_chunk();
	call.segments[0].len_bytes = call.reply_chunk.len_bytes + 4;
	send_nomsg();
	expect_bad_reply();
}
END_TEST

START_TEST(a_returned_chunk_with_another_handle_is_a_bad_reply)
{
	offer_reply_chunk();
	call.segments[0].handle++;
	send_nomsg();
	expect_bad_reply();
}
END_TEST

START_TEST(a_returned_chunk_with_another_offset_is_a_bad_reply)
{
	offer_reply_chunk();
	call.segments[0].offset += 4;
	send_nomsg();
	expect_bad_reply();
}
END_TEST

START_TEST(a_returned_chunk_with_more_segments_is_a_bad_reply)
{
	offer_reply_chunk();
	call.segments[1] = (struct rpcrdma_segment){99, 4, 4};
	call.reply_chunk.count = 2;
	send_nomsg();
	expect_bad_reply();
}
END_TEST

START_TEST(a_returned_chunk_with_a_gap_is_a_bad_reply)
{
	reopen(&(struct sim_faults){.max_key_bytes = 3000}, pd_4096, sizeof(pd_4096));
	make_call(RIG_CALL_MIN, 5000, 6000);
	next_call();
	ck_assert_uint_eq(call.reply_chunk.count, 2);
	write_reply(5000);
	call.segments[0].len_bytes = 2000;
	call.segments[1].len_bytes = 3000;
	send_nomsg();
	expect_bad_reply();
}
END_TEST

START_TEST(a_long_reply_without_a_chunk_is_a_bad_reply)
{
	offer_reply_chunk();
	call.has_reply_chunk = false;
	send_nomsg();
	expect_bad_reply();
}
END_TEST

START_TEST(an_empty_long_reply_is_a_bad_reply)
{
	offer_reply_chunk();
	call.segments[0].len_bytes = 0;
	send_nomsg();
	expect_bad_reply();
}
END_TEST

/* A-Δ2 */
START_TEST(a_reply_with_a_read_list_is_a_bad_reply)
{
	struct rpcrdma_header hdr;
	uint8_t reply[100];

	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	rpcrdma_header_init(&hdr, call.xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){28, {5, 100, 0}};
	rig_fill_reply(reply, 100, call.xid);
	raw_send_header(raw, &hdr, reply, 100);
	expect_bad_reply();
}
END_TEST

START_TEST(a_reply_with_a_write_list_that_was_not_offered_is_a_bad_reply)
{
	struct rpcrdma_header hdr;
	uint8_t reply[100];

	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	rpcrdma_header_init(&hdr, call.xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	hdr.writes[hdr.nwrites++] = (struct rpcrdma_chunk){0, 0, 0};
	rig_fill_reply(reply, 100, call.xid);
	raw_send_header(raw, &hdr, reply, 100);
	expect_bad_reply();
}
END_TEST

START_TEST(a_reply_both_inline_and_in_the_chunk_is_a_bad_reply)
{
	uint8_t reply[100];

	offer_reply_chunk();
	call.proc = RPCRDMA_MSG;
	rig_fill_reply(reply, 100, call.xid);
	raw_send_header(raw, &call, reply, 100);
	expect_bad_reply();
}
END_TEST

START_TEST(a_reply_that_does_not_decode_is_a_bad_reply)
{
	uint8_t bytes[64] = {0};

	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	be32_put(bytes, call.xid);
	be32_put(bytes + 4, 1);
	be32_put(bytes + 16, 2);
	raw_send(raw, bytes, sizeof(bytes));
	ck_assert_uint_eq(rig->client.counters.err_chunk_sent, 0);
	expect_bad_reply();
}
END_TEST

START_TEST(a_reply_of_another_version_is_a_bad_reply)
{
	uint8_t bytes[64] = {0};

	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	be32_put(bytes, call.xid);
	be32_put(bytes + 4, 2);
	be32_put(bytes + 32, RPC_REPLY);
	raw_send(raw, bytes, sizeof(bytes));
	expect_bad_reply();
}
END_TEST

/* its bytes are dropped, and its RPC does not hang. */
START_TEST(a_reply_with_another_xid_inside_is_a_bad_reply)
{
	struct rpcrdma_header hdr;
	uint8_t reply[100];

	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	rpcrdma_header_init(&hdr, call.xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	rig_fill_reply(reply, 100, call.xid + 1);
	raw_send_header(raw, &hdr, reply, 100);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.xid_mismatches, 1);
}
END_TEST

START_TEST(a_reply_chunk_that_holds_no_reply_is_a_bad_reply)
{
	static const uint8_t nothing[5000];

	make_call(RIG_CALL_MIN, 5000, 60000);
	next_call();
	ck_assert_int_eq(raw_write(raw, nothing, sizeof(nothing), call.segments[0].handle,
				   call.segments[0].offset),
			 FABRIC_OK);
	call.segments[0].len_bytes = 5000;
	send_nomsg();
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.xid_mismatches, 1);
}
END_TEST

START_TEST(an_unmatched_reply_is_dropped)
{
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	reply_inline(call.xid + 1, 100, 32);
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 1);
	ck_assert_uint_eq(rig->client.answered, 0);
	/* Nor did it raise the credit. */
	make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 0);
	reply_inline(call.xid, 100, 32);
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 2);
}
END_TEST

/* One of the Calls in flight would wait for it for ever. */
START_TEST(a_bad_reply_that_matches_nothing_closes)
{
	uint8_t bytes[64] = {0};

	make_call(RIG_CALL_MIN, 100, 100);
	be32_put(bytes + 4, 1);
	be32_put(bytes + 16, 2);
	raw_send(raw, bytes, sizeof(bytes));
	expect_closed(LEG_CLOSE_BAD_REPLY);
}
END_TEST

static void send_error(uint32_t xid, uint32_t err, uint32_t low, uint32_t high)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_ERROR);
	hdr.error = err;
	hdr.vers_low = low;
	hdr.vers_high = high;
	raw_send_header(raw, &hdr, NULL, 0);
}

/* A4.2-4 */
START_TEST(err_chunk_ends_its_rpc_only)
{
	make_call(9000, 100, 60000);
	next_call();
	send_error(call.xid, RPCRDMA_ERR_CHUNK, 0, 0);
	expect_fault(EXCHANGE_FAULT_ERR_CHUNK);
	ck_assert_uint_eq(rig->client.counters.err_chunk_received, 1);
	/* The credit of an error opens no window. */
	make_call(RIG_CALL_MIN, 100, 100);
	make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 1);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}
END_TEST

START_TEST(an_unknown_error_code_is_tolerated)
{
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	send_error(call.xid, 77, 0, 0);
	expect_fault(EXCHANGE_FAULT_ERR_CHUNK);
	ck_assert_uint_eq(rig->client.counters.err_unknown_received, 1);
}
END_TEST

START_TEST(err_vers_before_any_reply_sends_the_call_again)
{
	uint32_t rkey;

	make_call(9000, 5000, 60000);
	next_call();
	rkey = call.segments[0].handle;
	send_error(call.xid, RPCRDMA_ERR_VERS, 1, 1);
	next_call();
	ck_assert_uint_eq(call.segments[0].handle, rkey);
	write_reply(5000);
	send_nomsg();
	expect_answered(1);
}
END_TEST

START_TEST(err_vers_for_ever_ends_the_rpc)
{
	make_call(RIG_CALL_MIN, 100, 100);
	for (int i = 0; i < 2; i++) {
		next_call();
		send_error(call.xid, RPCRDMA_ERR_VERS, 1, 2);
	}
	expect_fault(EXCHANGE_FAULT_ERR_VERS);
	ck_assert_uint_eq(sends_waiting(), 0);
}
END_TEST

START_TEST(err_vers_without_a_common_version_closes)
{
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	send_error(call.xid, RPCRDMA_ERR_VERS, 2, 7);
	expect_closed(LEG_CLOSE_VERSION);
}
END_TEST

START_TEST(err_vers_after_a_reply_ends_the_rpc)
{
	reply_inline(make_call(RIG_CALL_MIN, 100, 100), 100, 32);
	next_call();
	make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	send_error(call.xid, RPCRDMA_ERR_VERS, 1, 1);
	expect_fault(EXCHANGE_FAULT_ERR_VERS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requester_reply");
	TCase *tc = tcase_create("open");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_peer_reaches_nothing_after_its_reply);
	tcase_add_test(tc, a_call_cannot_be_written_nor_a_reply_read);
	tcase_add_test(tc, a_reply_waits_for_its_keys_to_die);
	tcase_add_test(tc, a_key_of_the_rpc_may_be_invalidated);
	tcase_add_test(tc, a_key_of_another_rpc_may_not_be_invalidated);
	tcase_add_test(tc, a_device_whose_keys_are_shared_offers_no_invalidation);
	tcase_add_test(tc, no_key_may_be_invalidated_unless_we_offered_it);
	tcase_add_test(tc, a_server_without_private_data_gets_the_defaults);
	tcase_add_test(tc, a_returned_chunk_that_grew_is_a_bad_reply);
	tcase_add_test(tc, a_returned_chunk_with_another_handle_is_a_bad_reply);
	tcase_add_test(tc, a_returned_chunk_with_another_offset_is_a_bad_reply);
	tcase_add_test(tc, a_returned_chunk_with_more_segments_is_a_bad_reply);
	tcase_add_test(tc, a_returned_chunk_with_a_gap_is_a_bad_reply);
	tcase_add_test(tc, a_long_reply_without_a_chunk_is_a_bad_reply);
	tcase_add_test(tc, an_empty_long_reply_is_a_bad_reply);
	tcase_add_test(tc, a_reply_with_a_read_list_is_a_bad_reply);
	tcase_add_test(tc, a_reply_with_a_write_list_that_was_not_offered_is_a_bad_reply);
	tcase_add_test(tc, a_reply_both_inline_and_in_the_chunk_is_a_bad_reply);
	tcase_add_test(tc, a_reply_that_does_not_decode_is_a_bad_reply);
	tcase_add_test(tc, a_reply_of_another_version_is_a_bad_reply);
	tcase_add_test(tc, a_reply_with_another_xid_inside_is_a_bad_reply);
	tcase_add_test(tc, a_reply_chunk_that_holds_no_reply_is_a_bad_reply);
	tcase_add_test(tc, an_unmatched_reply_is_dropped);
	tcase_add_test(tc, a_bad_reply_that_matches_nothing_closes);
	tcase_add_test(tc, err_chunk_ends_its_rpc_only);
	tcase_add_test(tc, an_unknown_error_code_is_tolerated);
	tcase_add_test(tc, err_vers_before_any_reply_sends_the_call_again);
	tcase_add_test(tc, err_vers_for_ever_ends_the_rpc);
	tcase_add_test(tc, err_vers_without_a_common_version_closes);
	tcase_add_test(tc, err_vers_after_a_reply_ends_the_rpc);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
