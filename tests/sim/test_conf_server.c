// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that the server leg sends its connection configuration to a hand-made client and follows
 * the client's.
 */
#include <string.h>

#include "rpc/rpc_header.h"
#include "rpc/xdr.h"
#include "rpcrdma/draft03/ccp.h"
#include "rpcrdma/proto.h"
#include "rpcrdma/rdma_conn.h"
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/client_peer.h"

#define PROGRAM 100417u
#define MS      1000u

static const uint8_t pd_2048[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 1, 1};

static void begin_serving(const struct sim_faults *faults)
{
	rig = rig_new(faults);
	fake_nfs_reset();
	rig->server.config.config_protocol = true;
	rig->server.config.leg.config_program = PROGRAM;
}

static void setup_serving(void)
{
	begin_serving(NULL);
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
}

/* A new connection instead of the old one, whose client advertises 2048 bytes. */
static void again(void)
{
	teardown();
	begin_serving(NULL);
	open_with(pd_2048, sizeof(pd_2048));
}

/* The next Send is a Reply to @xid, which begins so; its results are in @results if it has some. */
static enum rpc_accept_stat expect_answer(uint32_t xid, struct ccp_results *results)
{
	struct rpc_reply_hdr reply;

	next();
	ck_assert_int_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_uint_ge(hdr.credit, 1);
	ck_assert_int_eq(rpc_reply_decode(body, len, &reply), RPC_OK);
	ck_assert_uint_eq(reply.xid, xid);
	ck_assert_int_eq(reply.stat, RPC_MSG_ACCEPTED);
	if (results)
		ck_assert(ccp_decode_reply(body, len, xid, results));
	return reply.accept_stat;
}

static void post_conf(uint32_t xid, struct ccp_args args)
{
	uint8_t call[CCP_CALL_BYTES];

	(void)ccp_encode_call(call, xid, PROGRAM, &args);
	begin(xid, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, sizeof(call));
}

static struct ccp_results configure(uint32_t maxreply, uint32_t reads)
{
	static uint32_t xid = 0xc000;
	struct ccp_results results;

	post_conf(++xid, (struct ccp_args){4096, maxreply, reads});
	ck_assert_int_eq(expect_answer(xid, &results), RPC_SUCCESS);
	return results;
}

/* A Reply of so many bytes comes inline, or in the reply chunk that is on offer. */
static void expect_reply(uint32_t reply_bytes, bool is_inline)
{
	static uint32_t xid = 0xd000;

	begin(++xid, RPCRDMA_MSG);
	set_reply_chunk(raw_lend(raw, NULL, 16384, FABRIC_REMOTE_WRITE));
	send_call(RIG_CALL_MIN, reply_bytes);
	next();
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_int_eq(hdr.proc, is_inline ? RPCRDMA_MSG : RPCRDMA_NOMSG);
	ck_assert_uint_eq(is_inline ? len : hdr.reply_chunk.len_bytes, reply_bytes);
}

/*
 * The longest Reply that comes inline makes a Send of so many bytes; it returns the chunk (A5.2-4).
 */
static void expect_limit(uint32_t send_bytes)
{
	uint32_t header_bytes = RPCRDMA_MIN_HDR_BYTES + (uint32_t)RPCRDMA_REPLY_CHUNK_BYTES(1);

	expect_reply(send_bytes - header_bytes, true);
	expect_reply(send_bytes - header_bytes + 1, false);
}

/*
 * A Call to procedure @proc of version @vers with @nwords words of arguments, in @call; returns its
 * length.
 */
static uint32_t make(uint8_t *call, uint32_t xid, uint32_t vers, uint32_t proc, uint32_t nwords)
{
	const uint32_t words[] = {xid, RPC_CALL, RPC_VERSION, PROGRAM, vers, proc, 0, 0, 0, 0};
	size_t n = 0;

	for (; n < ARRAY_SIZE(words); n++)
		be32_put(call + 4 * n, words[n]);
	for (; nwords--; n++)
		be32_put(call + 4 * n, 2048);
	return (uint32_t)(4 * n);
}

