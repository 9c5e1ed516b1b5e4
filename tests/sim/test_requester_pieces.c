// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Calls that the leg gets before they are complete: it sends them in order when they are
 * complete, and never if the rest does not arrive.
 */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lib/test.h"
#include "tests/sim/pieces.h"

/* The endpoint's assumed ability: whether exposed memory can still be filled. */
static void set_late_reads(bool late)
{
	rdma_leg_of(rig->client.leg)->conn.deferred_reads = late;
}

/* The client leg before a hand-made server, with an endpoint that must have it all. */
static void open_requester(bool ddp)
{
	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.ddp = ddp;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
	set_late_reads(false);
}

static void next(struct rpcrdma_header *hdr, const uint8_t **body, uint32_t *len)
{
	raw_next_header(raw, hdr, body, len);
}

static void reply_to(uint32_t xid)
{
	struct rpcrdma_header hdr;
	uint8_t reply[100];

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	rig_fill_reply(reply, sizeof(reply), xid);
	raw_send_header(raw, &hdr, reply, sizeof(reply));
}

static void grow_call_to_the_last_byte(struct exchange *x)
{
	while (x->call.have_bytes < x->call.len_bytes - 1) {
		rig_call_grow(&rig->client, x, next_piece(x->call.have_bytes, x->call.len_bytes));
		rig_run_for(rig, 100);
		ck_assert_uint_eq(sends_waiting(), 0);
	}
}

/* What a Call becomes: its length, and whether its payload leaves it. */
static const struct {
	enum message_form form;
	uint32_t call_bytes;
	bool ddp;
} forms[] = {
	{MESSAGE_FORM_SHORT, 1000, false},
	{MESSAGE_FORM_SHORT, INLINE_MAX, true},
	{MESSAGE_FORM_CHUNKED, 160 + 9000 + 40, true},
	{MESSAGE_FORM_LONG, INLINE_MAX + 1, false},
	{MESSAGE_FORM_LONG, 30000, true},
};

static struct exchange *begin_call(int i)
{
	open_requester(forms[i].ddp);
	if (forms[i].form == MESSAGE_FORM_CHUNKED) {
		fake_call_payloads[0] = (struct rpc_payload){160, 9000};
		fake_ncall_payloads = 1;
	}
	return rig_call_in_pieces(&rig->client, forms[i].call_bytes, 100, 100, RIG_CALL_MIN);
}

START_TEST(a_call_waits_until_it_is_whole)
{
	struct exchange *x = begin_call(_i);
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len, xid = x->call_info.hdr.xid;
	uint8_t *want = malloc(forms[_i].call_bytes), *got = calloc(1, forms[_i].call_bytes);

	grow_call_to_the_last_byte(x);
	rig_call_grow(&rig->client, x, x->call.len_bytes);
	rig_run(rig);
	next(&hdr, &body, &len);
	ck_assert_int_eq(hdr.proc,
			 forms[_i].form == MESSAGE_FORM_LONG ? RPCRDMA_NOMSG : RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.nreads, forms[_i].form != MESSAGE_FORM_SHORT);
	rig_fill_call(want, forms[_i].call_bytes, xid, 100);
	if (hdr.nreads) {
		ck_assert_int_eq(raw_read(raw, got, hdr.reads[0].seg.len_bytes,
					  hdr.reads[0].seg.handle, hdr.reads[0].seg.offset),
				 FABRIC_OK);
		ck_assert_mem_eq(got, want + hdr.reads[0].position, hdr.reads[0].seg.len_bytes);
	}
	if (forms[_i].form == MESSAGE_FORM_SHORT)
		ck_assert_mem_eq(body, want, forms[_i].call_bytes);
	if (forms[_i].form == MESSAGE_FORM_CHUNKED)
		ck_assert_mem_eq(body + 160, want + 9160, 40);
	reply_to(xid);
	ck_assert_uint_eq(rig->client.answered, 1);
	free(want);
	free(got);
	pieces_end();
}
END_TEST

START_TEST(a_call_broken_off_at_any_piece_is_not_sent)
{
	bool more = true;

	for (unsigned pieces = 0; more; pieces++) {
		struct exchange *x = begin_call(_i);

		for (unsigned i = 0; i < pieces && more; i++) {
			rig_call_grow(&rig->client, x,
				      next_piece(x->call.have_bytes, x->call.len_bytes));
			more = x->call.have_bytes < x->call.len_bytes - 1;
		}
		expect_broken_off(&rig->client);
		ck_assert_uint_eq(raw->nrecvs, 0);
		pieces_end();
		ck_assert_uint_lt(pieces, 100);
	}
}
END_TEST

