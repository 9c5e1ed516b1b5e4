// SPDX-License-Identifier: BSD-3-Clause
/* The client leg before hand-made servers, good ones and broken ones (peers.md section 6, item 10). */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "tests/lib/test.h"
#include "tests/sim/raw.h"

static struct rig *rig;
static struct raw *raw;

/* The last Call that came to the raw server. */
static struct rpcrdma_header call;
static const uint8_t *call_body;
static uint32_t call_len;

static const uint8_t pd_4096[] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3};

static void open_with(const struct sim_faults *faults, const uint8_t *pd, size_t n)
{
	rig = rig_new(faults);
	raw = raw_open_server(rig, pd, n);
}

static void setup(void)
{
	open_with(NULL, pd_4096, sizeof(pd_4096));
}

static void reopen(const struct sim_faults *faults, const uint8_t *pd, size_t n)
{
	raw_free(raw);
	rig_end(rig);
	open_with(faults, pd, n);
}

static void teardown(void)
{
	raw_free(raw);
	rig_end(rig);
}

static uint32_t make_call(uint32_t call_bytes, uint32_t reply_bytes, uint32_t reply_max)
{
	uint32_t xid = rig_call(&rig->client, call_bytes, reply_bytes, reply_max);

	rig_run_for(rig, 1000);
	return xid;
}

static void next_call(void)
{
	raw_next_header(raw, &call, &call_body, &call_len);
}

static unsigned sends_waiting(void)
{
	return raw->nrecvs - raw->nread;
}

/* A Reply inline to @xid. */
static void reply_inline(uint32_t xid, uint32_t reply_bytes, uint32_t credit)
{
	struct rpcrdma_header hdr;
	uint8_t reply[8192];

	rpcrdma_header_init(&hdr, xid, credit, RPCRDMA_MSG);
	rig_fill_reply(reply, reply_bytes, xid);
	raw_send_header(raw, &hdr, reply, reply_bytes);
}

/* Writes the Reply into the reply chunk of `call`, all its segments. */
static void write_reply(uint32_t reply_bytes)
{
	uint8_t *reply = malloc(reply_bytes);
	uint32_t at = 0;

	rig_fill_reply(reply, reply_bytes, call.xid);
	for (unsigned i = 0; i < call.reply_chunk.count && at < reply_bytes; i++) {
		struct rpcrdma_segment *seg = &call.segments[call.reply_chunk.first + i];
		uint32_t n = seg->len_bytes < reply_bytes - at ? seg->len_bytes : reply_bytes - at;

		ck_assert_int_eq(raw_write(raw, reply + at, n, seg->handle, seg->offset),
				 FABRIC_OK);
		seg->len_bytes = n;
		at += n;
	}
	free(reply);
}

/* Sends the header of `call` back as an RDMA_NOMSG Reply. */
static void send_nomsg(void)
{
	call.proc = RPCRDMA_NOMSG;
	call.nreads = 0;
	call.credit = 32;
	raw_send_header(raw, &call, NULL, 0);
}

static void expect_answered(unsigned n)
{
	ck_assert_uint_eq(rig->client.answered, n);
	ck_assert_uint_eq(rig->client.wrong, 0);
}

static void expect_fault(enum exchange_fault fault)
{
	ck_assert_uint_eq(rig->client.faults, 1);
	ck_assert_int_eq(rig->client.last_fault, fault);
	ck_assert_uint_eq(rig->client.closed, 0);
}

static void expect_closed(enum leg_close why)
{
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, why);
}

/* A4.1-2, A4.1-3, A4.1-5 */
START_TEST(an_inline_call_has_the_bytes_of_the_document)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);
	const struct raw_recv *recv = raw_next(raw);
	const uint32_t words[] = {xid, 1, 32, RPCRDMA_MSG, 0, 0, 0, xid, RPC_CALL};

	ck_assert_uint_eq(recv->len_bytes, 28 + RIG_CALL_MIN);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		ck_assert_uint_eq(xdr_load_u32(recv->data + 4 * i), words[i]);
	reply_inline(xid, 100, 32);
	expect_answered(1);
}
END_TEST

