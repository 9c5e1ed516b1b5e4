// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that the client leg asks a hand-made server for its connection configuration and follows
 * the answer.
 */
#include <string.h>

#include "rpc/rpc_header.h"
#include "rpc/xdr.h"
#include "rpcrdma/draft03/ccp.h"
#include "rpcrdma/proto.h"
#include "tests/lib/test.h"
#include "tests/sim/server_peer.h"

#define PROGRAM 100417u
#define MS      1000u
#define SECOND  1000000u

static const uint8_t pd_2048[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 1, 1};

/* The leg is to ask: nothing is connected yet. */
static void begin_asking(void)
{
	rig = rig_new(NULL);
	rig->client.config.config_protocol = true;
	rig->client.config.leg.config_program = PROGRAM;
}

/* It connects to the server, and does not wait. */
static void meet(const uint8_t *pd, size_t n)
{
	raw = raw_new(rig, pd, n);
	rig->raw_server = raw;
	rig_connect(rig);
	rig_run_for(rig, MS);
	ck_assert_uint_eq(rig->client.opened, 1);
}

/* The server has the CONF_RDMA in `call`. */
static void setup_asked(const uint8_t *pd, size_t n)
{
	begin_asking();
	meet(pd, n);
	next_call();
}

/* A new connection instead of the old one. */
static void again(const uint8_t *pd, size_t n)
{
	teardown();
	setup_asked(pd, n);
}

static void setup_4096(void)
{
	setup_asked(pd_4096, sizeof(pd_4096));
}

static void answer_bytes(uint32_t xid, uint32_t credit, const uint8_t *reply, size_t bytes)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, credit, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, reply, bytes);
}

static void agree(uint32_t xid, uint32_t credit, struct ccp_results results)
{
	uint8_t reply[CCP_REPLY_BYTES];
	size_t n = ccp_encode_reply(reply, xid, CCP_CONF, &results);

	answer_bytes(xid, credit, reply, n);
}

/* Says so, and grants 32. */
static void configure(uint32_t maxcall, uint32_t reads)
{
	agree(call.xid, 32, (struct ccp_results){maxcall, 0, reads});
	ck_assert_uint_eq(rig->client.counters.conf_answered, 1);
}

static uint32_t calls_out(void)
{
	struct leg_info info;

	leg_info(rig->client.leg, &info);
	return info.calls_in_flight_out;
}

/* A Call of so many bytes comes whole inline, or as a read chunk; it is answered. */
static void expect_call(uint32_t call_bytes, bool is_inline)
{
	unsigned before = rig->client.answered;

	make_call(call_bytes, 100, 100);
	next_call();
	ck_assert_int_eq(call.proc, is_inline ? RPCRDMA_MSG : RPCRDMA_NOMSG);
	ck_assert_int_eq(call.nreads, !is_inline);
	ck_assert_uint_eq(call_len, is_inline ? call_bytes : 0);
	reply_inline(call.xid, 100, 32);
	expect_answered(before + 1);
}

/* The longest Call that comes inline makes a Send of so many bytes. */
static void expect_limit(uint32_t send_bytes)
{
	expect_call(send_bytes - RPCRDMA_MIN_HDR_BYTES, true);
	expect_call(send_bytes - RPCRDMA_MIN_HDR_BYTES + 4, false);
}