/* A6.2-1, A6.2-8 */
START_TEST(each_call_to_it_is_answered_here)
{
	static const struct {
		uint32_t vers, proc, nwords;
		enum rpc_accept_stat stat;
	} rows[] = {
		{1, 0, 0, RPC_SUCCESS},       {1, 1, 3, RPC_SUCCESS},
		{1, 2, 0, RPC_PROC_UNAVAIL},  {1, 1, 2, RPC_GARBAGE_ARGS},
		{1, 1, 4, RPC_GARBAGE_ARGS},  {0, 1, 3, RPC_PROG_MISMATCH},
		{2, 0, 0, RPC_PROG_MISMATCH},
	};
	uint8_t call[128];

	setup_serving();
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t n = make(call, i, rows[i].vers, rows[i].proc, rows[i].nwords);

		begin(i, RPCRDMA_MSG);
		raw_send_header(raw, &hdr, call, n);
		ck_assert_int_eq(expect_answer(i, NULL), rows[i].stat);
		if (rows[i].stat == RPC_PROG_MISMATCH) {
			ck_assert_uint_eq(be32_get(body + 24), 1);
			ck_assert_uint_eq(be32_get(body + 28), 1);
		}
	}
	ck_assert_uint_eq(rig->server.calls, 0);
	ck_assert_uint_eq(rig->server.counters.calls_received, 0);
	ck_assert_uint_eq(rig->server.counters.conf_served, 1);
	expect_alive();
}
END_TEST

/* A6.2-2, A6.2-9: what the receives hold with any header. */
START_TEST(the_reply_has_the_limits_of_the_server)
{
	struct ccp_results results;
	uint8_t call[8192];

	setup_serving();
	results = configure(4096, 16);
	ck_assert_uint_eq(results.maxcall_sendsize, 4096);
	ck_assert_uint_eq(results.align, 0);
	ck_assert_uint_eq(results.maxrdmaread, RDMA_READ_DEPTH);
	/*
	 * A message of that length behind a header that leaves just enough room for a Reply that
	 * returns its chunk.
	 */
	begin(7, RPCRDMA_MSG);
	hdr.has_reply_chunk = true;
	hdr.reply_chunk = (struct rpcrdma_chunk){0, 247, 0};
	for (unsigned i = 0; i < 247; i++)
		hdr.segments[hdr.nsegments++] = (struct rpcrdma_segment){0x9000 + i, 0, 0};
	rig_fill_call(call, 4096, 7, 100);
	raw_send_header(raw, &hdr, call, 4096);
	expect_reply_beside_chunk(7, 100, 247);
	ck_assert_uint_eq(rig->server.last_call_bytes, 4096);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overlong, 0);
}
END_TEST

/*
 * A6.2-2: the Reads of its memory that the connection has, by what the client asked for when it
 * connected.
 */
START_TEST(the_reply_has_the_read_limit_of_the_connection)
{
	static const struct {
		unsigned ord;
		uint32_t told;
	} rows[] = {{0, 0}, {1, 1}, {4, 4}, {16, 16}, {64, 16}};

	begin_serving(NULL);
	raw = raw_new(rig, pd_4096_inv, sizeof(pd_4096_inv));
	raw->params.ord = rows[_i].ord;
	raw_connect(raw);
	ck_assert_uint_eq(rig->server.opened, 1);
	ck_assert_uint_eq(configure(4096, 16).maxrdmaread, rows[_i].told);
	/* A second one gets the same answer (A6.1-2). */
	ck_assert_uint_eq(configure(4096, 16).maxrdmaread, rows[_i].told);
}
END_TEST

/* A6.2-6: where there are aligned messages of that kind. */
START_TEST(an_alignment_is_recommended_where_there_is_padding)
{
	static const struct {
		enum dialect_id dialect;
		uint32_t align, inline_bytes, told;
	} rows[] = {
		{DIALECT_DRAFT03, 512, 4096, 512},
		{DIALECT_RFC8166, 512, 4096, 0},
		{DIALECT_DRAFT03, 0, 4096, 0},
		{DIALECT_DRAFT03, 2048, 1024, 0},
	};

	begin_serving(NULL);
	rig->server.config.version_one = rows[_i].dialect;
	rig->server.config.padding_align_bytes = rows[_i].align;
	rig->server.config.inline_threshold_bytes = rows[_i].inline_bytes;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	ck_assert_uint_eq(configure(4096, 16).align, rows[_i].told);
}
END_TEST

