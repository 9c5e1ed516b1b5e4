// SPDX-License-Identifier: BSD-3-Clause
/* Tests the server leg with conforming and broken hand-made clients. */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "tests/lib/test.h"
#include "tests/sim/client_peer.h"

START_TEST(an_inline_call_is_answered_inline)
{
	begin(1, RPCRDMA_MSG);
	send_call(200, 300);
	expect_inline_reply(1, 300);
	ck_assert_uint_eq(rig->server.last_call_bytes, 200);
}
END_TEST

/* A3.4-1, A3.4-5, A3.4-6, A-Δ5: a data item in two segments, with and without its pad. */
START_TEST(a_read_chunk_lands_at_its_position)
{
	for (uint32_t with_pad = 0; with_pad < 2; with_pad++) {
		uint32_t total = 44 + 1004 + 20, xid = 10 + with_pad;
		uint8_t call[2048], reduced[2048];

		rig_fill_call(call, total, xid, 100);
		memset(call + 44 + 1001, 0, 3);
		begin(xid, RPCRDMA_MSG);
		add_read(44, raw_lend(raw, call + 44, 600, FABRIC_REMOTE_READ));
		add_read(44, raw_lend(raw, call + 644, with_pad ? 404 : 401, FABRIC_REMOTE_READ));
		memcpy(reduced, call, 44);
		memcpy(reduced + 44, call + 44 + 1004, 20);
		raw_send_header(raw, &hdr, reduced, 64);
		expect_inline_reply(xid, 100);
		ck_assert_uint_eq(rig->server.last_call_bytes, total);
		ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, total));
	}
}
END_TEST

/* A3.8-1, A-Δ7: several items, their entries in no order. */
START_TEST(read_chunks_come_in_any_order)
{
	uint8_t call[4096], reduced[4096];
	uint32_t total = 44 + 100 + 8 + 203 + 1 + 12;
	struct fabric_key *first, *second_a, *second_b;

	rig_fill_call(call, total, 20, 100);
	memset(call + 44 + 100 + 8 + 203, 0, 1);
	first = raw_lend(raw, call + 44, 100, FABRIC_REMOTE_READ);
	second_a = raw_lend(raw, call + 152, 3, FABRIC_REMOTE_READ);
	second_b = raw_lend(raw, call + 155, 200, FABRIC_REMOTE_READ);
	begin(20, RPCRDMA_MSG);
	add_read(152, second_a);
	add_read(44, first);
	add_read(152, second_b);
	memcpy(reduced, call, 44);
	memcpy(reduced + 44, call + 144, 8);
	memcpy(reduced + 52, call + 356, 12);
	raw_send_header(raw, &hdr, reduced, 64);
	expect_inline_reply(20, 100);
	ck_assert_uint_eq(rig->server.last_call_bytes, total);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, total));
}
END_TEST

/* A5.1-2 */
START_TEST(a_position_zero_chunk_is_the_whole_call)
{
	uint8_t *call = malloc(100000);

	rig_fill_call(call, 100000, 30, 100);
	begin(30, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, 60000, FABRIC_REMOTE_READ));
	add_read(0, raw_lend(raw, call + 60000, 40000, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	expect_inline_reply(30, 100);
	ck_assert_uint_eq(rig->server.last_call_bytes, 100000);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, 100000));
	free(call);
}
END_TEST

START_TEST(a_position_zero_chunk_and_others_are_merged)
{
	uint8_t *call = malloc(20000), *reduced = malloc(20000);
	uint32_t total = 9000 + 5003 + 1 + 400;

	rig_fill_call(call, total, 31, 100);
	memset(call + 14003, 0, 1);
	memcpy(reduced, call, 9000);
	memcpy(reduced + 9000, call + 14004, 400);
	begin(31, RPCRDMA_NOMSG);
	add_read(9000, raw_lend(raw, call + 9000, 5003, FABRIC_REMOTE_READ));
	/* The cut falls inside its second entry. */
	add_read(0, raw_lend(raw, reduced, 8000, FABRIC_REMOTE_READ));
	add_read(0, raw_lend(raw, reduced + 8000, 1400, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	expect_inline_reply(31, 100);
	ck_assert_uint_eq(rig->server.last_call_bytes, total);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, total));
	free(call);
	free(reduced);
}
END_TEST

