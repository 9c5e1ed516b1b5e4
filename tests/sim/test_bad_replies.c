// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Replies whose header does not decode or is unusable, in every dialect and in both
 * directions. Each ends its Call immediately, nothing is sent in response, and the connection stays
 * open (X-3, A4.2-3).
 */
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/requester.h"
#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

#define ROLES      2 /* the leg has connected, or was connected to */
#define TIMEOUT_US 8000000u

/* What the leg under test speaks. */
static const struct {
	uint32_t version;
	enum dialect_id version_one;
} spoken[] = {
	{RPCRDMA_VERSION_ONE, DIALECT_RFC8166},
	{RPCRDMA_VERSION_ONE, DIALECT_DRAFT03},
	{RPCRDMA_VERSION_TWO, DIALECT_RFC8166},
};

/* The words behind the XID, version and credit; a version of 0: the one that is spoken. */
#define WORDS_MAX 16u
static const struct bad_form {
	uint32_t version, nwords;
	uint32_t words[WORDS_MAX];
	bool with_reply; /* an RPC Reply follows */
} forms[] = {
	/* RDMA_MSG */
	{0, 4, {RPCRDMA_MSG, 7, 0, 0}, true},
	{0, 4, {RPCRDMA_MSG, 0, 3, 0}, true},
	{0, 4, {RPCRDMA_MSG, 0, 0, 9}, true},
	{0, 5, {RPCRDMA_MSG, 0, 1, 0x10000001, 0}, true},
	{0, 5, {RPCRDMA_MSG, 0, 0, 1, UINT32_MAX}, true},
	{0, 10, {RPCRDMA_MSG, 1, 3, 1, 100, 0, 0, 0, 0, 0}, true}, /* a position inside of a word */
	/* Two segments that overlap. */
	{0, 13, {RPCRDMA_MSG, 0, 0, 1, 2, 5, 8, 0, 0, 5, 8, 0, 4}, true},
	/* Its message is neither Call nor Reply. */
	{0, 14, {RPCRDMA_MSG, 0, 0, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0}, false},
	/* RDMA_NOMSG */
	{0, 8, {RPCRDMA_NOMSG, 2, 0, 0, 0, 0, 0, 0}, false},
	{0, 8, {RPCRDMA_NOMSG, 0, 2, 0, 0, 0, 0, 0}, false},
	{0, 8, {RPCRDMA_NOMSG, 0, 0, 7, 0, 0, 0, 0}, false},
	{0, 8, {RPCRDMA_NOMSG, 0, 0, 1, UINT32_MAX, 0, 0, 0}, false},
	/* RDMA_MSGP, with lists that do not decode, and with pads that cannot be. */
	{0, 8, {RPCRDMA_MSGP, 8, 16, 7, 0, 0, 0, 0}, true},
	{0, 6, {RPCRDMA_MSGP, 1u << 30, 16, 0, 0, 0}, true},
	/* Types that no document has. */
	{0, 8, {66, 0, 0, 0, 0, 0, 0, 0}, true},
	{0, 8, {UINT32_MAX, 1, 1, 1, 1, 1, 1, 1}, false},
	/* Versions that the connection does not speak: one that does not exist, … */
	{99, 4, {RPCRDMA_MSG, 0, 0, 0}, true},
	{99, 4, {RPCRDMA_MSG, 0, 3, 0}, true},
	{99, 8, {RPCRDMA_NOMSG, 0, 0, 1, 0, 0, 0, 0}, false},
	/* … and the other one. */
	{1, 4, {RPCRDMA_MSG, 0, 3, 0}, true},
	{1, 9, {RPCRDMA_NOMSG, 0, 0, 1, 1, 5, 100, 0, 0}, false},
	{2, 4, {RPCRDMA_MSG, 0, 3, 0}, true},
	{2, 9, {RPCRDMA_NOMSG, 0, 0, 1, 1, 5, 100, 0, 0}, false},
	{2, 9, {RPCRDMA_MSG, 0, 0, 1, 1, 5, 100, 0, 0}, true},
};

static uint32_t version; /* that is spoken */
static struct rig_side *side;

