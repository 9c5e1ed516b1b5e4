// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests connection configuration and protocol versions: it exists in version one only, and fixes
 * the version as any Call does.
 */
#include "rpc/rpc_header.h"
#include "rpcrdma/draft03/ccp.h"
#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

#define PROGRAM 100417u

static void setup(void)
{
	v2_begin(NULL);
	rig->client.config.config_protocol = rig->server.config.config_protocol = true;
	rig->client.config.leg.config_program = PROGRAM;
	rig->server.config.leg.config_program = PROGRAM;
}

static bool one_only(void)
{
	return version_cache_is_one_only(&v2_memory, (const struct sockaddr *)&rig_addr,
					 loop_now_us(rig->loop));
}

/* The next Send is CONF_RDMA; returns its XID. */
static uint32_t expect_asked(void)
{
	struct rpc_call_hdr call;
	struct ccp_args args;

	v2_next_call(1);
	ck_assert_int_eq(rpc_call_decode(v2_body, v2_len, &call), RPC_OK);
	ck_assert_uint_eq(call.prog, PROGRAM);
	ck_assert_int_eq(ccp_check_call(v2_body, v2_len, &call, &args), CCP_CONF);
	v2_silence();
	return v2_hdr.xid;
}

/* A server that does not know version two has been tried in that, and is asked in version one. */
static uint32_t probed_in_vain(void)
{
	uint32_t probe;

	v2_probe();
	v2_next_option(XCHAR_INIT);
	probe = v2_hdr.xid;
	/* Nothing in addition to the attempt. */
	v2_run(990);
	v2_silence();
	v2_run(20);
	ck_assert_uint_eq(rig->client.opened, 1);
	ck_assert_uint_ne(expect_asked(), probe);
	return v2_hdr.xid;
}

static void answer(uint32_t xid)
{
	struct ccp_results results = {2048, 0, 16};
	struct rpcrdma_header hdr;
	uint8_t reply[CCP_REPLY_BYTES];
	size_t n = ccp_encode_reply(reply, xid, CCP_CONF, &results);

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, reply, n);
}

/* Calls go in version @vers, and the server answers. */
static void expect_version(uint32_t vers)
{
	unsigned before = rig->client.answered;

	rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_next_call(vers);
	v2_send_reply(vers, v2_hdr.xid, 200, 32);
	ck_assert_uint_eq(rig->client.answered, before + 1);
	ck_assert_uint_eq(rig->client.closed, 0);
}

START_TEST(the_client_asks_once_version_one_is_assumed)
{
	uint32_t xid = probed_in_vain();

	answer(xid);
	ck_assert_uint_eq(rig->client.counters.conf_answered, 1);
	expect_version(1);
	ck_assert(one_only());
}
END_TEST

START_TEST(the_client_asks_once_the_server_offers_version_one)
{
	v2_probe();
	v2_next_option(XCHAR_INIT);
	v2_send_err_vers(v2_hdr.xid, 1, 1);
	v2_silence();
	v2_run(50);
	answer(expect_asked());
	ck_assert_uint_eq(rig->client.counters.conf_answered, 1);
	expect_version(1);
}
END_TEST

START_TEST(in_version_two_it_is_not_asked)
{
	v2_open_client();
	while (raw->nread < raw->nrecvs)
		(void)raw_next(raw);
	expect_version(2);
	ck_assert_uint_eq(rig->client.counters.conf_asked, 0);
}
END_TEST

/* A server that was slow has version two only. Nothing was executed, and it is not asked again. */
START_TEST(a_server_of_version_two_alone_is_found_by_it)
{
	uint32_t xid = probed_in_vain();

	rig_call(&rig->client, RIG_CALL_MIN, 200, 200);
	v2_run(1);
	v2_silence();
	v2_send_err_vers(xid, 2, 2);
	v2_next_call(2);
	v2_send_reply(2, v2_hdr.xid, 200, 32);
	ck_assert_uint_eq(rig->client.answered, 1);
	expect_version(2);
	ck_assert_uint_eq(rig->client.counters.conf_asked, 1);
	ck_assert_uint_eq(rig->client.counters.conf_refused, 1);
	ck_assert_uint_eq(rig->client.counters.err_vers_received, 1);
	ck_assert(!one_only());
}
END_TEST

START_TEST(a_server_of_no_common_version_ends_it)
{
	uint32_t xid = probed_in_vain();

	v2_send_err_vers(xid, 3, 4);
	v2_run(10);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_VERSION);
}
END_TEST

/* An error to it is none to an operation of version two, though there was one. */
START_TEST(an_error_to_it_is_of_no_operation)
{
	uint32_t xid = probed_in_vain();
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_ERROR);
	hdr.error = RPCRDMA_ERR_CHUNK;
	raw_send_header(raw, &hdr, NULL, 0);
	ck_assert_uint_eq(rig->client.counters.conf_refused, 1);
	expect_version(1);
}
END_TEST

/* An answer to the attempt that comes behind it is late: version one was called in. */
START_TEST(an_answer_to_the_attempt_is_late_once_it_is_asked)
{
	uint32_t xid = probed_in_vain();

	v2_send_init(0x4242, V2_FIRST_BYTES, false);
	ck_assert_uint_eq(rig->client.counters.options_late, 1);
	answer(xid);
	expect_version(1);
}
END_TEST

/* A6.2-10: nor is it served there. */
START_TEST(in_version_two_it_is_not_served)
{
	struct ccp_args args = {4096, 1024, 0};
	uint8_t call[CCP_CALL_BYTES];
	struct rpcrdma_header hdr;
	struct rpc_reply_hdr reply;

	v2_open_server();
	v2_settle();
	(void)ccp_encode_call(call, 0x4711, PROGRAM, &args);
	rpcrdma_header_init(&hdr, 0x4711, RPCRDMA_VERSION_TWO, 32, RPCRDMA_MSG);
	raw_send_header(raw, &hdr, call, sizeof(call));
	v2_next();
	ck_assert_uint_eq(v2_hdr.xid, 0x4711);
	ck_assert_int_eq(rpc_reply_decode(v2_body, v2_len, &reply), RPC_OK);
	ck_assert_int_eq(reply.accept_stat, RPC_PROG_UNAVAIL);
	ck_assert_uint_eq(rig->server.counters.prog_unavail, 1);
}
END_TEST

/* Two legs that speak version two are none the wiser. */
START_TEST(two_legs_in_version_two_do_without)
{
	v2_open();
	for (uint32_t n = 100; n < 60000; n *= 2) {
		rig_call(&rig->client, n, n, n);
		v2_run(10);
	}
	ck_assert_uint_eq(rig->client.answered, 10);
	ck_assert_uint_eq(rig->client.wrong, 0);
	ck_assert_uint_eq(rig->client.counters.conf_asked, 0);
	v2_no_sim_error();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conf_versions");
	TCase *tc = tcase_create("conf_versions");

	tcase_add_checked_fixture(tc, setup, v2_end);
	tcase_add_test(tc, the_client_asks_once_version_one_is_assumed);
	tcase_add_test(tc, the_client_asks_once_the_server_offers_version_one);
	tcase_add_test(tc, in_version_two_it_is_not_asked);
	tcase_add_test(tc, a_server_of_version_two_alone_is_found_by_it);
	tcase_add_test(tc, a_server_of_no_common_version_ends_it);
	tcase_add_test(tc, an_error_to_it_is_of_no_operation);
	tcase_add_test(tc, an_answer_to_the_attempt_is_late_once_it_is_asked);
	tcase_add_test(tc, in_version_two_it_is_not_served);
	tcase_add_test(tc, two_legs_in_version_two_do_without);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