/* A6.1-1, A6.2-1, A6.2-2 */
START_TEST(the_first_message_is_the_configuration_call)
{
	static const uint32_t words[] = {RPC_CALL, RPC_VERSION, PROGRAM,        1, 1, 0, 0, 0, 0,
					 4096,     4096,        RDMA_READ_DEPTH};

	begin_asking();
	meet(pd_4096, sizeof(pd_4096));
	ck_assert_uint_eq(sends_waiting(), 1);
	ck_assert_uint_le(raw->recvs[0].len_bytes, 1024);
	next_call();
	ck_assert_int_eq(call.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(call.credit, 32);
	ck_assert(!call.nreads && !call.nwrites && !call.has_reply_chunk);
	ck_assert_uint_eq(call_len, CCP_CALL_BYTES);
	ck_assert_uint_eq(be32_get(call_body), call.xid);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		ck_assert_uint_eq(be32_get(call_body + 4 + 4 * i), words[i]);
	ck_assert_uint_eq(rig->client.counters.conf_asked, 1);
	/* It is no client's. */
	ck_assert_uint_eq(calls_out(), 0);
	ck_assert_uint_eq(rig->client.counters.calls_sent, 0);
}
END_TEST

/* A6.2-2: the Reads of its memory that the connection has, by what the server takes on. */
START_TEST(the_call_has_the_read_limit_of_the_connection)
{
	static const struct {
		unsigned ord;
		uint32_t told;
	} rows[] = {{0, 0}, {1, 1}, {4, 4}, {16, 16}, {64, 16}};

	begin_asking();
	raw = raw_new(rig, pd_4096, sizeof(pd_4096));
	raw->params.ord = rows[_i].ord;
	rig->raw_server = raw;
	rig_connect(rig);
	rig_run_for(rig, MS);
	ck_assert_uint_eq(rig->client.opened, 1);
	next_call();
	ck_assert_uint_eq(be32_get(call_body + CCP_CALL_BYTES - 4), rows[_i].told);
}
END_TEST

START_TEST(calls_wait_for_the_answer_and_then_go_in_their_order)
{
	uint32_t first, xids[3];

	setup_4096();
	first = call.xid;
	for (unsigned i = 0; i < 3; i++)
		xids[i] = make_call(200 + 4 * i, 100, 100);
	rig_run_for(rig, SECOND);
	ck_assert_uint_eq(sends_waiting(), 0);
	/* A3.3-5: its grant is as that of any Reply. */
	agree(first, 2, (struct ccp_results){4096, 0, 16});
	ck_assert_uint_eq(sends_waiting(), 2);
	for (unsigned i = 0; i < 3; i++) {
		next_call();
		ck_assert_uint_eq(call.xid, xids[i]);
		reply_inline(call.xid, 100, 2);
	}
	expect_answered(3);
	ck_assert_uint_eq(rig->client.counters.conf_answered, 1);
	ck_assert_uint_eq(rig->client.counters.conf_refused, 0);
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 0);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.counters.conf_refused, 0);
}
END_TEST

/* A6.2-3, A6.2-9, X-5: more or less than private data. */
START_TEST(no_send_is_longer_than_the_server_said)
{
	setup_4096();
	configure(1500, 16);
	expect_limit(1500);
	again(pd_2048, sizeof(pd_2048));
	configure(3072, 16);
	expect_limit(3072);
	again(NULL, 0);
	configure(2000, 16);
	expect_limit(2000);
}
END_TEST

/* A6.2-7 */
START_TEST(sizes_are_from_1024_to_our_own)
{
	static const uint32_t rows[][2] = {
		{0, 1024}, {1, 1024}, {1023, 1024}, {1024, 1024}, {4095, 4092}, {UINT32_MAX, 4096},
	};

	setup_4096();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (i)
			again(pd_4096, sizeof(pd_4096));
		configure(rows[i][0], 16);
		expect_limit(rows[i][1]);
	}
}
END_TEST

/*
 * What the server can send is in no answer of it: a Reply that private data leave in doubt has a
 * chunk on offer.
 */
START_TEST(replies_go_by_private_data_still)
{
	setup_asked(pd_2048, sizeof(pd_2048));
	configure(4096, 16);
	make_call(100, 1000, 2048 - RPCRDMA_MIN_HDR_BYTES);
	next_call();
	ck_assert(!call.has_reply_chunk);
	reply_inline(call.xid, 1000, 32);
	make_call(100, 1000, 2048);
	next_call();
	ck_assert(call.has_reply_chunk);
	reply_inline(call.xid, 1000, 32);
	expect_answered(2);
}
END_TEST