START_TEST(private_data_has_the_bytes_of_the_document)
{
	static const uint8_t want[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

	ck_assert_uint_eq(raw->private_data_bytes, 8);
	ck_assert_mem_eq(raw->private_data, want, 8);
}
END_TEST

/* A3.3-4, A3.3-5 */
START_TEST(the_first_call_goes_alone)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	for (int i = 0; i < 10; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 1);
	ck_assert_uint_eq(rig->client.counters.credit_waits, 10);
	reply_inline(xid, 100, 4);
	ck_assert_uint_eq(sends_waiting(), 1 + 4);
}
END_TEST

START_TEST(a_reduced_grant_is_obeyed)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	reply_inline(xid, 100, 8);
	for (int i = 0; i < 20; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(raw->nrecvs, 1 + 8);
	/* Six more must come back before the next may go. */
	for (uint32_t i = 1; i <= 6; i++) {
		reply_inline(xid + i, 100, 2);
		ck_assert_uint_eq(raw->nrecvs, 9);
	}
	reply_inline(xid + 7, 100, 2);
	ck_assert_uint_eq(raw->nrecvs, 10);
	expect_answered(8);
}
END_TEST

START_TEST(a_grant_of_zero_is_taken_as_one)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	make_call(RIG_CALL_MIN, 100, 100);
	make_call(RIG_CALL_MIN, 100, 100);
	reply_inline(xid, 100, 0);
	ck_assert_uint_eq(raw->nrecvs, 2);
	ck_assert_uint_eq(rig->client.counters.credit_zero_received, 1);
}
END_TEST

START_TEST(a_grant_beyond_what_was_asked_is_clamped)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	reply_inline(xid, 100, 0xffffffff);
	for (int i = 0; i < 100; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	ck_assert_uint_eq(raw->nrecvs, 1 + 32);
}
END_TEST

/* D2.2.1-1 */
START_TEST(each_call_in_flight_has_a_receive_for_its_reply)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	reply_inline(xid, 100, 32);
	for (uint32_t i = 0; i < 32; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	/* Sixteen reverse Calls besides. */
	rig->client.hold = true;
	for (uint32_t i = 0; i < 16; i++)
		raw_post_call(raw, i, RIG_CALL_MIN, 100);
	for (uint32_t i = 1; i <= 32; i++)
		reply_inline(xid + i, 100, 32);
	rig_run(rig);
	expect_answered(33);
	ck_assert_uint_eq(rig->client.calls, 16);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	rig_answer_held(&rig->client);
}
END_TEST

START_TEST(past_256_held_calls_no_more_are_wanted)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	for (int i = 0; i < 255; i++)
		rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	ck_assert(leg_can_call(rig->client.leg));
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	ck_assert(!leg_can_call(rig->client.leg));
	reply_inline(xid, 100, 1);
	ck_assert(leg_can_call(rig->client.leg));
	ck_assert_uint_eq(rig->client.call_ready, 1);
}
END_TEST

/* A5.1-1 */
START_TEST(a_long_call_is_a_position_zero_chunk)
{
	uint32_t xid = make_call(10000, 100, 100);
	uint8_t got[10000], want[10000];

	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(call.nreads, 1);
	ck_assert_uint_eq(call.reads[0].position, 0);
	ck_assert_uint_eq(call.reads[0].seg.len_bytes, 10000);
	ck_assert_uint_eq(call_len, 0);
	ck_assert_int_eq(
		raw_read(raw, got, 10000, call.reads[0].seg.handle, call.reads[0].seg.offset),
		FABRIC_OK);
	rig_fill_call(want, 10000, xid, 100);
	ck_assert_mem_eq(got, want, 10000);
	reply_inline(xid, 100, 32);
	expect_answered(1);
}
END_TEST

