// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests reverse Calls that a client does not answer in time, and its later answers (D4.2-1,
 * D4.2-2).
 */
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/rdma_conn_setup.h"
#include "rpcrdma/rdma_leg_priv.h"
#include "rpcrdma/v2/xchar_codec.h"
#include "tests/lib/test.h"
#include "tests/sim/raw.h"

#define SECOND     1000000u
#define TIMEOUT_US (8 * SECOND)
#define STEP_US    1000u /* that the world runs when the client sends */
#define LONG_BYTES 9000u
#define FOREVER    200u /* seconds */

static struct rig *rig;
static struct raw *raw;
static uint32_t version;

/* The last message that the client got. */
static struct rpcrdma_header hdr;
static const uint8_t *body;
static uint32_t len;

static void next(void)
{
	raw_next_header(raw, &hdr, &body, &len);
}

static void expect_silence(void)
{
	ck_assert(!raw_next(raw));
}

static void send_header(uint32_t xid, enum rpcrdma_proc proc, uint32_t credit, const void *bytes,
			size_t n)
{
	struct rpcrdma_header h;

	rpcrdma_header_init(&h, xid, version, credit, proc);
	raw_send_header(raw, &h, bytes, n);
}

/* A forward Call, which is answered whatever is out the other way. */
static void call_forward(uint32_t xid)
{
	uint8_t call[RIG_CALL_MIN];

	rig_fill_call(call, sizeof(call), xid, 100);
	send_header(xid, RPCRDMA_MSG, 32, call, sizeof(call));
	next();
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_uint_eq(be32_get(body + 4), RPC_REPLY);
	ck_assert_uint_eq(len, 100);
}

static void answer(uint32_t xid, uint32_t grant)
{
	uint8_t reply[100];

	rig_fill_reply(reply, sizeof(reply), xid);
	send_header(xid, RPCRDMA_MSG, grant, reply, sizeof(reply));
}

static void open_client(uint64_t timeout_us)
{
	rig = rig_new(NULL);
	rig->server.config.reverse_timeout_us = timeout_us;
	version = RPCRDMA_VERSION_ONE;
	raw = raw_open_client(rig, NULL, 0);
	call_forward(1);
}

/* In version two, where reverse Calls may have chunks. */
static void open_with_chunks(const struct sim_faults *faults)
{
	const struct xchar_value value = {XCHAR_BRS, true, XCHAR_BRS_GENL};
	struct rpcrdma_header h;
	uint8_t info[64];

	rig = rig_new(faults);
	rig->server.config.reverse_timeout_us = TIMEOUT_US;
	rig->server.config.highest_version = 2;
	rig->server.config.characteristics = true;
	rig->server.config.reverse_chunks = true;
	version = RPCRDMA_VERSION_TWO;
	raw = raw_open_client(rig, NULL, 0);
	rpcrdma_header_init(&h, 9, version, 32, RPCRDMA_OPTIONAL);
	h.opttype = XCHAR_INIT;
	h.optinfo = info;
	h.optinfo_bytes = (uint32_t)xchar_encode_init(info, sizeof(info), &value, 1, 0);
	raw_send_header(raw, &h, NULL, 0);
	next();
	call_forward(1);
}

static void end(void)
{
	raw_free(raw);
	rig_run(rig);
	rig_end(rig);
}

static uint32_t call_behind(uint32_t call_bytes, uint32_t reply_bytes)
{
	uint32_t xid = rig_call(&rig->server, call_bytes, reply_bytes, reply_bytes);

	rig_run_for(rig, 100);
	return xid;
}

static void expect_call(uint32_t xid)
{
	next();
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_int_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(be32_get(body + 4), RPC_CALL);
}

static uint32_t call_and_see(void)
{
	uint32_t xid = call_behind(100, 100);

	expect_call(xid);
	return xid;
}

/* So many are to have failed by now, all for that reason. */
static void expect_late(unsigned n)
{
	ck_assert_uint_eq(rig->server.faults, n);
	ck_assert_uint_eq(rig->server.counters.reverse_timeouts, n);
	if (n)
		ck_assert_int_eq(rig->server.last_fault, EXCHANGE_FAULT_LATE);
}

static struct leg_info info_of(void)
{
	struct leg_info info;

	leg_info(rig->server.leg, &info);
	return info;
}