/* A6.2-9: whether the value counts the header or not. */
START_TEST(a_reply_of_the_announced_length_fits_a_receive_with_any_header)
{
	struct rpcrdma_header hdr;
	uint8_t reply[4096];

	setup_4096();
	configure(4096, 16);
	make_call(100, 4096, 4096);
	next_call();
	rpcrdma_header_init(&hdr, call.xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	rig_fill_reply(reply, sizeof(reply), call.xid);
	raw_send_header(raw, &hdr, reply, sizeof(reply));
	expect_answered(1);
	/*
	 * One that no Reply has, but as long as a header can be: it is told apart, and not by the
	 * fabric.
	 */
	memset(reply, 0, sizeof(reply));
	for (unsigned i = 0; i < 250; i++)
		hdr.segments[i] = (struct rpcrdma_segment){0x9000 + i, 0, 0};
	hdr.nsegments = 250;
	hdr.has_reply_chunk = true;
	hdr.reply_chunk = (struct rpcrdma_chunk){0, 250, 0};
	rig_fill_reply(reply, sizeof(reply), call.xid);
	raw_send_header(raw, &hdr, reply, sizeof(reply));
	ck_assert_uint_eq(sim_net_stats(rig->net)->overlong, 0);
	ck_assert_uint_eq(rig->client.closed, 0);
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 1);
}
END_TEST

/* A6.1-2: what is no answer, from a server whose private data say 2048. */
static void no_answer(unsigned how)
{
	static const uint32_t stats[] = {RPC_PROG_UNAVAIL, RPC_PROC_UNAVAIL, RPC_GARBAGE_ARGS,
					 RPC_SYSTEM_ERR};
	struct ccp_results results = {4096, 0, 0};
	uint8_t reply[64] = {0};
	struct rpcrdma_header hdr;
	size_t good;

	rpcrdma_header_init(&hdr, call.xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	good = ccp_encode_reply(reply, call.xid, CCP_CONF, &results);
	switch (how) {
	case 0:
	case 1:
	case 2:
	case 3:
		good = rpc_encode_accepted(reply, call.xid, stats[how]);
		break;
	case 4:
		good = rpc_encode_prog_mismatch(reply, call.xid, 2, 3);
		break;
	case 5:
		good = rpc_encode_auth_error(reply, call.xid, 5);
		break;
	case 6: /* two words, and four */
		good -= 4;
		break;
	case 7:
		good += 4;
		break;
	case 8: /* it is of another Call */
		be32_put(reply, call.xid + 1);
		break;
	case 9: /* with a chunk that was not offered */
		hdr.has_reply_chunk = true;
		hdr.reply_chunk = (struct rpcrdma_chunk){0, 1, 64};
		hdr.segments[hdr.nsegments++] = (struct rpcrdma_segment){1, 64, 0};
		break;
	case 10: /* in such a chunk */
		hdr.proc = RPCRDMA_NOMSG;
		hdr.has_reply_chunk = true;
		hdr.reply_chunk = (struct rpcrdma_chunk){0, 1, 64};
		hdr.segments[hdr.nsegments++] = (struct rpcrdma_segment){1, 64, 0};
		good = 0;
		break;
	case 11:
	case 12:
		hdr.proc = RPCRDMA_ERROR;
		hdr.error = how == 11 ? RPCRDMA_ERR_CHUNK : 99;
		good = 0;
		break;
	case 13: /* no Reply, but a header that does not decode */
		hdr.proc = (enum rpcrdma_proc)RPCRDMA_DONE;
		good = 0;
		break;
	}
	if (how == 13) {
		uint8_t bytes[RPCRDMA_MIN_HDR_BYTES + 24];
		size_t n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));

		memset(bytes + n, 0, sizeof(bytes) - n);
		be32_put(bytes + 12, 77);
		raw_send(raw, bytes, sizeof(bytes));
	} else {
		raw_send_header(raw, &hdr, reply, good);
	}
}
#define NO_ANSWERS 14

START_TEST(without_a_good_answer_private_data_hold)
{
	uint32_t xid, conf;

	setup_asked(pd_2048, sizeof(pd_2048));
	conf = call.xid;
	xid = make_call(2000, 100, 100);
	no_answer((unsigned)_i);
	ck_assert_uint_eq(rig->client.counters.conf_refused, 1);
	ck_assert_uint_eq(rig->client.counters.conf_answered, 0);
	next_call();
	ck_assert_uint_eq(call.xid, xid);
	ck_assert_uint_eq(call_len, 2000);
	reply_inline(xid, 100, 32);
	expect_answered(1);
	expect_limit(2048);
	ck_assert_uint_eq(rig->client.closed, 0);
	/* A server that has no such program is none to write of. */
	ck_assert_uint_eq(rig->client.notes > 0, _i > 0);
	/* Its XID is free: a message with it belongs to no Call now. */
	call.xid = conf;
	no_answer(0);
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 1);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.counters.conf_refused, 1);
	ck_assert_uint_eq(calls_out(), 0);
}
END_TEST

