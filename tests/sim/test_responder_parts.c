// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Replies whose payloads are written while they still arrive: only bytes that have arrived
 * are written, and the Send follows all Writes.
 */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/work_request.h"
#include "tests/lib/test.h"
#include "tests/sim/pieces.h"

#define XID       77u
#define BEFORE    100u /* bytes in front of the payload, */
#define BEHIND    52u  /* and behind it */
#define PAYLOAD   299996u
#define TOTAL     (BEFORE + PAYLOAD + BEHIND)
#define UNTOUCHED 0xee

static struct fabric_key *landing[2];
static uint8_t whole[TOTAL];

/*
 * The Call of a hand-made client, with a write chunk of two segments for the payload; it waits for
 * its answer.
 */
static void open_call(uint32_t chunk_bytes)
{
	uint32_t first = chunk_bytes / 3;
	struct rpcrdma_header hdr;
	uint8_t call[RIG_CALL_MIN];

	fake_nfs_reset();
	fake_reply_payloads[0] = (struct rpc_payload){BEFORE, PAYLOAD};
	fake_nreply_payloads = 1;
	rig = rig_new(NULL);
	rig->server.hold = true;
	raw = raw_open_client(rig, pd_4096, sizeof(pd_4096));
	rpcrdma_header_init(&hdr, XID, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	landing[0] = raw_lend(raw, NULL, first, FABRIC_REMOTE_WRITE);
	landing[1] = raw_lend(raw, NULL, chunk_bytes - first, FABRIC_REMOTE_WRITE);
	for (unsigned i = 0; i < 2; i++)
		hdr.segments[hdr.nsegments++] = raw_segment(landing[i]);
	hdr.writes[hdr.nwrites++] = (struct rpcrdma_chunk){0, 2, chunk_bytes};
	rig_fill_call(call, sizeof(call), XID, TOTAL);
	rig_fill_reply(whole, TOTAL, XID);
	raw_send_header(raw, &hdr, call, sizeof(call));
	ck_assert_uint_eq(rig->server.calls, 1);
}

static void grow(struct exchange *x, uint32_t have_bytes)
{
	rig_reply_grow(&rig->server, x, have_bytes);
	rig_run_for(rig, 1000);
}

/*
 * How much of the payload has come to the client: all that is there is right, and there is nothing
 * behind it.
 */
static uint32_t written(void)
{
	const uint8_t *want = whole + BEFORE;
	uint32_t done = 0, untouched = 0;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t at = 0, len = landing[i]->len_bytes;

		while (!untouched && at < len && done < PAYLOAD &&
		       landing[i]->mem[at] == want[done])
			at++, done++;
		while (at < len && landing[i]->mem[at] == UNTOUCHED)
			at++, untouched++;
		ck_assert_uint_eq(at, len);
	}
	return done;
}

static void expect_whole_reply(void)
{
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len;

	rig_run(rig);
	raw_next_header(raw, &hdr, &body, &len);
	ck_assert_int_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(hdr.nwrites, 1);
	ck_assert_uint_eq(hdr.writes[0].len_bytes, PAYLOAD);
	ck_assert_uint_eq(hdr.segments[0].len_bytes, landing[0]->len_bytes);
	ck_assert_uint_eq(hdr.segments[1].len_bytes, PAYLOAD - landing[0]->len_bytes);
	ck_assert_uint_eq(len, BEFORE + BEHIND);
	ck_assert_mem_eq(body, whole, BEFORE);
	ck_assert_mem_eq(body + BEFORE, whole + BEFORE + PAYLOAD, BEHIND);
	ck_assert_uint_eq(written(), PAYLOAD);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(rig->server.counters.write_chunk_bytes_pushed, PAYLOAD);
}

static void end(struct exchange *x)
{
	exchange_put(x);
	pieces_end();
}

/* However it grows: by so much each time. */
static const uint32_t steps[] = {
	20011,
	WORK_REQUEST_MIN_WRITE_BYTES - 1,
	WORK_REQUEST_MIN_WRITE_BYTES,
	WORK_REQUEST_MIN_WRITE_BYTES + 1,
	200000,
	PAYLOAD,
};

START_TEST(a_payload_is_written_as_it_comes)
{
	uint32_t have = 0, seen = 0;
	struct exchange *x;

	open_call(300000);
	x = rig_answer_in_pieces(&rig->server, 0);
	while (have + steps[_i] < TOTAL) {
		uint32_t there = seen < BEFORE ? 0 : seen - BEFORE;

		have += steps[_i];
		grow(x, have);
		ck_assert_uint_eq(sends_waiting(), 0);
		if (have - seen < WORK_REQUEST_MIN_WRITE_BYTES) {
			ck_assert_uint_eq(written(), there);
			continue;
		}
		seen = have;
		there = have - BEFORE < PAYLOAD ? have - BEFORE : PAYLOAD;
		ck_assert_uint_eq(written(), there);
		ck_assert_uint_eq(rig->server.counters.write_chunk_bytes_pushed, there);
	}
	grow(x, TOTAL);
	expect_whole_reply();
	end(x);
}
END_TEST