/* X-7, A3.4: it may come as a position-zero chunk, or with its arguments in one. */
START_TEST(configuration_calls_in_any_form_are_answered)
{
	struct ccp_results results;
	uint8_t call[128];
	uint32_t n;

	setup_serving();
	n = make(call, 1, 1, 1, 3);
	begin(1, RPCRDMA_NOMSG);
	add_read(0, raw_lend(raw, call, n, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_int_eq(expect_answer(1, &results), RPC_SUCCESS);
	make(call, 2, 1, 1, 3);
	begin(2, RPCRDMA_MSG);
	add_read(40, raw_lend(raw, call + 40, 12, FABRIC_REMOTE_READ));
	raw_send_header(raw, &hdr, call, 40);
	ck_assert_int_eq(expect_answer(2, &results), RPC_SUCCESS);
	ck_assert_uint_eq(rig->server.counters.conf_served, 2);
	ck_assert_uint_eq(rig->server.calls, 0);
}
END_TEST

/* A6.2-4, A6.2-9, X-5: more or less than private data. */
START_TEST(no_send_is_longer_than_the_client_said)
{
	setup_serving();
	expect_limit(4096);
	configure(1500, 16);
	expect_limit(1500);
	again();
	expect_limit(2048);
	configure(3072, 16);
	expect_limit(3072);
}
END_TEST

/* A6.2-7 */
START_TEST(sizes_are_from_1024_to_our_own)
{
	static const uint32_t rows[][2] = {
		{0, 1024}, {1, 1024}, {1023, 1024}, {1024, 1024}, {1025, 1025}, {UINT32_MAX, 4096},
	};

	setup_serving();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (i)
			again();
		configure(rows[i][0], 16);
		expect_limit(rows[i][1]);
	}
}
END_TEST

/* A6.1-2 */
START_TEST(a_second_one_changes_nothing)
{
	struct ccp_results first, second;

	setup_serving();
	first = configure(1500, 16);
	second = configure(4096, 0);
	ck_assert_mem_eq(&first, &second, sizeof(first));
	expect_limit(1500);
}
END_TEST

START_TEST(calls_other_than_conf_rdma_are_not_counted)
{
	uint8_t call[128];
	uint32_t n;

	setup_serving();
	for (uint32_t proc = 0; proc < 3; proc++) {
		n = make(call, 1 + proc, 1, proc, 2);
		begin(1 + proc, RPCRDMA_MSG);
		raw_send_header(raw, &hdr, call, n);
		(void)expect_answer(1 + proc, NULL);
	}
	configure(1500, 16);
	expect_limit(1500);
}
END_TEST

START_TEST(one_among_other_calls_changes_nothing)
{
	setup_serving();
	rig->server.hold = true;
	begin(1, RPCRDMA_MSG);
	send_call(RIG_CALL_MIN, 100);
	configure(1500, 0);
	rig->server.hold = false;
	rig_answer_held(&rig->server);
	rig_run_for(rig, MS);
	expect_inline_reply(1, 100);
	expect_limit(4096);
	/* A second one, though nothing else is in flight now. */
	configure(1500, 0);
	expect_limit(4096);
}
END_TEST

/* A Call in @n segments, each a Read; no more of its memory is ready than @ready of them. */
static struct fabric_key *expose_call(uint32_t xid, unsigned n, bool ready)
{
	static uint8_t call[4096];
	struct fabric_key *first = &raw->keys[raw->nkeys];

	rig_fill_call(call, n * 100, xid, 100);
	begin(xid, RPCRDMA_NOMSG);
	for (unsigned i = 0; i < n; i++)
		add_read(0, ready ? raw_lend(raw, call + i * 100, 100, FABRIC_REMOTE_READ)
				  : raw_lend_slowly(raw, call + i * 100, 100));
	raw_send_header(raw, &hdr, NULL, 0);
	return first;
}

/* A6.2-5: with 1 and with 2; and with more than an endpoint takes. */
START_TEST(no_more_reads_are_out_than_the_client_takes)
{
	static const uint32_t max[] = {1, 2, 3, UINT32_MAX};
	struct fabric_key *key;

	setup_serving();
	configure(4096, max[_i]);
	key = expose_call(1, 20, false);
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_uint_eq(rig->server.calls, 0);
		fabric_key_ready(&key[i], 100);
		rig_run_for(rig, MS);
	}
	expect_inline_reply(1, 100);
	ck_assert_uint_eq(rig->server.last_call_bytes, 2000);
	ck_assert_uint_eq(sim_net_stats(rig->net)->max_reads, max[_i] > 16 ? 16 : max[_i]);
}
END_TEST

/* Several Calls have their Reads in their order. */
START_TEST(reads_of_several_calls_take_turns_in_order)
{
	setup_serving();
	configure(4096, 1);
	expose_call(1, 8, true);
	expose_call(2, 8, true);
	expose_call(3, 1, true);
	for (uint32_t xid = 1; xid <= 3; xid++)
		expect_inline_reply(xid, 100);
	ck_assert_uint_eq(sim_net_stats(rig->net)->max_reads, 1);
}
END_TEST