START_TEST(a_call_without_an_answer_fails_in_its_time)
{
	uint32_t xid;

	open_client(TIMEOUT_US);
	xid = call_and_see();
	ck_assert_uint_eq(info_of().calls_in_flight_out, 1);
	rig_run_for(rig, TIMEOUT_US - 1000);
	expect_late(0);
	rig_run_for(rig, 1000);
	expect_late(1);
	ck_assert_uint_eq(rig->server.notes, 1);
	/* For nobody a Call is out, and yet its credit is taken. */
	ck_assert_uint_eq(info_of().calls_in_flight_out, 0);
	ck_assert_uint_eq(info_of().credits_available, 0);
	ck_assert_uint_eq(info_of().calls_abandoned, 1);
	call_forward(2);
	answer(xid, 3);
	ck_assert_uint_eq(rig->server.answered, 0);
	ck_assert_uint_eq(rig->server.counters.reverse_late_replies, 1);
	ck_assert_uint_eq(rig->server.counters.unmatched_replies, 0);
	/* What it grants counts. */
	ck_assert_uint_eq(info_of().credits_available, 3);
	ck_assert_uint_eq(info_of().calls_abandoned, 0);
	/* Its second answer is one to nothing. */
	answer(xid, 3);
	ck_assert_uint_eq(rig->server.counters.unmatched_replies, 1);
	call_forward(3);
	end();
}
END_TEST

START_TEST(an_answer_in_time_is_none_that_is_late)
{
	open_client(TIMEOUT_US);
	for (unsigned i = 0; i < 5; i++) {
		uint32_t xid = call_and_see();

		rig_run_for(rig, TIMEOUT_US - 1000);
		answer(xid, 1);
		ck_assert_uint_eq(rig->server.answered, i + 1);
	}
	rig_run_for(rig, 3 * TIMEOUT_US);
	expect_late(0);
	ck_assert_uint_eq(rig->server.counters.reverse_late_replies, 0);
	end();
}
END_TEST

START_TEST(without_a_time_a_call_waits_for_ever)
{
	uint32_t xid;

	open_client(0);
	xid = call_and_see();
	call_behind(100, 100);
	rig_run_for(rig, FOREVER * (uint64_t)SECOND);
	expect_late(0);
	answer(xid, 1);
	ck_assert_uint_eq(rig->server.answered, 1);
	end();
}
END_TEST

/*
 * One credit, which the first has; those that wait for it have the same time, each from when it
 * came.
 */
START_TEST(a_call_that_is_held_fails_too)
{
	uint32_t xid;

	open_client(TIMEOUT_US);
	xid = call_and_see();
	rig_run_for(rig, SECOND);
	call_behind(100, 100);
	rig_run_for(rig, SECOND);
	call_behind(100, 100);
	rig_run_for(rig, TIMEOUT_US - 2 * SECOND);
	expect_late(1);
	rig_run_for(rig, SECOND - 1000);
	expect_late(1);
	ck_assert_uint_eq(info_of().calls_queued, 2);
	rig_run_for(rig, 1000);
	expect_late(2);
	rig_run_for(rig, SECOND);
	expect_late(3);
	ck_assert_uint_eq(info_of().calls_queued, 0);
	expect_silence();
	/* One note says it. */
	ck_assert_uint_eq(rig->server.notes, 1);
	answer(xid, 1);
	answer(call_and_see(), 1);
	ck_assert_uint_eq(rig->server.answered, 1);
	end();
}
END_TEST

/* A client that is a little late lets the next one go. */
START_TEST(a_call_that_waits_for_the_credit_of_a_late_one_is_sent)
{
	uint32_t first, second;

	open_client(TIMEOUT_US);
	first = call_and_see();
	rig_run_for(rig, SECOND);
	second = call_behind(100, 100);
	rig_run_for(rig, TIMEOUT_US - SECOND / 2);
	expect_late(1);
	answer(first, 1);
	expect_call(second);
	answer(second, 1);
	ck_assert_uint_eq(rig->server.answered, 1);
	rig_run_for(rig, 2 * TIMEOUT_US);
	ck_assert_uint_eq(rig->server.faults, 1);
	end();
}
END_TEST

/*
 * However long it has waited before it was sent: its caller waits for one time limit, not for two.
 */