/*
 * A server that exposes even this by read chunk keeps it, and the connection only while it waits
 * for RDMA_DONE (A3.8-3).
 */
START_TEST(a_reply_by_read_chunk_gets_rdma_done)
{
	struct rpcrdma_header hdr;
	uint32_t xid, conf;

	begin_asking();
	rig->client.config.version_one = _i ? DIALECT_DRAFT03 : DIALECT_RFC8166;
	meet(pd_4096, sizeof(pd_4096));
	next_call();
	conf = call.xid;
	xid = make_call(100, 100, 100);
	rpcrdma_header_init(&hdr, conf, RPCRDMA_VERSION_ONE, 32, RPCRDMA_NOMSG);
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){0, {1, CCP_REPLY_BYTES, 0}};
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_eq(rig->client.counters.conf_refused, 1);
	ck_assert_uint_eq(rig->client.counters.dones_sent, (unsigned)_i);
	next_call();
	if (_i) {
		ck_assert_int_eq(call.proc, RPCRDMA_DONE);
		ck_assert_uint_eq(call.xid, conf);
		next_call();
	}
	ck_assert_uint_eq(call.xid, xid);
	/*
	 * It is over: another one answers no Call. Without Replies by read chunk it is a reverse
	 * Call (RFC 8167 section 5.3).
	 */
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, (unsigned)_i);
	if (!_i)
		raw_expect_error(raw, conf, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->client.counters.dones_sent, (unsigned)_i);
	reply_inline(xid, 100, 32);
	expect_answered(1);
}
END_TEST

/* A3.3-3: as in any Reply. */
START_TEST(a_grant_of_zero_is_one)
{
	setup_4096();
	make_call(100, 100, 100);
	make_call(100, 100, 100);
	agree(call.xid, 0, (struct ccp_results){1500, 0, 16});
	ck_assert_uint_eq(sends_waiting(), 1);
	next_call();
	reply_inline(call.xid, 100, 1);
	next_call();
	reply_inline(call.xid, 100, 1);
	expect_answered(2);
}
END_TEST

/* A6.1-2 */
START_TEST(without_any_answer_calls_go_after_five_seconds)
{
	uint32_t conf, xid;

	setup_asked(pd_2048, sizeof(pd_2048));
	conf = call.xid;
	xid = make_call(2000, 100, 100);
	rig_run_for(rig, CCP_CLIENT_WAIT_US - 10 * MS);
	ck_assert_uint_eq(sends_waiting(), 0);
	rig_run_for(rig, 20 * MS);
	next_call();
	ck_assert_uint_eq(call.xid, xid);
	ck_assert_uint_eq(calls_out(), 1);
	reply_inline(xid, 100, 32);
	ck_assert_uint_eq(rig->client.counters.conf_refused, 1);
	/* Too late: its Call has timed out. */
	agree(conf, 32, (struct ccp_results){1024, 0, 0});
	ck_assert_uint_eq(rig->client.counters.conf_answered, 0);
	ck_assert_uint_eq(rig->client.counters.unmatched_replies, 1);
	expect_limit(2048);
	ck_assert_uint_eq(rig->client.closed, 0);
}
END_TEST

/* A late error, or what does not decode, comes to nobody either. */
START_TEST(a_late_error_does_no_harm)
{
	setup_asked(pd_2048, sizeof(pd_2048));
	rig_run_for(rig, CCP_CLIENT_WAIT_US + MS);
	make_call(100, 100, 100);
	no_answer(11 + 2 * (unsigned)_i);
	ck_assert_uint_eq(rig->client.closed, 0);
	ck_assert_uint_eq(rig->client.counters.conf_refused, 1);
	next_call();
	reply_inline(call.xid, 100, 32);
	expect_answered(1);
}
END_TEST

