// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the server leg with a client of a later draft of version two, whose messages differ after
 * the first four words. The leg accepts none of them, so that the client can still use version one
 * (X-19).
 */
#include "rpc/xdr.h"
#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

#define XID 0x33000000u

static void setup(void)
{
	v2_begin(NULL);
	v2_open_server();
}

/* Sends of words; the first three are the XID, version two and the credit. */
static void send_words(const uint32_t *words, size_t count)
{
	uint8_t bytes[128];

	for (size_t i = 0; i < count; i++)
		be32_put(bytes + 4 * i, words[i]);
	raw_send(raw, bytes, 4 * count);
}

/* An RPC Call: 10 words behind its XID. */
#define RPC_WORDS RPC_CALL, 2, 400000, 1, 1, 0, 0, 0, 0, 100

static const struct {
	uint32_t words[24];
	size_t count;
	enum rpcrdma_err err;
} strange[] = {
	/* GRANT: a type that is an RDMA_OPTIONAL to us, of an unknown operation. */
	{{XID, 2, 32, 5, 0, 0}, 6, RPCRDMA_ERR_INVAL_OPTION},
	/* Properties: how many, then each with its length; in earlier ones type 5, then 6 and 7. */
	{{XID, 2, 32, 5, 2, 1, 4, 4096, 2, 4, 1}, 11, RPCRDMA_ERR_CHUNK},
	{{XID, 2, 32, 6, 0, 1, 1, 4, 4096}, 9, RPCRDMA_ERR_CHUNK},
	{{XID, 2, 32, 7, 0, 1, 1, 4, 4096}, 9, RPCRDMA_ERR_CHUNK},
	/* A Call inline with a type of its own. */
	{{XID, 2, 32, 10, 0, 0, 0, XID, RPC_WORDS}, 18, RPCRDMA_ERR_CHUNK},
	/* An RDMA_MSG with a handle to invalidate before the lists, … */
	{{XID, 2, 32, 0, 0x1234, 0, 0, 0, XID, RPC_WORDS}, 19, RPCRDMA_ERR_CHUNK},
	{{XID, 2, 32, 0, 0, 0, 0, 0, XID, RPC_WORDS}, 19, RPCRDMA_ERR_CHUNK},
	/* … and flags before that: it looks like a Call with another XID. */
	{{XID, 2, 32, 0, 0, 0, 0, 0, 0, XID, RPC_WORDS}, 20, RPCRDMA_ERR_CHUNK},
};

static void expect_error(uint32_t xid, enum rpcrdma_err err)
{
	v2_next();
	ck_assert_uint_eq(v2_hdr.vers, 2);
	ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_ERROR);
	ck_assert_uint_eq(v2_hdr.xid, xid);
	ck_assert_uint_eq(v2_hdr.error, err);
	v2_silence();
}

/* Version one, from now on alone; or two. */
static void expect_settles(uint32_t vers)
{
	uint32_t other = 3 - vers;

	v2_send_call(vers, XID + 1, RIG_CALL_MIN, 200);
	v2_next_reply(vers, XID + 1, 200);
	ck_assert_uint_eq(v2_leg(&rig->server)->conn.limits.dialect->version, vers);
	v2_send_call(other, XID + 2, RIG_CALL_MIN, 200);
	v2_next();
	ck_assert_uint_eq(v2_hdr.error, RPCRDMA_ERR_VERS);
	ck_assert_uint_eq(v2_hdr.vers_low, vers);
	ck_assert_uint_eq(v2_hdr.vers_high, vers);
	v2_send_call(vers, XID + 3, RIG_CALL_MIN, 900);
	v2_next_reply(vers, XID + 3, 900);
	ck_assert_uint_eq(rig->server.calls, 2);
}

START_TEST(a_client_of_a_later_draft_falls_back_to_version_one)
{
	send_words(strange[_i].words, strange[_i].count);
	expect_error(XID, strange[_i].err);
	expect_settles(1);
}
END_TEST

/* All of them, one after the other. */
START_TEST(invalid_messages_do_not_settle_the_version)
{
	for (size_t i = 0; i < ARRAY_SIZE(strange); i++) {
		send_words(strange[i].words, strange[i].count);
		expect_error(XID, strange[i].err);
	}
	/* An unsupported version is answered with the whole range. */
	send_words((uint32_t[]){XID, 3, 32, 0, 0, 0, 0, XID, RPC_WORDS}, 18);
	v2_next();
	ck_assert_uint_eq(v2_hdr.error, RPCRDMA_ERR_VERS);
	ck_assert_uint_eq(v2_hdr.vers_low, 1);
	ck_assert_uint_eq(v2_hdr.vers_high, 2);
	expect_settles((uint32_t)_i);
}
END_TEST