/* A3.3-10 */
START_TEST(reads_stay_within_the_negotiated_depth)
{
	uint8_t call[4096];

	raw_free(raw);
	rig_end(rig);
	rig = rig_new(&(struct sim_faults){.max_ord = 2});
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	rig_fill_call(call, 4000, 32, 100);
	begin(32, RPCRDMA_NOMSG);
	for (unsigned i = 0; i < 40; i++)
		add_read(0, raw_lend(raw, call + i * 100, 100, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	expect_inline_reply(32, 100);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, 4000));
	ck_assert_uint_eq(sim_net_stats(rig->net)->max_reads, 2);
}
END_TEST

START_TEST(a_client_that_cannot_be_read_from_gets_err_chunk_for_read_chunks)
{
	uint8_t call[2048];

	raw = raw_new(rig, NULL, 0);
	raw->params.ird = 0;
	raw_connect(raw);
	rig_fill_call(call, 1024, 33, 100);
	begin(33, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, 1024, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 33, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

static void refuse_reads(uint32_t xid, uint32_t position, const struct fabric_key *key,
			 uint32_t inline_bytes)
{
	begin(xid, RPCRDMA_MSG);
	add_read(position, key);
	send_call(inline_bytes, 100);
	raw_expect_error(raw, xid, RPCRDMA_ERR_CHUNK);
}

START_TEST(read_chunks_that_make_no_message_get_err_chunk)
{
	struct fabric_key *key = raw_lend(raw, NULL, 100, FABRIC_REMOTE_READ);
	struct fabric_key *other = raw_lend(raw, NULL, 100, FABRIC_REMOTE_READ);

	refuse_reads(40, 0, key, 100);   /* A-Δ8: an RDMA_MSG has its own beginning */
	refuse_reads(41, 104, key, 100); /* beyond the body */
	begin(42, RPCRDMA_MSG);
	add_read(44, key);
	add_read(48, other); /* overlaps the first */
	send_call(100, 100);
	raw_expect_error(raw, 42, RPCRDMA_ERR_CHUNK);
	begin(43, RPCRDMA_NOMSG); /* no beginning at all */
	add_read(44, key);
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 43, RPCRDMA_ERR_CHUNK);
	begin(44, RPCRDMA_NOMSG);
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 44, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.bad_calls, 5);
	ck_assert_uint_eq(rig->server.calls, 0);
	expect_alive();
}
END_TEST

/* A-Δ8: it is no short Call, but one in the wrong place, and whoever sent it waits for an answer. */
START_TEST(a_message_in_a_chunk_of_an_rdma_msg_gets_err_chunk)
{
	static const uint32_t inline_bytes[] = {0, 4, 8, 39};
	uint8_t call[RIG_CALL_MIN];

	begin(45, RPCRDMA_MSG);
	rig_fill_call(call, sizeof(call), 45, 100);
	add_read(0, raw_lend(raw, call, sizeof(call), FABRIC_REMOTE_READ));
	for (size_t i = 0; i < ARRAY_SIZE(inline_bytes); i++) {
		raw_send_header(raw, &hdr, call, inline_bytes[i]);
		raw_expect_error(raw, 45, RPCRDMA_ERR_CHUNK);
	}
	ck_assert_uint_eq(rig->server.counters.short_discarded, 0);
	ck_assert_uint_eq(rig->server.counters.bad_calls, ARRAY_SIZE(inline_bytes));
	/* What calls itself a Reply is not answered. */
	be32_put(call + 4, RPC_REPLY);
	raw_send_header(raw, &hdr, call, 19);
	expect_silence();
	ck_assert_uint_eq(rig->server.counters.short_discarded, 1);
	expect_alive();
}
END_TEST

START_TEST(a_call_over_the_limit_gets_err_chunk_and_no_memory)
{
	begin(50, RPCRDMA_NOMSG);
	hdr.nreads = 2;
	hdr.reads[0].seg = (struct rpcrdma_segment){7, 0xffffffff, 0};
	hdr.reads[0].position = hdr.reads[1].position = 0;
	hdr.reads[1].seg = (struct rpcrdma_segment){7, 0xffffffff, 0xffffffff};
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 50, RPCRDMA_ERR_CHUNK);
	begin(51, RPCRDMA_NOMSG);
	hdr.nreads = 1;
	hdr.reads[0].seg = (struct rpcrdma_segment){7, RIG_MAX_MSG + 4, 0};
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 51, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.calls_too_big, 2);
	ck_assert_uint_eq(rig->budget.account.peak_bytes, 0);
	expect_alive();
}
END_TEST

