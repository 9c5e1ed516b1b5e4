// SPDX-License-Identifier: BSD-3-Clause
/* Tests the Calls of a server check, the meaning of their Replies, and the result of a report. */
#include "daemon/health/check_rpc.h"

#include <stdlib.h>

#include "daemon/health/check_report.h"
#include "nfs/nfs.h"
#include "rpc/call_check.h"
#include "tests/lib/test.h"

/* By the walk that looks at clients' Calls. */
static void know(struct call_info *call_info, const uint8_t *call, size_t len)
{
	ck_assert_uint_gt(len, 0);
	ck_assert_int_eq(call_check(call, (uint32_t)len, (uint32_t)len, NULL, 0, &call_info->hdr),
			 CALL_OK);
	nfs_call_walk_whole(call_info, 1u << 20, NULL, call, (uint32_t)len);
	ck_assert_int_eq(call_info->stage, CALL_INFO_COMPLETE);
	ck_assert_int_eq(call_info->parse, CALL_PARSE_OK);
}

START_TEST(a_call_of_getattrs_is_one_of_nfs4)
{
	static const unsigned counts[] = {1, CHECK_RPC_MAX_GETATTRS};
	uint8_t call[CHECK_RPC_GETATTRS_BYTES];
	struct call_info call_info;

	know(&call_info, call, check_rpc_getattrs(call, 7, counts[_i]));
	ck_assert_uint_eq(call_info.hdr.xid, 7);
	ck_assert_uint_eq(call_info.nops, 1 + counts[_i]);
	ck_assert_uint_eq(call_info.ops[0], 24);
	ck_assert_uint_eq(call_info.ops[counts[_i]], 9);
	ck_assert_uint_eq(call_info.minor_version, 0);
}
END_TEST

START_TEST(a_long_call_is_as_long_as_asked_for)
{
	static const uint32_t names[] = {1, 4097, 262144};
	uint8_t *call = malloc(CHECK_RPC_CALL_BYTES + names[_i]);
	struct call_info call_info;
	size_t len = check_rpc_lookup(call, 7, names[_i]);

	know(&call_info, call, len);
	ck_assert_uint_gt(len, names[_i]);
	ck_assert_uint_eq(call_info.nops, 2);
	ck_assert_uint_eq(call_info.ops[1], 15);
	free(call);
}
END_TEST

START_TEST(a_null_call_is_one)
{
	uint8_t call[CHECK_RPC_CALL_BYTES];
	struct call_info call_info;

	know(&call_info, call, check_rpc_null(call, 9, 100003, 3));
	ck_assert_uint_eq(call_info.hdr.vers, 3);
	ck_assert_uint_eq(call_info.hdr.proc, 0);
}
END_TEST

static void read_reply(size_t len, const uint8_t *msg, bool compound, struct check_rpc_reply *reply)
{
	check_rpc_reply_parse(msg, (uint32_t)len, compound, reply);
}

START_TEST(replies_are_decoded)
{
	uint8_t msg[RPC_ERROR_REPLY_BYTES + 8];
	struct check_rpc_reply reply;
	size_t len;

	read_reply(rpc_encode_accepted(msg, 1, RPC_SUCCESS), msg, false, &reply);
	ck_assert(reply.is_rpc && reply.accepted && reply.stat == RPC_SUCCESS);
	read_reply(rpc_encode_prog_mismatch(msg, 1, 2, 3), msg, false, &reply);
	ck_assert(reply.is_rpc && reply.stat == RPC_PROG_MISMATCH);
	ck_assert_uint_eq(reply.low, 2);
	ck_assert_uint_eq(reply.high, 3);
	read_reply(rpc_encode_auth_error(msg, 1, 5), msg, true, &reply);
	ck_assert(reply.is_rpc && !reply.accepted);
	ck_assert_uint_eq(reply.auth_stat, 5);
	len = rpc_encode_accepted(msg, 1, RPC_SUCCESS);
	be32_put(msg + len, 10021);
	read_reply(len + 4, msg, true, &reply);
	ck_assert(reply.is_rpc);
	ck_assert_uint_eq(reply.nfs_status, 10021);
}
END_TEST

/* Cut anywhere, it is read no further than it goes; nothing is made up of what is not there. */
START_TEST(a_reply_that_is_cut_says_nothing)
{
	uint8_t whole[RPC_ERROR_REPLY_BYTES];
	size_t len = rpc_encode_prog_mismatch(whole, 1, 2, 3);

	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *msg = malloc(cut + 1);
		struct check_rpc_reply reply;

		memcpy(msg, whole, cut);
		read_reply(cut, msg, true, &reply);
		ck_assert(!reply.is_rpc);
		free(msg);
	}
}
END_TEST

static void set(struct check_server *server, unsigned failed_step)
{
	for (unsigned i = 0; i < CHECK_STEP_COUNT; i++)
		server->steps[i].result = i < failed_step    ? CHECK_PASSED
					  : i == failed_step ? CHECK_FAILED
							     : CHECK_NOT_TRIED;
}

static const struct {
	unsigned failed[2]; /* of two servers, the step that did */
	uint32_t unused;
	enum check_grade grade;
} reports[] = {
	{{CHECK_STEP_COUNT, CHECK_STEP_COUNT}, 0, CHECK_GOOD},
	{{CHECK_CONNECT, CHECK_STEP_COUNT}, 0, CHECK_IS_DEGRADED},
	{{CHECK_LONG_CALL, CHECK_STEP_COUNT}, 0, CHECK_IS_DEGRADED},
	{{CHECK_LONG_REPLY, CHECK_LONG_CALL}, 0, CHECK_IS_DEGRADED},
	{{CHECK_NULL, CHECK_INLINE_CALL}, 0, CHECK_HAS_FAILED},
	{{CHECK_CONNECT, CHECK_LONG_REPLY}, 0, CHECK_IS_DEGRADED},
	/* What clients do not get does not count. */
	{{CHECK_CONNECT, CHECK_STEP_COUNT}, 1, CHECK_GOOD},
	{{CHECK_CONNECT, CHECK_STEP_COUNT}, 2, CHECK_HAS_FAILED},
	{{CHECK_STEP_COUNT, CHECK_STEP_COUNT}, UINT32_MAX, CHECK_HAS_FAILED},
};

START_TEST(the_grade_of_a_service_depends_on_its_servers)
{
	struct check_server servers[2] = {0};
	struct check_report report = {.nservers = 2, .servers = servers};

	/* A server without any connection attempt is not known to be good. */
	ck_assert_int_eq(check_grade(&report, 0), CHECK_IS_DEGRADED);
	set(&servers[0], reports[_i].failed[0]);
	set(&servers[1], reports[_i].failed[1]);
	ck_assert_int_eq(check_grade(&report, reports[_i].unused), reports[_i].grade);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("probe_call");
	TCase *tc = tcase_create("probe_call");

	tcase_add_loop_test(tc, a_call_of_getattrs_is_one_of_nfs4, 0, 2);
	tcase_add_loop_test(tc, a_long_call_is_as_long_as_asked_for, 0, 3);
	tcase_add_test(tc, a_null_call_is_one);
	tcase_add_test(tc, replies_are_decoded);
	tcase_add_test(tc, a_reply_that_is_cut_says_nothing);
	tcase_add_loop_test(tc, the_grade_of_a_service_depends_on_its_servers, 0,
			    ARRAY_SIZE(reports));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