START_TEST(a_truncated_reply_is_not_sent)
{
	for (uint32_t have = 0; have < TOTAL; have += 19997) {
		struct exchange *x;

		open_call(300000);
		x = rig_answer_in_pieces(&rig->server, 0);
		grow(x, have);
		expect_broken_off(&rig->server);
		ck_assert_uint_eq(sends_waiting(), 0);
		ck_assert_uint_le(written(), have);
		end(x);
	}
}
END_TEST

START_TEST(a_growing_reply_is_not_sent_while_the_leg_closes)
{
	struct exchange *x;

	open_call(300000);
	x = rig_answer_in_pieces(&rig->server, 100000);
	leg_close(rig->server.leg, LEG_CLOSE_PEER);
	rig_reply_grow(&rig->server, x, 200000);
	rig_reply_grow(&rig->server, x, TOTAL);
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_le(written(), 100000);
	end(x);
}
END_TEST

/* Its chunk is too short. */
START_TEST(nothing_is_written_of_one_that_does_not_fit)
{
	struct exchange *x;

	open_call(PAYLOAD - 1);
	x = rig_answer_in_pieces(&rig->server, 0);
	for (uint32_t have = 50000; have < TOTAL; have += 50000)
		grow(x, have);
	ck_assert_uint_eq(written(), 0);
	grow(x, TOTAL);
	raw_expect_error(raw, XID, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(written(), 0);
	end(x);
}
END_TEST

/*
 * Its place does not show before all is here; or so much else comes inline that it might not fit at
 * last.
 */
START_TEST(a_reply_whose_form_is_unknown_waits_until_complete)
{
	enum { NOT_FOUND, SHOWS_LATE, LONG_REST };
	struct exchange *x;

	open_call(300000);
	if (_i == NOT_FOUND)
		fake_nreply_payloads = -22;
	else if (_i == SHOWS_LATE)
		fake_reply_payloads[fake_nreply_payloads++] = (struct rpc_payload){TOTAL - 1, 0};
	else
		fake_reply_payloads[0].len_bytes -= 1024;
	x = rig_answer_in_pieces(&rig->server, 0);
	for (uint32_t have = 50000; have < TOTAL - 1; have += 50000)
		grow(x, have);
	ck_assert_uint_eq(written(), 0);
	ck_assert_uint_eq(rig->server.counters.payloads_not_found, 0);
	grow(x, TOTAL);
	rig_run(rig);
	ck_assert_uint_eq(sends_waiting(), 1);
	end(x);
}
END_TEST

/* Another Call of the client that is answered meanwhile. */
START_TEST(other_replies_pass_it)
{
	struct rpcrdma_header hdr;
	const uint8_t *body;
	struct exchange *x;
	uint32_t len;

	open_call(300000);
	x = rig_answer_in_pieces(&rig->server, 0);
	grow(x, 100000);
	raw_post_call(raw, 2, RIG_CALL_MIN, 500);
	rig_run_for(rig, 1000);
	exchange_put(rig_answer_in_pieces(&rig->server, 500));
	rig_run_for(rig, 1000);
	raw_next_header(raw, &hdr, &body, &len);
	ck_assert_uint_eq(hdr.xid, 2);
	grow(x, 200000);
	grow(x, TOTAL);
	expect_whole_reply();
	end(x);
}
END_TEST

/* A work request for each part, and for each end of a segment within one. */
START_TEST(the_claim_of_a_reply_includes_its_parts)
{
	size_t works = TOTAL / WORK_REQUEST_MIN_WRITE_BYTES + 3;
	struct exchange *x;

	open_call(300000);
	ck_assert_uint_ge(rig->budget.account.used_bytes, rpc_msg_cost_bytes(RIG_CALL_MIN) +
								  rpc_msg_cost_bytes(TOTAL) +
								  work_request_cost_bytes(works));
	x = rig_answer_in_pieces(&rig->server, TOTAL);
	expect_whole_reply();
	end(x);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder_parts");
	TCase *tc = tcase_create("parts");

	tcase_add_loop_test(tc, a_payload_is_written_as_it_comes, 0, ARRAY_SIZE(steps));
	tcase_add_test(tc, a_truncated_reply_is_not_sent);
	tcase_add_test(tc, a_growing_reply_is_not_sent_while_the_leg_closes);
	tcase_add_test(tc, nothing_is_written_of_one_that_does_not_fit);
	tcase_add_loop_test(tc, a_reply_whose_form_is_unknown_waits_until_complete, 0, 3);
	tcase_add_test(tc, other_replies_pass_it);
	tcase_add_test(tc, the_claim_of_a_reply_includes_its_parts);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