START_TEST(the_timeout_of_a_call_includes_its_wait_for_a_credit)
{
	uint32_t first, second;

	open_client(TIMEOUT_US);
	first = call_and_see();
	second = call_behind(100, 100);
	rig_run_for(rig, TIMEOUT_US - SECOND);
	answer(first, 1);
	expect_call(second);
	rig_run_for(rig, SECOND - 2 * STEP_US);
	expect_late(0);
	rig_run_for(rig, 2 * STEP_US);
	expect_late(1);
	ck_assert_uint_eq(info_of().credits_available, 0);
	answer(second, 1);
	ck_assert_uint_eq(rig->server.counters.reverse_late_replies, 1);
	answer(call_and_see(), 1);
	ck_assert_uint_eq(rig->server.answered, 2);
	end();
}
END_TEST

/* Grants @n: all of these may be out. */
static void grant(uint32_t n)
{
	answer(call_and_see(), n);
	ck_assert_uint_eq(rig->server.answered, 1);
	rig->server.answered = 0;
}

/*
 * A server goes on calling a client that never answers, and the client goes on calling the server.
 */
START_TEST(the_last_of_many_is_as_the_first)
{
	open_client(TIMEOUT_US);
	grant(_i ? RDMA_REVERSE_CREDITS : 1);
	for (unsigned i = 0; i < 200; i++) {
		call_behind(100, 100);
		while (raw_next(raw))
			;
		call_forward(0x5000 + i);
		rig_run_for(rig, TIMEOUT_US - 2 * STEP_US);
		expect_late(i);
		rig_run_for(rig, 2 * STEP_US);
		expect_late(i + 1);
	}
	expect_late(200);
	ck_assert_uint_eq(rig->server.notes, 1);
	ck_assert_uint_eq(info_of().credits_available, 0);
	ck_assert_uint_eq(info_of().calls_in_flight_out, 0);
	ck_assert_uint_eq(rig->server.closed, 0);
	end();
}
END_TEST

START_TEST(more_than_may_wait_fail_at_once)
{
	open_client(TIMEOUT_US);
	call_and_see();
	for (unsigned i = 0; i < REQUESTER_QUEUE_MAX_REVERSE + 5; i++)
		call_behind(100, 100);
	ck_assert_uint_eq(rig->server.faults, 5);
	ck_assert_uint_eq(rig->server.counters.reverse_refused, 5);
	ck_assert_int_eq(rig->server.last_fault, EXCHANGE_FAULT_CANT_SEND);
	rig_run_for(rig, TIMEOUT_US);
	ck_assert_uint_eq(rig->server.faults, 1 + REQUESTER_QUEUE_MAX_REVERSE + 5);
	ck_assert_uint_eq(rig->server.counters.reverse_timeouts, 1 + REQUESTER_QUEUE_MAX_REVERSE);
	call_forward(2);
	end();
}
END_TEST

/* Sixteen are abandoned; their answers arrive in any order, some twice, between new Calls. */
START_TEST(late_answers_come_in_any_order)
{
	uint32_t xids[RDMA_REVERSE_CREDITS];

	open_client(TIMEOUT_US);
	grant(RDMA_REVERSE_CREDITS);
	for (unsigned i = 0; i < RDMA_REVERSE_CREDITS; i++)
		xids[i] = call_and_see();
	rig_run_for(rig, TIMEOUT_US);
	expect_late(RDMA_REVERSE_CREDITS);
	for (unsigned i = 0; i < RDMA_REVERSE_CREDITS; i++) {
		unsigned at = (i * 7 + 3) % RDMA_REVERSE_CREDITS;

		answer(xids[at], RDMA_REVERSE_CREDITS);
		ck_assert_uint_eq(rig->server.counters.reverse_late_replies, i + 1);
		ck_assert_uint_eq(info_of().credits_available, i + 1);
		if (i % 4 == 0) {
			answer(call_and_see(), RDMA_REVERSE_CREDITS);
			ck_assert_uint_eq(rig->server.answered, i / 4 + 1);
			call_forward(0x5000 + i);
		}
	}
	ck_assert_uint_eq(rig->server.wrong, 0);
	end();
}
END_TEST

enum late_kind { LATE_ERR_CHUNK, LATE_ERR_VERS, LATE_GARBAGE, LATE_GRANTS_NOTHING, LATE_KINDS };