/* the client's next XID is ours. */
START_TEST(a_call_with_its_xid_waits_for_the_late_answer)
{
	uint32_t conf;

	setup_4096();
	conf = call.xid;
	rig_run_for(rig, CCP_CLIENT_WAIT_US + MS);
	rig->next_xid = conf;
	make_call(100, 100, 100);
	make_call(104, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 0);
	if (_i) {
		agree(conf, 32, (struct ccp_results){1024, 0, 0});
	} else {
		/* Or none comes any more. */
		rig_run_for(rig, CCP_CLIENT_LATE_US - 10 * MS);
		ck_assert_uint_eq(sends_waiting(), 0);
		rig_run_for(rig, 10 * MS);
		make_call(108, 100, 100);
	}
	while (sends_waiting()) {
		next_call();
		reply_inline(call.xid, 100, 32);
	}
	expect_answered(_i ? 2 : 3);
}
END_TEST

START_TEST(a_call_with_its_xid_goes_once_it_is_answered)
{
	uint32_t conf;

	setup_4096();
	conf = call.xid;
	rig->next_xid = conf;
	make_call(100, 100, 100);
	configure(4096, 16);
	next_call();
	ck_assert_uint_eq(call.xid, conf);
	ck_assert_uint_eq(call_len, 100);
	reply_inline(conf, 100, 32);
	expect_answered(1);
}
END_TEST

/* A6.2-5 */
START_TEST(a_server_that_reads_nothing_is_sent_nothing_to_read)
{
	setup_4096();
	rig->client.config.ddp = true;
	configure(4096, 0);
	make_call(4096, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 0);
	expect_fault(EXCHANGE_FAULT_CANT_SEND);
	ck_assert_uint_eq(rig->client.counters.calls_not_sendable, 1);
	expect_call(4096 - RPCRDMA_MIN_HDR_BYTES, true);
	/* Its Replies it can write. */
	make_call(100, 3000, 8192);
	next_call();
	ck_assert(call.has_reply_chunk && !call.nreads);
	reply_inline(call.xid, 3000, 32);
	expect_answered(2);
}
END_TEST

START_TEST(a_drained_leg_waits_for_the_answer_if_calls_do)
{
	setup_4096();
	if (_i) {
		make_call(100, 100, 100);
		leg_drain(rig->client.leg);
		rig_run_for(rig, SECOND);
		ck_assert_uint_eq(rig->client.closed, 0);
		configure(4096, 16);
		next_call();
		reply_inline(call.xid, 100, 32);
		expect_answered(1);
	} else {
		leg_drain(rig->client.leg);
	}
	expect_closed(LEG_CLOSE_SHUTDOWN);
}
END_TEST

START_TEST(a_closed_connection_ends_the_configuration)
{
	setup_4096();
	make_call(100, 100, 100);
	if (_i)
		sim_net_cut(rig->net);
	else
		leg_close(rig->client.leg, LEG_CLOSE_LOCAL);
	expect_closed(_i ? LEG_CLOSE_LOST : LEG_CLOSE_LOCAL);
	ck_assert(TAILQ_EMPTY(&rig->client.waiting));
}
END_TEST

/* A6.2-8: a server's Call to it goes no further, either. */
START_TEST(a_reverse_call_to_the_program_is_unavailable)
{
	struct ccp_args args = {4096, 4096, 16};
	uint8_t bytes[CCP_CALL_BYTES];
	struct rpcrdma_header hdr;
	struct rpc_reply_hdr reply;

	setup_4096();
	configure(4096, 16);
	(void)ccp_encode_call(bytes, 0x4711, PROGRAM, &args);
	rpcrdma_header_init(&hdr, 0x4711, RPCRDMA_VERSION_ONE, 8, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, bytes, sizeof(bytes));
	next_call();
	ck_assert_uint_eq(call.xid, 0x4711);
	ck_assert_int_eq(rpc_reply_decode(call_body, call_len, &reply), RPC_OK);
	ck_assert_int_eq(reply.accept_stat, RPC_PROG_UNAVAIL);
	ck_assert_uint_eq(rig->client.calls, 0);
	ck_assert_uint_eq(rig->client.counters.prog_unavail, 1);
}
END_TEST