START_TEST(a_read_chunk_that_cannot_be_read_closes)
{
	struct fabric_key *key = raw_lend(raw, NULL, 1000, FABRIC_REMOTE_WRITE);

	begin(55, RPCRDMA_NOMSG);
	add_read(0, key);
	raw_send_header(raw, &hdr, NULL, 0);
	expect_closed(LEG_CLOSE_PROTOCOL);
	ck_assert_uint_eq(rig->server.calls, 0);
}
END_TEST

/* C4.1.1-1, C4.1.2-1, C5.2-2: what does not conform leaves 1024 each way. */
static void expect_threshold(const uint8_t *pd, size_t n, uint32_t threshold)
{
	struct leg_info info;

	open_with(pd, n);
	leg_info(rig->server.leg, &info);
	ck_assert_uint_eq(info.inline_send_bytes, threshold);
	begin(1, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, threshold - 28);
	expect_inline_reply(1, threshold - 28);
	begin(2, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, threshold - 27);
	raw_expect_error(raw, 2, RPCRDMA_ERR_CHUNK);
}

START_TEST(a_client_without_private_data_gets_the_defaults)
{
	expect_threshold(NULL, 0, 1024);
}
END_TEST

START_TEST(private_data_of_others_is_ignored)
{
	static const uint8_t pd[] = {0xf6, 0xab, 0x0e, 0x19, 1, 1, 3, 3};

	expect_threshold(pd, sizeof(pd), 1024);
}
END_TEST

START_TEST(private_data_behind_those_of_a_library_are_taken)
{
	static const uint8_t pd[] = {'l', 'i', 'b', 0xf6, 0xab, 0x0e, 0x18, 1, 1, 1, 1};

	expect_threshold(pd, sizeof(pd), 2048);
	ck_assert_uint_eq(rig->server.counters.private_data_defaults, 0);
}
END_TEST

START_TEST(private_data_of_another_version_is_ignored)
{
	static const uint8_t pd[] = {0xf6, 0xab, 0x0e, 0x18, 2, 1, 3, 3};

	expect_threshold(pd, sizeof(pd), 1024);
}
END_TEST

START_TEST(padded_private_data_conforms)
{
	uint8_t pd[56] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 1, 1};

	expect_threshold(pd, sizeof(pd), 2048);
}
END_TEST

START_TEST(the_smaller_of_both_ends_is_the_threshold)
{
	static const uint8_t pd[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 255, 255};

	expect_threshold(pd, sizeof(pd), 4096);
	ck_assert_uint_eq(raw->private_data_bytes, 8);
	ck_assert_uint_eq(raw->private_data[6], 3);
	ck_assert_uint_eq(raw->private_data[7], 3);
}
END_TEST

/* D2.4-2, X-3: no field of it is used, and nothing is said. */
START_TEST(sends_too_short_for_their_kind_are_discarded)
{
	uint8_t bytes[80];

	for (size_t n = 0; n < 28 + 40; n++) {
		begin(90, RPCRDMA_MSG);
		ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 28);
		rig_fill_call(bytes + 28, 44, 90, 100);
		raw_send(raw, bytes, n);
		expect_silence();
	}
	ck_assert_uint_eq(rig->server.counters.short_discarded, 68);
	for (size_t n = 16; n < 28; n++) {
		be32_put(bytes + 12, n % 2 ? 5 : UINT32_MAX); /* types that are unknown */
		raw_send(raw, bytes, n);
		expect_silence();
	}
	ck_assert_uint_eq(rig->server.counters.short_discarded, 68 + 12);
	ck_assert_uint_le(rig->server.notes, 16);
	expect_alive();
}
END_TEST

/* A4.2-1 */
START_TEST(another_version_gets_err_vers_with_the_range)
{
	uint8_t bytes[128];

	begin(91, RPCRDMA_MSG);
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 28);
	rig_fill_call(bytes + 28, 44, 91, 100);
	be32_put(bytes + 4, 2);
	raw_send(raw, bytes, 72);
	raw_expect_error(raw, 91, RPCRDMA_ERR_VERS);
	raw->nread--;
	next();
	ck_assert_uint_eq(hdr.vers, 2);
	ck_assert_uint_eq(hdr.vers_low, 1);
	ck_assert_uint_eq(hdr.vers_high, 1);
	/* A Reply or an error of another version is nothing to answer. */
	be32_put(bytes + 32, 1);
	raw_send(raw, bytes, 72);
	be32_put(bytes + 12, RPCRDMA_ERROR);
	raw_send(raw, bytes, 72);
	expect_silence();
	expect_alive();
}
END_TEST