/* A long Call that turns out to be none when it has been read. */
START_TEST(a_long_call_that_is_no_call_does_not_settle_the_version)
{
	static const uint32_t words[] = {XID + 9, RPC_WORDS};
	struct rpcrdma_header hdr;
	uint8_t call[4 * ARRAY_SIZE(words)];
	struct fabric_key *key;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		be32_put(call + 4 * i, words[i]);
	key = raw_lend(raw, call, sizeof(call), FABRIC_REMOTE_READ);
	rpcrdma_header_init(&hdr, XID, 2, 32, RPCRDMA_NOMSG);
	hdr.nreads = 1;
	hdr.reads[0] = (struct rpcrdma_read_segment){.position = 0, .seg = raw_segment(key)};
	raw_send_header(raw, &hdr, NULL, 0);
	v2_run(10);
	expect_error(XID, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(rig->server.counters.xid_mismatches, 1);
	expect_settles((uint32_t)_i);
}
END_TEST

/* A Call that is understood and refused by RPC is a Call of its version. */
START_TEST(a_call_that_rpc_refuses_settles_its_version)
{
	static const uint32_t words[] = {XID, 2,      32, 0, 0, 0, 0, XID, RPC_CALL,
					 3,   400000, 1,  1, 0, 0, 0, 0,   100};

	send_words(words, ARRAY_SIZE(words));
	v2_next();
	ck_assert_uint_eq(v2_hdr.vers, 2);
	ck_assert_uint_eq(v2_hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(rig->server.counters.rpc_mismatches, 1);
	v2_send_call(1, XID + 2, RIG_CALL_MIN, 200);
	v2_next();
	ck_assert_uint_eq(v2_hdr.error, RPCRDMA_ERR_VERS);
	ck_assert_uint_eq(v2_hdr.vers_low, 2);
}
END_TEST

/* The first Call of either version is answered by its own limits. */
START_TEST(a_first_call_has_the_limits_of_its_version)
{
	uint32_t limit = _i == 1 ? 1024 : 4096;

	v2_end();
	raw = NULL;
	v2_begin(NULL);
	raw = raw_new(rig, NULL, 0);
	v2_open_server();
	v2_send_call((uint32_t)_i, XID, RIG_CALL_MIN, limit - RPCRDMA_MIN_HDR_BYTES);
	v2_next_reply((uint32_t)_i, XID, limit - RPCRDMA_MIN_HDR_BYTES);
}
END_TEST

/* Reverse Calls wait for a version that is understood. */
START_TEST(a_reverse_call_waits_for_a_version_that_is_understood)
{
	uint32_t xid = rig_call(&rig->server, RIG_CALL_MIN, 100, 100);

	v2_run(10);
	send_words(strange[7].words, strange[7].count);
	expect_error(XID, RPCRDMA_ERR_CHUNK);
	v2_run(10);
	v2_silence();
	v2_send_call(1, XID + 1, RIG_CALL_MIN, 200);
	v2_run(10);
	ck_assert_uint_eq(raw->nrecvs - raw->nread, 2);
	for (unsigned i = 0; i < 2; i++) {
		v2_next();
		ck_assert_uint_eq(v2_hdr.vers, 1);
		ck_assert(v2_hdr.xid == xid || v2_hdr.xid == XID + 1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_drafts");
	TCase *tc = tcase_create("v2_drafts");

	tcase_add_checked_fixture(tc, setup, v2_end);
	tcase_add_loop_test(tc, a_client_of_a_later_draft_falls_back_to_version_one, 0,
			    ARRAY_SIZE(strange));
	tcase_add_loop_test(tc, invalid_messages_do_not_settle_the_version, 1, 3);
	tcase_add_loop_test(tc, a_long_call_that_is_no_call_does_not_settle_the_version, 1, 3);
	tcase_add_test(tc, a_call_that_rpc_refuses_settles_its_version);
	tcase_add_loop_test(tc, a_first_call_has_the_limits_of_its_version, 1, 3);
	tcase_add_test(tc, a_reverse_call_waits_for_a_version_that_is_understood);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