START_TEST(a_call_keeps_its_place_in_the_order)
{
	uint32_t xids[3];
	struct exchange *x;
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len;

	open_requester(false);
	xids[0] = rig_call(&rig->client, 100, 100, 100);
	rig_run(rig);
	next(&hdr, &body, &len);
	reply_to(xids[0]); /* from now on there are credits */
	x = rig_call_in_pieces(&rig->client, 5000, 100, 100, 500);
	xids[1] = x->call_info.hdr.xid;
	xids[2] = rig_call(&rig->client, 100, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 0);
	rig_call_grow(&rig->client, x, 5000);
	rig_run(rig);
	for (int i = 1; i < 3; i++) {
		next(&hdr, &body, &len);
		ck_assert_uint_eq(hdr.xid, xids[i]);
	}
	ck_assert_uint_eq(rig->client.counters.credit_waits, 0);
	pieces_end();
}
END_TEST

START_TEST(a_call_that_is_whole_before_its_turn_waits_for_a_credit)
{
	struct rpcrdma_header hdr;
	const uint8_t *body;
	struct exchange *x;
	uint32_t len, first;

	open_requester(false);
	first = rig_call(&rig->client, 100, 100, 100);
	x = rig_call_in_pieces(&rig->client, 5000, 100, 100, 500);
	rig_call_grow(&rig->client, x, 5000);
	rig_run(rig);
	next(&hdr, &body, &len);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(rig->client.counters.credit_waits, 1);
	reply_to(first);
	ck_assert_uint_eq(sends_waiting(), 1);
	pieces_end();
}
END_TEST

START_TEST(a_call_that_cannot_be_sent_fails_when_it_is_whole)
{
	struct exchange *x;

	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.peer = PEER_CHIMERA;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
	x = rig_call_in_pieces(&rig->client, 5000, 100, 100, 500);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.faults, 0);
	rig_call_grow(&rig->client, x, 5000);
	ck_assert_uint_eq(rig->client.faults, 0); /* not from inside a call into the leg */
	rig_run(rig);
	ck_assert_uint_eq(rig->client.faults, 1);
	ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_CANT_SEND);
	pieces_end();
}
END_TEST

/* 256 of them are queued; a task reports the space that the first ones free. */
START_TEST(calls_that_wait_for_bytes_fill_the_queue_as_others_do)
{
	struct exchange *x;

	pieces_open_pair();
	rig_call(&rig->client, 100, 100, 100);
	rig_run(rig);
	x = rig_call_in_pieces(&rig->client, 1000, 100, 100, 100);
	for (unsigned i = 1; i < REQUESTER_QUEUE_MAX; i++) {
		ck_assert(leg_can_call(rig->client.leg));
		rig_call(&rig->client, 100, 100, 100);
	}
	ck_assert(!leg_can_call(rig->client.leg));
	rig_call_grow(&rig->client, x, 1000);
	ck_assert_uint_eq(rig->client.call_ready, 0);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.call_ready, 1);
	ck_assert_uint_eq(rig->client.answered, 1 + REQUESTER_QUEUE_MAX);
	ck_assert_uint_eq(rig->client.wrong, 0);
	pieces_end();
}
END_TEST

START_TEST(a_reverse_call_waits_until_it_is_whole)
{
	struct exchange *x;

	pieces_open_pair();
	x = rig_call_in_pieces(&rig->server, 2000, 100, 100, 100);
	rig_run(rig);
	rig_call_grow(&rig->server, x, 1999);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.calls, 0);
	rig_call_grow(&rig->server, x, 2000);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.answered, 1);
	ck_assert_uint_eq(rig->server.wrong, 0);
	pieces_end();
}
END_TEST

START_TEST(a_call_made_before_the_leg_is_open_may_come_in_pieces)
{
	struct exchange *x;

	fake_nfs_reset();
	rig = rig_new(NULL);
	rig_connect(rig);
	x = rig_call_in_pieces(&rig->client, 9000, 9000, 9000, 100);
	rig_call_grow(&rig->client, x, 4000);
	rig_run(rig);
	rig_call_grow(&rig->client, x, 9000);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert_uint_eq(rig->client.wrong, 0);
	pieces_end();
}
END_TEST

/* Where exposed memory can still be filled */

static struct exposed_mem *lend_of(struct exchange *x)
{
	return &((struct requester_rpc *)x->target_priv)->exposed_mem;
}