static void begin(unsigned dialect, bool connector)
{
	version = spoken[dialect].version;
	v2_begin(NULL);
	rig->server.config.reverse_timeout_us = TIMEOUT_US;
	if (version == RPCRDMA_VERSION_TWO) {
		side = v2_meet(connector);
		return;
	}
	rig->client.config.highest_version = rig->server.config.highest_version = version;
	rig->client.config.version_one = spoken[dialect].version_one;
	rig->server.config.version_one = spoken[dialect].version_one;
	if (connector) {
		side = &rig->client;
		raw = raw_open_server(rig, NULL, 0);
		return;
	}
	side = &rig->server;
	raw = raw_open_client(rig, NULL, 0);
	v2_send_call(version, 2, RIG_CALL_MIN, 100);
	v2_next_reply(version, 2, 100);
}

/* A Call of the leg, which its peer has. */
static uint32_t call(void)
{
	uint32_t xid = rig_call(side, RIG_CALL_MIN, 200, 200);

	v2_run(1);
	v2_next_call(version);
	ck_assert_uint_eq(v2_hdr.xid, xid);
	return xid;
}

static void send_words(uint32_t vers, uint32_t xid, const struct bad_form *form)
{
	uint8_t bytes[12 + 4 * WORDS_MAX + 200];
	uint32_t n = 12;

	be32_put(bytes, xid);
	be32_put(bytes + 4, vers);
	be32_put(bytes + 8, 32);
	for (uint32_t i = 0; i < form->nwords; i++, n += 4)
		be32_put(bytes + n, form->words[i]);
	if (form->with_reply) {
		rig_fill_reply(bytes + n, 200, xid);
		n += 200;
	}
	raw_send(raw, bytes, n);
}

static void send_form(const struct bad_form *form, uint32_t xid)
{
	send_words(form->version ? form->version : version, xid, form);
}

/* Nothing has been said of what came, and the next Call is answered. */
static void expect_quiet(void)
{
	unsigned answered = side->answered;
	uint32_t xid;

	v2_silence();
	ck_assert_uint_eq(side->counters.err_chunk_sent, 0);
	ck_assert_uint_eq(side->counters.err_vers_sent, 0);
	ck_assert_uint_eq(side->counters.bad_calls, 0);
	ck_assert_uint_eq(side->closed, 0);
	xid = call();
	v2_send_reply(version, xid, 200, 32);
	ck_assert_uint_eq(side->answered, answered + 1);
	ck_assert_uint_eq(side->wrong, 0);
}

/* _i: the dialect, the role and the form. */
START_TEST(a_reply_that_cannot_be_used_ends_its_call)
{
	const struct bad_form *form = &forms[(unsigned)_i % ARRAY_SIZE(forms)];
	unsigned cell = (unsigned)_i / ARRAY_SIZE(forms);
	unsigned notes;
	uint32_t xid;

	begin(cell / ROLES, cell % ROLES);
	if (form->version == version)
		return;
	xid = call();
	notes = side->notes;
	send_form(form, xid);
	ck_assert_uint_eq(side->faults, 1);
	ck_assert_int_eq(side->last_fault, EXCHANGE_FAULT_BAD_REPLY);
	ck_assert_uint_eq(side->counters.bad_replies, 1);
	ck_assert_uint_eq(side->notes, notes + 1);
	expect_quiet();
}
END_TEST

/* It ends its own Call, and no other. */
START_TEST(other_calls_continue)
{
	unsigned cell = (unsigned)_i;
	uint32_t xids[3];

	begin(cell / ROLES, cell % ROLES);
	v2_send_reply(version, call(), 200, 32);
	for (unsigned i = 0; i < 3; i++)
		xids[i] = call();
	send_form(&forms[1], xids[1]);
	ck_assert_uint_eq(side->faults, 1);
	v2_send_reply(version, xids[2], 200, 32);
	v2_send_reply(version, xids[0], 200, 32);
	ck_assert_uint_eq(side->answered, 3);
	expect_quiet();
}
END_TEST

/*
 * A second one is for a Call that waits no more. In version two it counts as a Call then, as ever.
 */