START_TEST(from_a_client_that_takes_no_reads_none_are_read)
{
	setup_serving();
	configure(4096, 0);
	expose_call(1, 2, true);
	raw_expect_error(raw, 1, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(sim_net_stats(rig->net)->max_reads, 0);
	ck_assert_uint_eq(rig->server.counters.bad_calls, 1);
	expect_alive();
}
END_TEST

/* What waits goes with the connection, whoever ends it; the rig looks for what is left. */
START_TEST(reads_that_wait_end_with_the_connection)
{
	setup_serving();
	configure(4096, 1);
	expose_call(1, 8, false);
	expose_call(2, 8, false);
	switch (_i) {
	case 0:
		leg_close(rig->server.leg, LEG_CLOSE_LOCAL);
		break;
	case 1:
		sim_net_cut(rig->net);
		break;
	case 2:
		fabric_ep_close(raw->ep);
		break;
	}
	rig_run(rig);
	ck_assert_uint_eq(rig->server.closed, 1);
}
END_TEST

/* A Read that fails ends the connection, and none that waits is posted any more. */
START_TEST(none_is_posted_behind_one_that_failed)
{
	setup_serving();
	configure(4096, 1);
	begin(1, RPCRDMA_NOMSG);
	for (unsigned i = 0; i < 4; i++)
		add_read(0, raw_lend(raw, NULL, 100, FABRIC_REMOTE_WRITE));
	raw_send_header(raw, &hdr, NULL, 0);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_uint_eq(sim_net_stats(rig->net)->access_errors, 1);
}
END_TEST

/* Only those that are posted have a time limit: each of these takes most of it. */
START_TEST(reads_that_wait_do_not_stall)
{
	struct fabric_key *key;

	begin_serving(NULL);
	rig->server.config.leg.stall_timeout_us = 2000 * MS;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	configure(4096, 1);
	key = expose_call(1, 6, false);
	for (unsigned i = 0; i < 6; i++) {
		rig_run_for(rig, 1500 * MS);
		fabric_key_ready(&key[i], 100);
		rig_run_for(rig, MS);
	}
	expect_inline_reply(1, 100);
	expose_call(2, 2, false);
	rig_run_for(rig, 2500 * MS);
	ck_assert_uint_eq(rig->server.closing, 1);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_RECORD_STALLED);
}
END_TEST

/* A6.2-10 */
START_TEST(where_it_is_off_it_is_unavailable)
{
	begin_serving(NULL);
	rig->server.config.config_protocol = false;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	post_conf(1, (struct ccp_args){1500, 1500, 0});
	ck_assert_int_eq(expect_answer(1, NULL), RPC_PROG_UNAVAIL);
	ck_assert_uint_eq(rig->server.calls, 0);
	ck_assert_uint_eq(rig->server.counters.prog_unavail, 1);
	ck_assert_uint_eq(rig->server.counters.conf_served, 0);
	expect_limit(4096);
}
END_TEST

/* Another number is any program's. */
START_TEST(another_program_is_passed_on)
{
	uint8_t call[CCP_CALL_BYTES];

	begin_serving(NULL);
	rig->server.config.leg.config_program = _i ? PROGRAM + 1 : 0;
	rig->server.hold = true;
	open_with(pd_4096_inv, sizeof(pd_4096_inv));
	(void)ccp_encode_call(call, 1, PROGRAM, &(struct ccp_args){RIG_REPLY_MIN, 1500, 0});
	begin(1, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, sizeof(call));
	ck_assert_uint_eq(rig->server.calls, 1);
	ck_assert_uint_eq(rig->server.counters.prog_unavail, 0);
	rig_answer_held(&rig->server);
	rig_run_for(rig, MS);
	expect_inline_reply(1, RIG_REPLY_MIN);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conf_server");
	TCase *tc = tcase_create("conf_server");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, each_call_to_it_is_answered_here);
	tcase_add_test(tc, the_reply_has_the_limits_of_the_server);
	tcase_add_loop_test(tc, the_reply_has_the_read_limit_of_the_connection, 0, 5);
	tcase_add_loop_test(tc, an_alignment_is_recommended_where_there_is_padding, 0, 4);
	tcase_add_test(tc, configuration_calls_in_any_form_are_answered);
	tcase_add_test(tc, no_send_is_longer_than_the_client_said);
	tcase_add_test(tc, sizes_are_from_1024_to_our_own);
	tcase_add_test(tc, a_second_one_changes_nothing);
	tcase_add_test(tc, calls_other_than_conf_rdma_are_not_counted);
	tcase_add_test(tc, one_among_other_calls_changes_nothing);
	tcase_add_loop_test(tc, no_more_reads_are_out_than_the_client_takes, 0, 4);
	tcase_add_test(tc, reads_of_several_calls_take_turns_in_order);
	tcase_add_test(tc, from_a_client_that_takes_no_reads_none_are_read);
	tcase_add_loop_test(tc, reads_that_wait_end_with_the_connection, 0, 3);
	tcase_add_test(tc, none_is_posted_behind_one_that_failed);
	tcase_add_test(tc, reads_that_wait_do_not_stall);
	tcase_add_test(tc, where_it_is_off_it_is_unavailable);
	tcase_add_loop_test(tc, another_program_is_passed_on, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