START_TEST(chunks_are_split_at_the_longest_segment)
{
	uint8_t got[10000], want[10000];
	uint32_t xid;

	reopen(&(struct sim_faults){.max_key_bytes = 3000}, pd_4096, sizeof(pd_4096));
	xid = make_call(10000, 7000, 7000);
	next_call();
	ck_assert_uint_eq(call.nreads, 4);
	ck_assert_uint_eq(call.reads[3].seg.len_bytes, 1000);
	for (unsigned i = 0; i < 4; i++)
		raw_read(raw, got + i * 3000, call.reads[i].seg.len_bytes, call.reads[i].seg.handle,
			 call.reads[i].seg.offset);
	rig_fill_call(want, 10000, xid, 7000);
	ck_assert_mem_eq(got, want, 10000);
	ck_assert_uint_eq(call.reply_chunk.count, 3);
	ck_assert_uint_eq(call.reply_chunk.len_bytes, 7000);
	write_reply(7000);
	send_nomsg();
	expect_answered(1);
}
END_TEST

START_TEST(a_call_in_more_segments_than_a_header_holds_cannot_be_sent)
{
	reopen(&(struct sim_faults){.max_key_bytes = 100}, pd_4096, sizeof(pd_4096));
	make_call(100000, 100, 100);
	expect_fault(EXCHANGE_FAULT_CANT_SEND);
	ck_assert_uint_eq(sends_waiting(), 0);
}
END_TEST

START_TEST(a_reply_chunk_is_offered_when_the_reply_may_not_fit)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 4096 - 28);

	next_call();
	ck_assert(!call.has_reply_chunk);
	reply_inline(xid, 100, 32);
	xid = make_call(RIG_CALL_MIN, 100, 4096 - 27);
	next_call();
	ck_assert(call.has_reply_chunk);
	ck_assert_uint_eq(call.reply_chunk.len_bytes, 4072);
	reply_inline(xid, 100, 32);
	expect_answered(2);
}
END_TEST

START_TEST(a_reply_comes_in_the_reply_chunk)
{
	make_call(RIG_CALL_MIN, 50001, 60000);
	next_call();
	write_reply(50001);
	send_nomsg();
	expect_answered(1);
	ck_assert_uint_eq(rig->client.counters.reply_chunk_bytes_taken, 50001);
}
END_TEST

/* libevpl returns an unused reply chunk with zero lengths (A5.2-4). */
START_TEST(an_unused_reply_chunk_may_come_back_empty)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 60000);
	uint8_t reply[100];

	next_call();
	call.proc = RPCRDMA_MSG;
	call.segments[0].len_bytes = 0;
	rig_fill_reply(reply, 100, xid);
	raw_send_header(raw, &call, reply, 100);
	expect_answered(1);
}
END_TEST

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

/* With asynchronous unbinding the Reply is not given up before the key is dead. */
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

	rpcrdma_header_init(&hdr, xid, 32, RPCRDMA_MSG);
	n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
	rig_fill_reply(bytes + n, 100, xid);
	raw_send_inv(raw, bytes, n + 100, rkey);
}

/* Linux servers invalidate though their own flag is clear (peers.md 2.2). */
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
	rpcrdma_header_init(&hdr, call.xid, 32, RPCRDMA_MSG);
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
	rpcrdma_header_init(&hdr, call.xid, 32, RPCRDMA_MSG);
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
	xdr_store_u32(bytes, call.xid);
	xdr_store_u32(bytes + 4, 1);
	xdr_store_u32(bytes + 16, 2);
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
	xdr_store_u32(bytes, call.xid);
	xdr_store_u32(bytes + 4, 2);
	xdr_store_u32(bytes + 32, RPC_REPLY);
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
	rpcrdma_header_init(&hdr, call.xid, 32, RPCRDMA_MSG);
	rig_fill_reply(reply, 100, call.xid + 1);
	raw_send_header(raw, &hdr, reply, 100);
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->client.counters.xid_mismatches, 1);
}
END_TEST