START_TEST(without_a_call_that_waits_it_is_taken_as_before)
{
	uint32_t xid;

	begin(2, _i);
	xid = call();
	send_form(&forms[1], xid);
	ck_assert_uint_eq(side->faults, 1);
	send_form(&forms[1], xid);
	raw_expect_error(raw, xid, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(side->counters.bad_calls, 1);
	ck_assert_uint_eq(side->closed, 0);
}
END_TEST

/*
 * XIDs of the two directions are apart: what says that it is a Call is refused, whatever waits with
 * its XID.
 */
static const struct {
	struct bad_form form;
	uint32_t error;
} calls[] = {
	/* Version two: a read list begins. */
	{{0, 5, {RPCRDMA_NOMSG, 1, 3, 0, 0}, false}, RPCRDMA_ERR_CHUNK},
	/* Without chunks, in a version that nobody speaks: the type of its message. */
	{{99, 14, {RPCRDMA_MSG, 0, 0, 0, 0, RPC_CALL, 2, 100003, 3, 0, 0, 0, 0, 0}, false},
	 RPCRDMA_ERR_VERS},
	/* Neither Call nor Reply. */
	{{0, 1, {RPCRDMA_DONE}, false}, RPCRDMA_ERR_CHUNK},
	{{0, 4, {RPCRDMA_OPTIONAL, 1, 32, 0}, false}, RPCRDMA_ERR_CHUNK},
};

START_TEST(a_call_instead_of_a_reply_is_refused)
{
	unsigned i = (unsigned)_i / ROLES;
	uint32_t xid;

	begin(2, _i % ROLES);
	xid = call();
	send_form(&calls[i].form, xid);
	raw_expect_error(raw, xid, calls[i].error);
	ck_assert_uint_eq(side->faults, 0);
	v2_send_reply(version, xid, 200, 32);
	ck_assert_uint_eq(side->answered, 1);
	ck_assert_uint_eq(side->closed, 0);
}
END_TEST

/* An RDMA_MSGP is no use in RFC 8166, but its message says what it is. */
START_TEST(an_aligned_call_is_refused_by_either_end)
{
	static const struct bad_form aligned = {
		.nwords = 16,
		.words = {RPCRDMA_MSGP, 8, 16, 0, 0, 0, 77, RPC_CALL, 2, 100003, 3, 0, 0, 0, 0, 0}};
	uint32_t xid;

	begin(0, _i);
	xid = call();
	send_form(&aligned, 77);
	raw_expect_error(raw, 77, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(side->closed, 0);
	v2_send_reply(version, xid, 200, 32);
	ck_assert_uint_eq(side->answered, 1);
}
END_TEST

/* A Call of our own waits for an answer too. */
START_TEST(a_null_call_of_our_own_ends_as_well)
{
	struct call_info like = {.hdr.prog = 100003, .hdr.vers = 3};
	struct requester *rq;

	begin((unsigned)_i, true);
	rq = &v2_leg(side)->requester;
	requester_null_reserve_credit(rq);
	v2_send_reply(version, call(), 200, 3);
	ck_assert(requester_null_send(rq, 0x77, &like));
	v2_run(1);
	v2_next_call(version);
	send_form(&forms[1], 0x77);
	ck_assert_uint_eq(side->counters.null_calls_answered, 1);
	ck_assert_uint_eq(side->faults, 0);
	expect_quiet();
}
END_TEST

/* A Call that was abandoned because its answer was late has released its credit. */
START_TEST(a_late_one_gives_the_credit_back)
{
	struct leg_info info;
	uint32_t xid;

	begin((unsigned)_i, false);
	xid = call();
	v2_run(TIMEOUT_US / 1000);
	ck_assert_uint_eq(side->counters.reverse_timeouts, 1);
	send_form(&forms[1], xid);
	ck_assert_uint_eq(side->counters.reverse_late_replies, 1);
	leg_info(side->leg, &info);
	ck_assert_uint_eq(info.calls_abandoned, 0);
	expect_quiet();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bad_replies");
	TCase *tc = tcase_create("bad_replies");
	const int cells = ARRAY_SIZE(spoken) * ROLES;

	tcase_add_checked_fixture(tc, NULL, v2_end);
	tcase_add_loop_test(tc, a_reply_that_cannot_be_used_ends_its_call, 0,
			    cells * (int)ARRAY_SIZE(forms));
	tcase_add_loop_test(tc, other_calls_continue, 0, cells);
	tcase_add_loop_test(tc, without_a_call_that_waits_it_is_taken_as_before, 0, ROLES);
	tcase_add_loop_test(tc, a_call_instead_of_a_reply_is_refused, 0,
			    (int)ARRAY_SIZE(calls) * ROLES);
	tcase_add_loop_test(tc, an_aligned_call_is_refused_by_either_end, 0, ROLES);
	tcase_add_loop_test(tc, a_null_call_of_our_own_ends_as_well, 0, ARRAY_SIZE(spoken));
	tcase_add_loop_test(tc, a_late_one_gives_the_credit_back, 0, ARRAY_SIZE(spoken));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