/* An error in an answer to an abandoned Call has no other effect. */
START_TEST(any_late_answer_gives_the_credit_back)
{
	uint8_t reply[24];
	uint32_t xid;

	open_client(TIMEOUT_US);
	xid = call_and_see();
	rig_run_for(rig, TIMEOUT_US);
	expect_late(1);
	switch ((enum late_kind)_i) {
	case LATE_ERR_CHUNK:
	case LATE_ERR_VERS: {
		struct rpcrdma_header h;

		rpcrdma_header_init(&h, xid, version, 1, RPCRDMA_ERROR);
		h.error = _i == LATE_ERR_VERS ? RPCRDMA_ERR_VERS : RPCRDMA_ERR_CHUNK;
		h.vers_low = h.vers_high = 1;
		raw_send_header(raw, &h, NULL, 0);
		break;
	}
	case LATE_GARBAGE: {
		uint8_t out[20];

		/* An RDMA_ERROR of a version that there is not. */
		be32_put(out, xid);
		be32_put(out + 4, 7);
		be32_put(out + 8, 1);
		be32_put(out + 12, RPCRDMA_ERROR);
		be32_put(out + 16, RPCRDMA_ERR_CHUNK);
		raw_send(raw, out, 20);
		break;
	}
	default:
		rig_fill_reply(reply, sizeof(reply), xid);
		send_header(xid, RPCRDMA_MSG, 0, reply, sizeof(reply));
		break;
	}
	ck_assert_uint_eq(rig->server.counters.reverse_late_replies, 1);
	ck_assert_uint_eq(rig->server.closed, 0);
	ck_assert_uint_eq(rig->server.faults, 1);
	answer(call_and_see(), 1);
	call_forward(2);
	end();
}
END_TEST

/* It could not be told whose Reply it is: not before the first has come. */
START_TEST(the_xid_of_a_timed_out_call_stays_in_use)
{
	uint32_t xid;

	open_client(TIMEOUT_US);
	grant(4);
	xid = call_and_see();
	rig_run_for(rig, TIMEOUT_US);
	expect_late(1);
	rig->next_xid = xid;
	call_behind(100, 100);
	expect_silence();
	ck_assert_uint_eq(rig->server.faults, 2);
	ck_assert_int_eq(rig->server.last_fault, EXCHANGE_FAULT_CANT_SEND);
	answer(xid, 4);
	rig->next_xid = xid;
	answer(call_and_see(), 4);
	ck_assert_uint_eq(rig->server.answered, 1);
	end();
}
END_TEST

/* A Receive for each Reply that can arrive, in addition to those of the grant and the reserve. */
START_TEST(the_receives_of_late_answers_stay)
{
	uint64_t before, with;

	open_client(TIMEOUT_US);
	grant(4);
	before = info_of().recv_posted_bytes;
	for (unsigned i = 0; i < 4; i++)
		call_and_see();
	with = info_of().recv_posted_bytes;
	ck_assert_uint_gt(with, before);
	rig_run_for(rig, TIMEOUT_US);
	expect_late(4);
	for (unsigned i = 0; i < 50; i++)
		call_forward(0x5000 + i);
	ck_assert_uint_ge(info_of().recv_posted_bytes, with);
	end();
}
END_TEST

START_TEST(a_drain_does_not_wait_for_it)
{
	open_client(TIMEOUT_US);
	call_and_see();
	leg_drain(rig->server.leg);
	rig_run_for(rig, TIMEOUT_US - 1000);
	ck_assert_uint_eq(rig->server.closed, 0);
	rig_run_for(rig, SECOND);
	expect_late(1);
	ck_assert_uint_eq(rig->server.closed, 1);
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_SHUTDOWN);
	end();
}
END_TEST

START_TEST(a_drain_does_not_wait_for_a_timed_out_call)
{
	open_client(TIMEOUT_US);
	call_and_see();
	rig_run_for(rig, TIMEOUT_US);
	leg_drain(rig->server.leg);
	rig_run_for(rig, 1000);
	ck_assert_uint_eq(rig->server.closed, 1);
	end();
}
END_TEST

START_TEST(a_late_call_ends_with_its_connection)
{
	open_client(TIMEOUT_US);
	grant(4);
	for (unsigned i = 0; i < 8; i++) {
		if (i == 4)
			rig_run_for(rig, SECOND);
		call_behind(100, 100);
	}
	/* All sent ones are abandoned, or those in the queue too. */
	rig_run_for(rig, TIMEOUT_US - (_i & 1 ? 0 : SECOND));
	expect_late(_i & 1 ? 8 : 4);
	if (_i & 2)
		sim_net_cut(rig->net);
	else
		leg_close(rig->server.leg, LEG_CLOSE_LOCAL);
	rig_run_for(rig, 1000);
	ck_assert_uint_eq(rig->server.closed, 1);
	end();
}
END_TEST