START_TEST(a_reply_chunk_that_holds_no_reply_is_a_bad_reply)
{
	make_call(RIG_CALL_MIN, 5000, 60000);
	next_call();
	call.segments[0].len_bytes = 5000;
	send_nomsg();
	expect_fault(EXCHANGE_FAULT_BAD_REPLY);
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

/* One of the Calls in flight would wait for it for ever (design.md, errors). */
START_TEST(a_bad_reply_that_matches_nothing_closes)
{
	uint8_t bytes[64] = {0};

	make_call(RIG_CALL_MIN, 100, 100);
	xdr_store_u32(bytes + 4, 1);
	xdr_store_u32(bytes + 16, 2);
	raw_send(raw, bytes, sizeof(bytes));
	expect_closed(LEG_CLOSE_BAD_REPLY);
}
END_TEST

static void send_error(uint32_t xid, uint32_t err, uint32_t low, uint32_t high)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, 32, RPCRDMA_ERROR);
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

/* A4.2-3 */
START_TEST(what_a_server_sends_wrong_is_never_answered)
{
	uint8_t bytes[128] = {0};

	for (uint32_t proc = 0; proc < 8; proc++) {
		xdr_store_u32(bytes, 5);
		xdr_store_u32(bytes + 4, 1);
		xdr_store_u32(bytes + 12, proc);
		memset(bytes + 16, 0xff, 40);
		raw_send(raw, bytes, sizeof(bytes));
	}
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(rig->client.closed, 0);
}
END_TEST