static void expect_ready(struct exchange *x, uint32_t segment_bytes)
{
	const struct exposed_mem *exposed_mem = lend_of(x);
	uint32_t left = x->call.have_bytes;

	for (unsigned i = 0; i < exposed_mem->nkeys; i++) {
		const struct fabric_key *key = &exposed_mem->keys[i].key;
		uint32_t want = left < key->len_bytes ? left : key->len_bytes;

		ck_assert_uint_le(key->len_bytes, segment_bytes);
		ck_assert_uint_eq(key->ready_bytes, want);
		left -= want;
	}
	ck_assert_uint_eq(left, 0);
}

static struct exchange *begin_late_call(bool ddp, uint32_t call_bytes)
{
	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.ddp = ddp;
	rig->client.config.max_segment_bytes = 4000;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
	set_late_reads(true);
	return rig_call_in_pieces(&rig->client, call_bytes, 100, 100, 100);
}

START_TEST(a_long_call_leaves_at_once_where_reads_can_wait)
{
	struct exchange *x = begin_late_call(false, 10000);
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len, xid = x->call_info.hdr.xid;
	uint8_t want[10000], got[10000];

	rig_run(rig);
	next(&hdr, &body, &len);
	ck_assert_int_eq(hdr.proc, RPCRDMA_NOMSG);
	ck_assert_uint_eq(hdr.nreads, 3);
	expect_ready(x, 4000);
	for (uint32_t have = 101; have <= 10000; have += 33) {
		rig_call_grow(&rig->client, x, have);
		expect_ready(x, 4000);
	}
	rig_call_grow(&rig->client, x, 10000);
	expect_ready(x, 4000);
	rig_fill_call(want, 10000, xid, 100);
	for (unsigned i = 0; i < 3; i++) {
		const struct rpcrdma_segment *seg = &hdr.reads[i].seg;

		ck_assert_int_eq(
			raw_read(raw, got + 4000 * i, seg->len_bytes, seg->handle, seg->offset),
			FABRIC_OK);
	}
	ck_assert_mem_eq(got, want, 10000);
	reply_to(xid);
	ck_assert_uint_eq(rig->client.answered, 1);
	pieces_end();
}
END_TEST

/* The last step is the endpoint's: it has answered no Read before all that is asked for is here. */
START_TEST(a_read_of_a_call_that_still_comes_is_answered_when_it_has_come)
{
	struct exchange *x = begin_late_call(false, 10000);
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len, xid = x->call_info.hdr.xid;
	uint8_t want[10000], got[4000] = {0};

	rig_run(rig);
	next(&hdr, &body, &len);
	rig_fill_call(want, 10000, xid, 100);
	for (unsigned i = 0; i < 3; i++) {
		const struct rpcrdma_segment *seg = &hdr.reads[i].seg;
		unsigned done = raw->done;

		(void)raw_read(raw, got, seg->len_bytes, seg->handle, seg->offset);
		while (x->call.have_bytes < 4000 * i + seg->len_bytes - 1) {
			ck_assert_uint_eq(raw->done, done);
			rig_call_grow(&rig->client, x,
				      next_piece(x->call.have_bytes, 4000 * i + seg->len_bytes));
			rig_run_for(rig, 1000);
		}
		ck_assert_uint_eq(raw->done, done);
		rig_call_grow(&rig->client, x, 4000 * i + seg->len_bytes);
		rig_run_for(rig, 1000);
		ck_assert_uint_eq(raw->done, done + 1);
		ck_assert_int_eq(raw->last_status, FABRIC_OK);
		ck_assert_mem_eq(got, want + 4000 * i, seg->len_bytes);
	}
	reply_to(xid);
	ck_assert_uint_eq(rig->client.answered, 1);
	pieces_end();
}
END_TEST

START_TEST(a_read_of_a_call_that_is_broken_off_is_not_answered)
{
	for (uint32_t have = 100; have < 4000; have += 433) {
		struct exchange *x = begin_late_call(false, 10000);
		struct rpcrdma_header hdr;
		const uint8_t *body;
		uint8_t got[4000];
		uint32_t len;

		rig_run(rig);
		next(&hdr, &body, &len);
		(void)raw_read(raw, got, 4000, hdr.reads[0].seg.handle, hdr.reads[0].seg.offset);
		rig_call_grow(&rig->client, x, have);
		rig_run(rig);
		ck_assert_uint_lt(raw->done, raw->posted);
		expect_broken_off(&rig->client);
		ck_assert_uint_eq(raw->done, raw->posted);
		ck_assert_int_eq(raw->last_status, FABRIC_FLUSHED);
		pieces_end();
	}
}
END_TEST