/* A4.1-4, A-Δ1 */
START_TEST(unknown_and_reserved_types_get_err_chunk)
{
	uint8_t bytes[128];

	begin(92, RPCRDMA_MSGP);
	hdr.align = hdr.thresh = 4;
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 36);
	rig_fill_call(bytes + 36, 44, 92, 100);
	raw_send(raw, bytes, 80);
	raw_expect_error(raw, 92, RPCRDMA_ERR_CHUNK);
	be32_put(bytes + 12, 5);
	raw_send(raw, bytes, 80);
	raw_expect_error(raw, 92, RPCRDMA_ERR_CHUNK);
	be32_put(bytes + 12, 0xffffffff);
	raw_send(raw, bytes, 80);
	raw_expect_error(raw, 92, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

/* A3.8-2, A-Δ2, A4.2-3: no loops. */
START_TEST(dones_and_errors_are_never_answered)
{
	begin(93, RPCRDMA_DONE);
	raw_send_header(raw, &hdr, NULL, 0);
	begin(94, RPCRDMA_ERROR);
	for (uint32_t err = 0; err < 4; err++) {
		hdr.error = err;
		raw_send_header(raw, &hdr, NULL, 0);
	}
	expect_silence();
	ck_assert_uint_eq(rig->server.counters.dones_ignored, 1);
	expect_alive();
}
END_TEST

/* A4.3-1, A4.3-2 */
START_TEST(lists_that_do_not_decode_get_err_chunk)
{
	uint8_t bytes[256];

	for (unsigned word = 0; word < 3; word++) {
		begin(95, RPCRDMA_MSG);
		ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 28);
		rig_fill_call(bytes + 28, 44, 95, 100);
		be32_put(bytes + 16 + 4 * word, 2); /* neither 0 nor 1 */
		raw_send(raw, bytes, 72);
		raw_expect_error(raw, 95, RPCRDMA_ERR_CHUNK);
		be32_put(bytes + 16 + 4 * word, 1); /* and nothing there */
		raw_send(raw, bytes, 72);
		raw_expect_error(raw, 95, RPCRDMA_ERR_CHUNK);
	}
	/* A count whose product with 16 wraps. */
	begin(96, RPCRDMA_MSG);
	add_write(raw_lend(raw, NULL, 16, FABRIC_REMOTE_WRITE));
	ck_assert_uint_eq(rpcrdma_header_encode(&hdr, bytes, sizeof(bytes)), 52);
	be32_put(bytes + 24, 0x10000001);
	raw_send(raw, bytes, 100);
	raw_expect_error(raw, 96, RPCRDMA_ERR_CHUNK);
	/* A segment that wraps. */
	be32_put(bytes + 24, 1);
	be64_put(bytes + 36, UINT64_MAX - 3);
	raw_send(raw, bytes, 100);
	raw_expect_error(raw, 96, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

/* */
START_TEST(an_xid_that_differs_from_the_calls_gets_err_chunk)
{
	uint8_t call[1024];

	rig_fill_call(call, RIG_CALL_MIN, 98, 100);
	begin(97, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, RIG_CALL_MIN);
	raw_expect_error(raw, 97, RPCRDMA_ERR_CHUNK);
	begin(99, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, RIG_CALL_MIN, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 99, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.xid_mismatches, 2);
	ck_assert_uint_eq(rig->server.calls, 0);
	expect_alive();
}
END_TEST

START_TEST(non_rpc_messages_get_err_chunk)
{
	uint8_t call[1024];

	rig_fill_call(call, 100, 100, 100);
	be32_put(call + 4, 2); /* neither CALL nor REPLY */
	begin(100, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, 100);
	raw_expect_error(raw, 100, RPCRDMA_ERR_CHUNK);
	be32_put(call + 4, 1); /* a Reply in a read chunk */
	begin(101, RPCRDMA_NOMSG);
	be32_put(call, 101);
	add_read(0, raw_lend(raw, call, 100, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 101, RPCRDMA_ERR_CHUNK);
	/* Too short to be a Call. */
	begin(102, RPCRDMA_NOMSG);
	rig_fill_call(call, 44, 102, 100);
	add_read(0, raw_lend(raw, call, 12, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	raw_expect_error(raw, 102, RPCRDMA_ERR_CHUNK);
	expect_alive();
}
END_TEST

static void expect_denied(uint32_t xid, uint32_t reject_stat, uint32_t detail)
{
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(be32_get(body), xid);
	ck_assert_uint_eq(be32_get(body + 8), RPC_MSG_DENIED);
	ck_assert_uint_eq(be32_get(body + 12), reject_stat);
	ck_assert_uint_eq(be32_get(body + 16), detail);
}

START_TEST(rpc_errors_are_answered_by_rpc)
{
	uint8_t call[1024];

	rig_fill_call(call, 100, 103, 100);
	be32_put(call + 8, 3);
	begin(103, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, 100);
	expect_denied(103, 0, 2); /* RPC_MISMATCH, low 2 */
	rig_fill_call(call, 100, 104, 100);
	be32_put(call + 28, 401); /* an auth body over 400 bytes */
	begin(104, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, 100);
	expect_denied(104, 1, 1); /* AUTH_ERROR, AUTH_BADCRED */
	ck_assert_uint_eq(rig->server.calls, 0);
	expect_alive();
}
END_TEST

START_TEST(auth_tls_is_denied_and_never_passed_on)
{
	uint8_t call[1024];

	rig_fill_call(call, 44, 105, 100);
	be32_put(call + 24, RPC_AUTH_TLS);
	begin(105, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, 44);
	next();
	ck_assert_uint_eq(be32_get(body + 8), RPC_MSG_DENIED);
	ck_assert_uint_eq(be32_get(body + 12), 1);
	ck_assert_uint_eq(rig->server.counters.auth_tls_refused, 1);
	ck_assert_uint_eq(rig->server.calls, 0);
	expect_alive();
}
END_TEST

/* A3.6-3: an answer that could be given at once would take memory away that is being read. */
START_TEST(no_answer_leaves_before_the_reads_are_done)
{
	struct fabric_key *key;
	uint8_t call[144];

	rig_fill_call(call, sizeof(call), 108, 100);
	be32_put(call + 24, RPC_AUTH_TLS);
	if (_i) {
		begin(108, RPCRDMA_NOMSG);
		key = raw_lend_slowly(raw, call, sizeof(call));
		add_read(0, key);
		raw_send_header(raw, &hdr, NULL, 0);
	} else {
		begin(108, RPCRDMA_MSG);
		key = raw_lend_slowly(raw, call + 44, 100);
		add_read(44, key);
		raw_send_header(raw, &hdr, call, 44);
	}
	expect_silence();
	fabric_key_ready(key, key->len_bytes);
	rig_run(rig);
	expect_denied(108, 1, 2); /* AUTH_ERROR, AUTH_REJECTEDCRED */
	expect_alive();
}
END_TEST

START_TEST(an_xid_in_flight_used_again_closes)
{
	rig->server.hold = true;
	raw_post_call(raw, 106, 60, 100);
	raw_post_call(raw, 106, 60, 100);
	expect_closed(LEG_CLOSE_XID_REUSED);
}
END_TEST

START_TEST(an_xid_answered_may_be_used_again)
{
	for (int i = 0; i < 3; i++) {
		begin(107, RPCRDMA_MSG);
		send_call(RIG_CALL_MIN, 100);
		expect_inline_reply(107, 100);
	}
}
END_TEST

START_TEST(short_gather_lists_are_enough)
{
	raw_free(raw);
	rig_end(rig);
	rig = rig_new(&(struct sim_faults){.max_sge = 1});
	rig->server.config.inline_threshold_bytes = 65536;
	raw = raw_new(rig, (const uint8_t[]){0xf6, 0xab, 0x0e, 0x18, 1, 1, 63, 63}, 8);
	raw->params.recv_size_bytes = 70000;
	raw_connect(raw);
	begin(133, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 50000);
	expect_inline_reply(133, 50000);
}
END_TEST

/* A4.1-5 */
/* An endpoint with a limit for one operation: longer ones are split, both ways. */
START_TEST(reads_and_writes_are_no_longer_than_the_endpoint_takes)
{
	const struct sim_faults faults = {
		.max_transfer_bytes = 1000, .seed = 3, .max_delay_us = 50};
	uint8_t call[9500];
	struct fabric_key *key;

	raw_free(raw);
	rig_end(rig);
	rig = rig_new(&faults);
	raw = raw_open_client(rig, pd_4096_inv, sizeof(pd_4096_inv));
	rig_fill_call(call, sizeof(call), 90, 6789);
	begin(90, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, 3000, FABRIC_REMOTE_READ));
	add_read(0, raw_lend(raw, call + 3000, sizeof(call) - 3000, FABRIC_REMOTE_READ));
	key = raw_lend(raw, NULL, 8000, FABRIC_REMOTE_WRITE);
	set_reply_chunk(key);
	raw_send_header(raw, &hdr, NULL, 0);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, sizeof(call)));
	next();
	ck_assert_uint_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.reply_chunk.len_bytes, 6789);
	expect_reply_bytes(key->mem, 6789, 0, 6789, 90);
	/* Three and seven Reads, seven Writes, a Send each way. */
	ck_assert_uint_eq(sim_net_stats(rig->net)->wrs, 3 + 7 + 7 + 2);
}
END_TEST

START_TEST(bytes_after_a_nomsg_header_are_ignored)
{
	uint8_t call[500];

	rig_fill_call(call, 500, 34, 100);
	begin(34, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, 500, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, "trailing", 8);
	expect_inline_reply(34, 100);
	ck_assert_uint_eq(rig->server.last_call_sum, rig_sum(call, 500));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder");
	TCase *tc = tcase_create("open");
	TCase *closed = tcase_create("set-up");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_checked_fixture(closed, setup_closed, teardown);
	tcase_add_test(tc, an_inline_call_is_answered_inline);
	tcase_add_test(tc, a_read_chunk_lands_at_its_position);
	tcase_add_test(tc, read_chunks_come_in_any_order);
	tcase_add_test(tc, a_position_zero_chunk_is_the_whole_call);
	tcase_add_test(tc, a_position_zero_chunk_and_others_are_merged);
	tcase_add_test(tc, reads_stay_within_the_negotiated_depth);
	tcase_add_test(closed, a_client_that_cannot_be_read_from_gets_err_chunk_for_read_chunks);
	tcase_add_test(tc, read_chunks_that_make_no_message_get_err_chunk);
	tcase_add_test(tc, a_message_in_a_chunk_of_an_rdma_msg_gets_err_chunk);
	tcase_add_test(tc, a_call_over_the_limit_gets_err_chunk_and_no_memory);
	tcase_add_test(tc, a_read_chunk_that_cannot_be_read_closes);
	tcase_add_test(closed, a_client_without_private_data_gets_the_defaults);
	tcase_add_test(closed, private_data_of_others_is_ignored);
	tcase_add_test(closed, private_data_behind_those_of_a_library_are_taken);
	tcase_add_test(closed, private_data_of_another_version_is_ignored);
	tcase_add_test(closed, padded_private_data_conforms);
	tcase_add_test(closed, the_smaller_of_both_ends_is_the_threshold);
	tcase_add_test(tc, sends_too_short_for_their_kind_are_discarded);
	tcase_add_test(tc, another_version_gets_err_vers_with_the_range);
	tcase_add_test(tc, unknown_and_reserved_types_get_err_chunk);
	tcase_add_test(tc, dones_and_errors_are_never_answered);
	tcase_add_test(tc, lists_that_do_not_decode_get_err_chunk);
	tcase_add_test(tc, an_xid_that_differs_from_the_calls_gets_err_chunk);
	tcase_add_test(tc, non_rpc_messages_get_err_chunk);
	tcase_add_test(tc, rpc_errors_are_answered_by_rpc);
	tcase_add_test(tc, auth_tls_is_denied_and_never_passed_on);
	tcase_add_loop_test(tc, no_answer_leaves_before_the_reads_are_done, 0, 2);
	tcase_add_test(tc, an_xid_in_flight_used_again_closes);
	tcase_add_test(tc, an_xid_answered_may_be_used_again);
	tcase_add_test(tc, short_gather_lists_are_enough);
	tcase_add_test(tc, reads_and_writes_are_no_longer_than_the_endpoint_takes);
	tcase_add_test(tc, bytes_after_a_nomsg_header_are_ignored);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, closed);
	return test_main(suite);
}
