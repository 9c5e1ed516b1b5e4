// SPDX-License-Identifier: BSD-3-Clause
/* Tests long Calls that the responder delivers in parts, as their Reads complete. */
#include <stdlib.h>
#include <string.h>

#include "rpcrdma/responder_rpc.h"
#include "tests/lib/test.h"
#include "tests/sim/pieces.h"

#define HEAD  100u
#define TAIL  40u
#define DATA  700000u
#define CALL  (HEAD + DATA + TAIL)
#define XID   77u
#define READ  RESPONDER_READ_BYTES
#define REPLY 60u

static uint8_t *call;

/* A Call whose data are in @nsegments chunks' segments, none of which is ready. Returns the first. */
static struct fabric_key *begin_call(unsigned nsegments, bool partial)
{
	struct rpcrdma_header hdr;
	struct fabric_key *first = NULL;
	uint8_t inlined[HEAD + TAIL];

	fake_nfs_reset();
	rig = rig_new(NULL);
	rig->server.hold = true;
	rig->server.config.leg.partial = partial;
	raw = raw_open_client(rig, pd_4096, sizeof(pd_4096));
	call = malloc(CALL);
	rig_fill_call(call, CALL, XID, REPLY);
	rpcrdma_header_init(&hdr, XID, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	for (unsigned i = 0; i < nsegments; i++) {
		struct fabric_key *key = raw_lend_slowly(raw, call + HEAD + i * (DATA / nsegments),
							 DATA / nsegments);

		if (!first)
			first = key;
		hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){HEAD, raw_segment(key)};
	}
	memcpy(inlined, call, HEAD);
	memcpy(inlined + HEAD, call + CALL - TAIL, TAIL);
	raw_send_header(raw, &hdr, inlined, sizeof(inlined));
	return first;
}

static void end(void)
{
	free(call);
	pieces_end();
}

static void ready(struct fabric_key *key, uint32_t bytes)
{
	fabric_key_ready(key, bytes);
	rig_run_for(rig, 10000);
}

static void expect_here(const struct exchange *x, uint32_t have)
{
	ck_assert_uint_eq(x->call.len_bytes, CALL);
	ck_assert_uint_eq(x->call.have_bytes, have);
	ck_assert_mem_eq(x->call.data, call, have);
}

static void expect_reply(void)
{
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len;

	rig_run(rig);
	raw_next_header(raw, &hdr, &body, &len);
	ck_assert_uint_eq(hdr.xid, XID);
	ck_assert_uint_eq(len, REPLY);
}

START_TEST(a_long_call_is_delivered_before_it_is_complete)
{
	struct fabric_key *key = begin_call(1, true);
	struct exchange *x;

	ready(key, READ - 1);
	ck_assert_uint_eq(rig->server.calls, 0);
	ready(key, READ);
	ck_assert_uint_eq(rig->server.calls, 1);
	x = TAILQ_FIRST(&rig->server.held);
	expect_here(x, HEAD + READ);
	ready(key, 2 * READ);
	ck_assert_uint_eq(rig->server.more_events, 1);
	expect_here(x, HEAD + 2 * READ);
	/* What is behind the data came with the Send. */
	ready(key, DATA);
	ck_assert_uint_eq(rig->server.more_events, 2);
	expect_here(x, CALL);
	rig_answer_held(&rig->server);
	expect_reply();
	end();
}
END_TEST

/* None of them is worth a word: parts of 64 KiB are, and of those the call is the first. */
START_TEST(short_segments_are_delivered_together)
{
	const unsigned segments = 50, of_a_part = RESPONDER_PART_BYTES / (DATA / segments) + 1;
	struct fabric_key *key = begin_call(segments, true);

	for (unsigned i = 0; i < segments; i++)
		ready(&key[i], DATA / segments);
	ck_assert_uint_eq(rig->server.calls, 1);
	/* The first part is the call, and the last one what is left. */
	ck_assert_uint_eq(rig->server.more_events, (segments - 1) / of_a_part);
	expect_here(TAILQ_FIRST(&rig->server.held), CALL);
	rig_answer_held(&rig->server);
	expect_reply();
	end();
}
END_TEST

/* Its Reads are out until then, and so is its XID. */
START_TEST(an_early_reply_is_sent_when_the_call_is_complete)
{
	struct fabric_key *key = begin_call(1, true);

	ready(key, READ);
	rig_answer_held(&rig->server);
	rig_run_for(rig, 10000);
	ck_assert_uint_eq(sends_waiting(), 0);
	ready(key, DATA - 1);
	ck_assert_uint_eq(sends_waiting(), 0);
	ready(key, DATA);
	expect_reply();
	end();
}
END_TEST

START_TEST(a_truncated_call_never_becomes_complete)
{
	struct fabric_key *key = begin_call(1, true);
	struct exchange *x;

	ready(key, 2 * READ + _i);
	x = exchange_ref(TAILQ_FIRST(&rig->server.held));
	if (_i)
		sim_net_cut(rig->net);
	else
		leg_close(rig->server.leg, LEG_CLOSE_PEER);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.closed, 1);
	expect_here(x, HEAD + 2 * READ);
	exchange_put(x);
	end();
}
END_TEST

START_TEST(a_leg_that_drains_waits_for_it)
{
	struct fabric_key *key = begin_call(1, true);

	ready(key, READ);
	leg_drain(rig->server.leg);
	rig_run_for(rig, 10000);
	ck_assert_uint_eq(rig->server.closing, 0);
	ready(key, DATA);
	rig_answer_held(&rig->server);
	expect_reply();
	ck_assert_int_eq(rig->server.why, LEG_CLOSE_SHUTDOWN);
	end();
}
END_TEST

START_TEST(a_call_is_delivered_complete_unless_the_owner_accepts_parts)
{
	struct fabric_key *key = begin_call(1, false);

	ready(key, DATA - 1);
	ck_assert_uint_eq(rig->server.calls, 0);
	ready(key, DATA);
	ck_assert_uint_eq(rig->server.calls, 1);
	ck_assert_uint_eq(rig->server.more_events, 0);
	rig_answer_held(&rig->server);
	expect_reply();
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder_call_parts");
	TCase *tc = tcase_create("responder_parts");

	tcase_add_test(tc, a_long_call_is_delivered_before_it_is_complete);
	tcase_add_test(tc, short_segments_are_delivered_together);
	tcase_add_test(tc, an_early_reply_is_sent_when_the_call_is_complete);
	tcase_add_loop_test(tc, a_truncated_call_never_becomes_complete, 0, 2);
	tcase_add_test(tc, a_leg_that_drains_waits_for_it);
	tcase_add_test(tc, a_call_is_delivered_complete_unless_the_owner_accepts_parts);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