START_TEST(no_configuration_call_without_config_protocol)
{
	begin_asking();
	if (_i)
		rig->client.config.leg.config_program = 0;
	else
		rig->client.config.config_protocol = false;
	meet(pd_4096, sizeof(pd_4096));
	ck_assert_uint_eq(sends_waiting(), 0);
	expect_call(100, true);
	ck_assert_uint_eq(rig->client.counters.conf_asked, 0);
}
END_TEST

static void expect_configured(const struct leg *leg, uint32_t peer_bytes)
{
	struct leg_info info;

	leg_info(leg, &info);
	ck_assert(info.configured);
	ck_assert_uint_eq(info.peer_reads_max, RDMA_READ_DEPTH);
	ck_assert_uint_eq(info.peer_recv_size_bytes, peer_bytes);
}

/* Both ends, of other sizes each: whatever the length, Calls and Replies pass. */
START_TEST(two_legs_configure_each_other)
{
	static const uint32_t sizes[] = {100, 1000, 1024, 2020, 2024, 4068, 4072, 9000, 200000};
	unsigned n = 0;

	begin_asking();
	rig->client.config.inline_threshold_bytes = _i ? 2048 : 8192;
	rig->server.config.inline_threshold_bytes = _i ? 8192 : 2048;
	rig->server.config.config_protocol = true;
	rig->server.config.leg.config_program = PROGRAM;
	rig_connect(rig);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.counters.conf_answered, 1);
	ck_assert_uint_eq(rig->server.counters.conf_served, 1);
	expect_configured(rig->client.leg, rig->server.config.inline_threshold_bytes);
	expect_configured(rig->server.leg, rig->client.config.inline_threshold_bytes);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(sizes); j++, n++) {
			rig_call(&rig->client, sizes[i], sizes[j], sizes[j]);
			rig_run_for(rig, MS);
		}
	}
	expect_answered(n);
	ck_assert_uint_eq(rig->server.calls, n);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overlong, 0);
	rig_end(rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conf_client");
	TCase *tc = tcase_create("conf_client");
	TCase *pair = tcase_create("pair");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, the_first_message_is_the_configuration_call);
	tcase_add_loop_test(tc, the_call_has_the_read_limit_of_the_connection, 0, 5);
	tcase_add_test(tc, calls_wait_for_the_answer_and_then_go_in_their_order);
	tcase_add_test(tc, no_send_is_longer_than_the_server_said);
	tcase_add_test(tc, sizes_are_from_1024_to_our_own);
	tcase_add_test(tc, replies_go_by_private_data_still);
	tcase_add_test(tc, a_reply_of_the_announced_length_fits_a_receive_with_any_header);
	tcase_add_loop_test(tc, without_a_good_answer_private_data_hold, 0, NO_ANSWERS);
	tcase_add_loop_test(tc, a_reply_by_read_chunk_gets_rdma_done, 0, 2);
	tcase_add_test(tc, a_grant_of_zero_is_one);
	tcase_add_test(tc, without_any_answer_calls_go_after_five_seconds);
	tcase_add_loop_test(tc, a_late_error_does_no_harm, 0, 2);
	tcase_add_loop_test(tc, a_call_with_its_xid_waits_for_the_late_answer, 0, 2);
	tcase_add_test(tc, a_call_with_its_xid_goes_once_it_is_answered);
	tcase_add_test(tc, a_server_that_reads_nothing_is_sent_nothing_to_read);
	tcase_add_loop_test(tc, a_drained_leg_waits_for_the_answer_if_calls_do, 0, 2);
	tcase_add_loop_test(tc, a_closed_connection_ends_the_configuration, 0, 2);
	tcase_add_test(tc, a_reverse_call_to_the_program_is_unavailable);
	tcase_add_loop_test(tc, no_configuration_call_without_config_protocol, 0, 2);
	suite_add_tcase(suite, tc);
	tcase_add_loop_test(pair, two_legs_configure_each_other, 0, 2);
	suite_add_tcase(suite, pair);
	return test_main(suite);
}