/* A leg without reverse Calls has no timer for them. */
START_TEST(the_first_reverse_call_makes_the_timer)
{
	struct rdma_leg *leg;

	open_client(TIMEOUT_US);
	leg = rdma_leg_of(rig->server.leg);
	ck_assert_ptr_null(leg->requester.reverse_timeout.timer);
	answer(call_and_see(), 1);
	ck_assert_ptr_nonnull(leg->requester.reverse_timeout.timer);
	ck_assert(leg->requester.reverse_timeout.set);
	rig_run_for(rig, TIMEOUT_US);
	ck_assert(!leg->requester.reverse_timeout.set);
	end();
}
END_TEST

/* ---- with exposed memory ---- */

static struct rpcrdma_segment call_seg, reply_seg;

/* A Call that goes by chunk, whose Reply is to come so. */
static uint32_t call_long(void)
{
	uint32_t xid = call_behind(LONG_BYTES, LONG_BYTES);

	next();
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_int_eq(hdr.proc, RPCRDMA_NOMSG);
	call_seg = hdr.reads[0].seg;
	reply_seg = hdr.segments[hdr.reply_chunk.first];
	return xid;
}

static void expect_readable(uint32_t xid)
{
	uint8_t got[LONG_BYTES], want[LONG_BYTES];

	rig_fill_call(want, LONG_BYTES, xid, LONG_BYTES);
	ck_assert_int_eq(raw_read(raw, got, LONG_BYTES, call_seg.handle, call_seg.offset),
			 FABRIC_OK);
	ck_assert_mem_eq(got, want, LONG_BYTES);
}

static void write_reply(uint32_t xid)
{
	uint8_t reply[LONG_BYTES];

	rig_fill_reply(reply, LONG_BYTES, xid);
	ck_assert_int_eq(raw_write(raw, reply, LONG_BYTES, reply_seg.handle, reply_seg.offset),
			 FABRIC_OK);
}

static void send_long_reply(uint32_t xid)
{
	struct rpcrdma_header h;

	rpcrdma_header_init(&h, xid, version, 1, RPCRDMA_NOMSG);
	h.has_reply_chunk = true;
	h.reply_chunk = (struct rpcrdma_chunk){0, 1, reply_seg.len_bytes};
	h.segments[h.nsegments++] = reply_seg;
	raw_send_header(raw, &h, NULL, 0);
}