/* D2.5-1, D2.6-1 */
START_TEST(a_reverse_call_is_answered)
{
	raw_post_call(raw, 0x55, RIG_CALL_MIN, 3000);
	rig_run(rig);
	next_call();
	ck_assert_uint_eq(call.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(call.xid, 0x55);
	ck_assert_uint_eq(call.credit, 16);
	ck_assert_uint_eq(call.nreads + call.nwrites + call.has_reply_chunk, 0);
	ck_assert_uint_eq(call_len, 3000);
}
END_TEST

/* a TCP client's callback size, more than was advertised. */
START_TEST(a_reverse_call_above_the_threshold_is_taken)
{
	raw_post_call(raw, 0x56, 4096 + 400, 100);
	rig_run(rig);
	next_call();
	ck_assert_uint_eq(call_len, 100);
	ck_assert_uint_eq(rig->client.last_call_bytes, 4496);
}
END_TEST

/* D1.1.4.1-1 */
START_TEST(the_same_xid_lives_in_both_directions)
{
	uint32_t xid = make_call(RIG_CALL_MIN, 100, 100);

	next_call();
	rig->client.hold = true;
	raw_post_call(raw, xid, RIG_CALL_MIN, 200);
	rig_run(rig);
	reply_inline(xid, 100, 32);
	expect_answered(1);
	rig_answer_held(&rig->client);
	rig_run(rig);
	next_call();
	ck_assert_uint_eq(call_len, 200);
}
END_TEST

START_TEST(a_reverse_reply_that_does_not_fit_gets_err_chunk)
{
	raw_post_call(raw, 0x57, RIG_CALL_MIN, 4096);
	rig_run(rig);
	raw_expect_error(raw, 0x57, RPCRDMA_ERR_CHUNK);
}
END_TEST

START_TEST(a_reverse_call_with_chunks_gets_err_chunk)
{
	struct rpcrdma_header hdr;
	uint8_t bytes[RIG_CALL_MIN];

	rpcrdma_header_init(&hdr, 0x58, 16, RPCRDMA_MSG);
	hdr.has_reply_chunk = true;
	hdr.reply_chunk = (struct rpcrdma_chunk){0, 1, 100};
	hdr.segments[hdr.nsegments++] = (struct rpcrdma_segment){1, 100, 0};
	rig_fill_call(bytes, RIG_CALL_MIN, 0x58, 100);
	raw_send_header(raw, &hdr, bytes, RIG_CALL_MIN);
	raw_expect_error(raw, 0x58, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->client.calls, 0);
}
END_TEST

/* A delegation recall would stall until it times out. */
START_TEST(a_reverse_reply_does_not_wait_behind_held_calls)
{
	for (int i = 0; i < 50; i++)
		make_call(RIG_CALL_MIN, 100, 100);
	next_call();
	raw_post_call(raw, 0x59, RIG_CALL_MIN, 100);
	rig_run(rig);
	next_call();
	ck_assert_uint_eq(call.xid, 0x59);
	ck_assert_uint_eq(xdr_load_u32(call_body + 4), RPC_REPLY);
}
END_TEST

START_TEST(no_key_left_ends_the_rpc)
{
	reopen(&(struct sim_faults){.fail_bind = 2}, pd_4096, sizeof(pd_4096));
	make_call(9000, 5000, 60000);
	expect_fault(EXCHANGE_FAULT_CANT_SEND);
	ck_assert_uint_eq(sends_waiting(), 0);
	make_call(9000, 100, 100);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}
END_TEST

START_TEST(no_key_left_with_asynchronous_keys_ends_the_rpc)
{
	reopen(&(struct sim_faults){.fail_bind = 2, .async_unbind = true}, pd_4096,
	       sizeof(pd_4096));
	make_call(9000, 5000, 60000);
	rig_run(rig);
	expect_fault(EXCHANGE_FAULT_CANT_SEND);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requester");
	TCase *tc = tcase_create("requester");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_inline_call_has_the_bytes_of_the_document);
	tcase_add_test(tc, private_data_has_the_bytes_of_the_document);
	tcase_add_test(tc, the_first_call_goes_alone);
	tcase_add_test(tc, a_reduced_grant_is_obeyed);
	tcase_add_test(tc, a_grant_of_zero_is_taken_as_one);
	tcase_add_test(tc, a_grant_beyond_what_was_asked_is_clamped);
	tcase_add_test(tc, each_call_in_flight_has_a_receive_for_its_reply);
	tcase_add_test(tc, past_256_held_calls_no_more_are_wanted);
	tcase_add_test(tc, a_long_call_is_a_position_zero_chunk);
	tcase_add_test(tc, chunks_are_split_at_the_longest_segment);
	tcase_add_test(tc, a_call_in_more_segments_than_a_header_holds_cannot_be_sent);
	tcase_add_test(tc, a_reply_chunk_is_offered_when_the_reply_may_not_fit);
	tcase_add_test(tc, a_reply_comes_in_the_reply_chunk);
	tcase_add_test(tc, an_unused_reply_chunk_may_come_back_empty);
	tcase_add_test(tc, the_peer_reaches_nothing_after_its_reply);
	tcase_add_test(tc, a_call_cannot_be_written_nor_a_reply_read);
	tcase_add_test(tc, a_reply_waits_for_its_keys_to_die);
	tcase_add_test(tc, a_key_of_the_rpc_may_be_invalidated);
	tcase_add_test(tc, a_key_of_another_rpc_may_not_be_invalidated);
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
	tcase_add_test(tc, what_a_server_sends_wrong_is_never_answered);
	tcase_add_test(tc, a_reverse_call_is_answered);
	tcase_add_test(tc, a_reverse_call_above_the_threshold_is_taken);
	tcase_add_test(tc, the_same_xid_lives_in_both_directions);
	tcase_add_test(tc, a_reverse_reply_that_does_not_fit_gets_err_chunk);
	tcase_add_test(tc, a_reverse_call_with_chunks_gets_err_chunk);
	tcase_add_test(tc, a_reverse_reply_does_not_wait_behind_held_calls);
	tcase_add_test(tc, no_key_left_ends_the_rpc);
	tcase_add_test(tc, no_key_left_with_asynchronous_keys_ends_the_rpc);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