START_TEST(inline_calls_wait_until_complete_even_if_reads_can_wait)
{
	struct exchange *x = begin_late_call(false, 1000);

	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 0);
	rig_call_grow(&rig->client, x, 1000);
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 1);
	pieces_end();
}
END_TEST

/* Whether it has a payload shows only when it is here. */
START_TEST(reducible_calls_wait_until_complete_even_if_reads_can_wait)
{
	struct exchange *x = begin_late_call(true, 10000);

	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 0);
	rig_call_grow(&rig->client, x, 10000);
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 1);
	pieces_end();
}
END_TEST

/*
 * It teaches nothing of the server, which did not see it all, and what comes of it then is
 * nobody's.
 */
START_TEST(a_call_answered_before_it_is_whole_is_let_go)
{
	struct rpcrdma_header hdr;
	struct exchange *x;

	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.peer = PEER_LINUX; /* which takes long Calls whatever they hold */
	raw = raw_open_server(rig, NULL, 0);
	set_late_reads(true);
	x = exchange_ref(rig_call_in_pieces(&rig->client, 10000, 100, 100, 100));
	rig_run(rig);
	rpcrdma_header_init(&hdr, x->call_info.hdr.xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_ERROR);
	hdr.error = RPCRDMA_ERR_CHUNK;
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_eq(rig->client.faults, 1);
	ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_ERR_CHUNK);
	ck_assert_ptr_null(x->target);
	rig_call_grow(&rig->client, x, 10000);
	exchange_put(x);
	rig_call(&rig->client, 5000, 100, 100);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.faults, 1);
	ck_assert_uint_eq(sends_waiting(), 2);
	pieces_end();
}
END_TEST

/* A Call of which 5000 bytes are here, whose second segment the server reads. */
static struct exchange *begin_read_call(uint8_t got[4000])
{
	struct exchange *x = begin_late_call(false, 10000);
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len;

	rig_call_grow(&rig->client, x, 5000);
	rig_run(rig);
	next(&hdr, &body, &len);
	(void)raw_read(raw, got, 4000, hdr.reads[1].seg.handle, hdr.reads[1].seg.offset);
	ck_assert_uint_lt(raw->done, raw->posted);
	return x;
}

static void answer_early(uint32_t xid, bool by_error)
{
	struct rpcrdma_header hdr;

	if (!by_error) {
		reply_to(xid);
		return;
	}
	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_ERROR);
	hdr.error = RPCRDMA_ERR_CHUNK;
	raw_send_header(raw, &hdr, NULL, 0);
}

/*
 * To take the memory back would end the connection: the answer waits for the bytes that the server
 * asked for.
 */
START_TEST(an_answer_waits_while_the_server_reads_the_call)
{
	uint8_t want[10000], got[4000] = {0};
	struct exchange *x = begin_read_call(got);
	uint32_t xid = x->call_info.hdr.xid;
	struct leg_info info;

	answer_early(xid, _i);
	ck_assert_uint_eq(rig->client.closed, 0);
	ck_assert_uint_eq(rig->client.answered + rig->client.faults, 0);
	/* The server has said that it is done with it: others may be sent. */
	leg_info(rig->client.leg, &info);
	ck_assert_uint_eq(info.credits_used, 0);
	rig_call_grow(&rig->client, x, 7999);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered + rig->client.faults, 0);
	rig_call_grow(&rig->client, x, 8000);
	/* Not from inside a call into the leg. */
	ck_assert_uint_eq(rig->client.answered + rig->client.faults, 0);
	rig_run(rig);
	ck_assert_uint_eq(raw->done, raw->posted);
	ck_assert_int_eq(raw->last_status, FABRIC_OK);
	rig_fill_call(want, 10000, xid, 100);
	ck_assert_mem_eq(got, want + 4000, 4000);
	ck_assert_uint_eq(rig->client.answered, !_i);
	ck_assert_uint_eq(rig->client.faults, _i);
	ck_assert_uint_eq(rig->client.closed, 0);
	/* The connection is as good as before. */
	xid = rig_call(&rig->client, 100, 100, 100);
	rig_run(rig);
	reply_to(xid);
	ck_assert_uint_eq(rig->client.answered, 1 + !_i);
	pieces_end();
}
END_TEST