/* In the reverse direction too a peer may claim only what it has written. */
START_TEST(a_reverse_reply_that_was_not_written_fails)
{
	static const uint32_t written[] = {0, 1024, LONG_BYTES - 1};
	uint8_t reply[LONG_BYTES];
	uint32_t xid;

	open_with_chunks(NULL);
	xid = call_long();
	rig_fill_reply(reply, LONG_BYTES, xid);
	ck_assert_int_eq(raw_write(raw, reply, written[_i], reply_seg.handle, reply_seg.offset),
			 FABRIC_OK);
	send_long_reply(xid);
	rig_run_for(rig, 1000);
	ck_assert_uint_eq(rig->server.answered, 0);
	ck_assert_uint_eq(rig->server.faults, 1);
	ck_assert_int_eq(rig->server.last_fault, EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(rig->server.counters.bad_replies, 1);
	rig->server.faults = 0;
	xid = call_long();
	write_reply(xid);
	send_long_reply(xid);
	rig_run_for(rig, 1000);
	ck_assert_uint_eq(rig->server.answered, 1);
	ck_assert_uint_eq(rig->server.faults, 0);
	end();
}
END_TEST

static size_t used_bytes(void)
{
	return rig->budget.account.used_bytes;
}

/* Its memory is there for the peer, and counted, until the late answer. */
START_TEST(exposed_memory_stays_until_the_late_reply)
{
	const struct sim_faults faults = {.async_unbind = _i};
	uint32_t xid;

	open_with_chunks(&faults);
	xid = call_long();
	rig_run_for(rig, TIMEOUT_US);
	expect_late(1);
	ck_assert_uint_ge(used_bytes(), 2 * rpc_msg_cost_bytes(LONG_BYTES));
	expect_readable(xid);
	write_reply(xid);
	call_forward(2);
	send_long_reply(xid);
	rig_run_for(rig, 1000);
	ck_assert_uint_eq(rig->server.counters.reverse_late_replies, 1);
	ck_assert_uint_eq(rig->server.answered, 0);
	ck_assert_uint_eq(used_bytes(), 0);
	ck_assert_uint_eq(info_of().credits_available, 1);
	/* Invalidated memory is unreachable. */
	ck_assert_int_ne(raw_read(raw, (uint8_t[4]){0}, 4, call_seg.handle, call_seg.offset),
			 FABRIC_OK);
	end();
}
END_TEST

/* And until the end of the connection. */
START_TEST(exposed_memory_is_freed_with_the_connection)
{
	const struct sim_faults faults = {.async_unbind = _i & 1};

	open_with_chunks(&faults);
	call_long();
	call_behind(LONG_BYTES, LONG_BYTES);
	rig_run_for(rig, TIMEOUT_US);
	expect_late(2);
	if (_i & 2)
		sim_net_cut(rig->net);
	end();
}
END_TEST

/* A Send with Invalidate can invalidate a key that was exposed for it, as always. */
START_TEST(a_late_answer_may_invalidate)
{
	uint8_t out[256];
	struct rpcrdma_header h;
	uint32_t xid;

	open_with_chunks(NULL);
	xid = call_behind(100, LONG_BYTES);
	next();
	reply_seg = hdr.segments[hdr.reply_chunk.first];
	rig_run_for(rig, TIMEOUT_US);
	write_reply(xid);
	rpcrdma_header_init(&h, xid, version, 1, RPCRDMA_NOMSG);
	h.has_reply_chunk = true;
	h.reply_chunk = (struct rpcrdma_chunk){0, 1, reply_seg.len_bytes};
	h.segments[h.nsegments++] = reply_seg;
	raw_send_inv(raw, out, rpcrdma_header_encode(&h, out, sizeof(out)), reply_seg.handle);
	ck_assert_uint_eq(rig->server.counters.reverse_late_replies, 1);
	ck_assert_uint_eq(rig->server.closed, 0);
	call_forward(2);
	end();
}
END_TEST

/* A Call that still comes has its own time limit; this one begins when it is whole. */
START_TEST(an_incomplete_call_does_not_time_out)
{
	struct exchange *x;
	uint32_t xid;

	open_with_chunks(NULL);
	x = rig_call_in_pieces(&rig->server, LONG_BYTES, LONG_BYTES, LONG_BYTES, 8500);
	xid = x->call_info.hdr.xid;
	rig_run_for(rig, 100);
	next();
	call_seg = hdr.reads[0].seg;
	rig_run_for(rig, TIMEOUT_US + TIMEOUT_US / 2);
	expect_late(0);
	rig_call_grow(&rig->server, x, LONG_BYTES);
	rig_run_for(rig, TIMEOUT_US / 2);
	expect_late(1);
	expect_readable(xid);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reverse_late");
	TCase *tc = tcase_create("reverse_late");

	tcase_add_test(tc, a_call_without_an_answer_fails_in_its_time);
	tcase_add_test(tc, an_answer_in_time_is_none_that_is_late);
	tcase_add_test(tc, without_a_time_a_call_waits_for_ever);
	tcase_add_test(tc, a_call_that_is_held_fails_too);
	tcase_add_test(tc, a_call_that_waits_for_the_credit_of_a_late_one_is_sent);
	tcase_add_test(tc, the_timeout_of_a_call_includes_its_wait_for_a_credit);
	tcase_add_loop_test(tc, the_last_of_many_is_as_the_first, 0, 2);
	tcase_add_test(tc, more_than_may_wait_fail_at_once);
	tcase_add_test(tc, late_answers_come_in_any_order);
	tcase_add_loop_test(tc, any_late_answer_gives_the_credit_back, 0, LATE_KINDS);
	tcase_add_test(tc, the_xid_of_a_timed_out_call_stays_in_use);
	tcase_add_test(tc, the_receives_of_late_answers_stay);
	tcase_add_test(tc, a_drain_does_not_wait_for_it);
	tcase_add_test(tc, a_drain_does_not_wait_for_a_timed_out_call);
	tcase_add_loop_test(tc, a_late_call_ends_with_its_connection, 0, 4);
	tcase_add_test(tc, the_first_reverse_call_makes_the_timer);
	tcase_add_loop_test(tc, a_reverse_reply_that_was_not_written_fails, 0, 3);
	tcase_add_loop_test(tc, exposed_memory_stays_until_the_late_reply, 0, 2);
	tcase_add_loop_test(tc, exposed_memory_is_freed_with_the_connection, 0, 4);
	tcase_add_test(tc, a_late_answer_may_invalidate);
	tcase_add_test(tc, an_incomplete_call_does_not_time_out);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