/* Nothing is left of it, whoever ends the connection. */
START_TEST(an_answer_that_waits_for_the_rest_ends_with_the_connection)
{
	uint8_t got[4000];
	struct exchange *x = begin_read_call(got);

	answer_early(x->call_info.hdr.xid, _i & 1);
	if (_i & 2)
		sim_net_cut(rig->net);
	else
		leg_close(rig->client.leg, LEG_CLOSE_PEER);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_uint_eq(rig->client.answered + rig->client.faults, 0);
	ck_assert_int_eq(raw->last_status, FABRIC_FLUSHED);
	pieces_end();
}
END_TEST

/* A Reply by read chunk is Read after that. */
START_TEST(a_reply_by_read_chunk_waits_while_the_server_reads_the_call)
{
	uint8_t got[4000], reply[100];
	struct rpcrdma_header hdr;
	const uint8_t *body;
	struct exchange *x;
	uint32_t len;

	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->client.config.version_one = DIALECT_DRAFT03;
	rig->client.config.max_segment_bytes = 4000;
	raw = raw_open_server(rig, pd_4096, sizeof(pd_4096));
	set_late_reads(true);
	x = rig_call_in_pieces(&rig->client, 10000, 100, 100, 5000);
	rig_run(rig);
	next(&hdr, &body, &len);
	(void)raw_read(raw, got, 4000, hdr.reads[1].seg.handle, hdr.reads[1].seg.offset);
	rig_fill_reply(reply, sizeof(reply), x->call_info.hdr.xid);
	rpcrdma_header_init(&hdr, x->call_info.hdr.xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_NOMSG);
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){
		0, raw_segment(raw_lend(raw, reply, sizeof(reply), FABRIC_REMOTE_READ))};
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_eq(rig->client.closed, 0);
	ck_assert_uint_eq(rig->client.answered, 0);
	ck_assert_uint_eq(sends_waiting(), 0);
	rig_call_grow(&rig->client, x, 10000);
	rig_run(rig);
	next(&hdr, &body, &len);
	ck_assert_int_eq(hdr.proc, RPCRDMA_DONE);
	ck_assert_uint_eq(rig->client.answered, 1);
	ck_assert_uint_eq(rig->client.wrong, 0);
	pieces_end();
}
END_TEST

START_TEST(a_long_call_broken_off_where_reads_can_wait_is_disconnected)
{
	for (uint32_t have = 100; have < 10000; have += 900) {
		struct exchange *x = begin_late_call(false, 10000);

		rig_run(rig);
		ck_assert_uint_eq(sends_waiting(), 1);
		rig_call_grow(&rig->client, x, have);
		expect_broken_off(&rig->client);
		pieces_end();
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requester_pieces");
	TCase *tc = tcase_create("pieces");
	const int nforms = ARRAY_SIZE(forms);

	tcase_add_loop_test(tc, a_call_waits_until_it_is_whole, 0, nforms);
	tcase_add_loop_test(tc, a_call_broken_off_at_any_piece_is_not_sent, 0, nforms);
	tcase_add_test(tc, a_call_keeps_its_place_in_the_order);
	tcase_add_test(tc, a_call_that_is_whole_before_its_turn_waits_for_a_credit);
	tcase_add_test(tc, a_call_that_cannot_be_sent_fails_when_it_is_whole);
	tcase_add_test(tc, calls_that_wait_for_bytes_fill_the_queue_as_others_do);
	tcase_add_test(tc, a_reverse_call_waits_until_it_is_whole);
	tcase_add_test(tc, a_call_made_before_the_leg_is_open_may_come_in_pieces);
	tcase_add_test(tc, a_long_call_leaves_at_once_where_reads_can_wait);
	tcase_add_test(tc, a_read_of_a_call_that_still_comes_is_answered_when_it_has_come);
	tcase_add_test(tc, a_read_of_a_call_that_is_broken_off_is_not_answered);
	tcase_add_test(tc, inline_calls_wait_until_complete_even_if_reads_can_wait);
	tcase_add_test(tc, reducible_calls_wait_until_complete_even_if_reads_can_wait);
	tcase_add_test(tc, a_call_answered_before_it_is_whole_is_let_go);
	tcase_add_loop_test(tc, an_answer_waits_while_the_server_reads_the_call, 0, 2);
	tcase_add_loop_test(tc, an_answer_that_waits_for_the_rest_ends_with_the_connection, 0, 4);
	tcase_add_test(tc, a_reply_by_read_chunk_waits_while_the_server_reads_the_call);
	tcase_add_test(tc, a_long_call_broken_off_where_reads_can_wait_is_disconnected);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
