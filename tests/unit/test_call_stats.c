// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the statistics of Calls: their outcomes, and that no number of kinds of errors takes more
 * memory.
 */
#include "daemon/service/call_stats.h"

#include <string.h>

#include "nfs/proc_table.h"
#include "tests/lib/test.h"

#define SUCCESS_BYTES 24u /* of a Reply's header with an empty verifier */

static struct call_stats stats, more;
static struct exchange x;
static uint8_t reply[64];

static void setup(void)
{
	memset(&x, 0, sizeof(x));
	memset(reply, 0, sizeof(reply));
	reply[7] = RPC_REPLY;
	x.call_info.hdr.prog = NFS_PROGRAM_NFS;
	x.call_info.hdr.vers = 3;
	x.call_info.hdr.proc = 6;
	x.call_info.procedure = "READ";
	x.stage = CALL_STAGE_CLIENT;
	x.reply = (struct rpc_msg){.data = reply, .len_bytes = 32, .have_bytes = 32};
	x.call.len_bytes = 100;
}

static void teardown(void)
{
	call_stats_fini(&stats);
	call_stats_fini(&more);
}

static const char *status_now(void)
{
	static char text[CALL_STATUS_TEXT_BYTES];

	return call_status_name(call_status_of(&x), text);
}

static void set_word(unsigned word, uint32_t value)
{
	be32_put(reply + 4 * (size_t)word, value);
}

/* ---- what answered ---- */

START_TEST(a_success_has_no_status)
{
	ck_assert_uint_eq(call_status_of(&x), 0);
	/* A Reply of NULL ends with its header. */
	x.call_info.hdr.proc = 0;
	x.reply.len_bytes = x.reply.have_bytes = SUCCESS_BYTES;
	set_word(6, 5);
	ck_assert_uint_eq(call_status_of(&x), 0);
}
END_TEST

START_TEST(a_status_of_nfs_is_found_behind_the_header)
{
	set_word(6, 70);
	ck_assert_str_eq(status_now(), "STALE");
	set_word(6, 4711);
	ck_assert_str_eq(status_now(), "4711");
}
END_TEST

static const struct {
	uint32_t prog, vers, status;
	const char *name;
} full_names[] = {
	{NFS_PROGRAM_MOUNT, 3, 13, "MNT3ERR_ACCES"},
	{NFS_PROGRAM_NFS, 4, 13, "NFS4ERR_ACCESS"},
	{NFS_PROGRAM_NFS, 3, 4711, "status 4711"},
	{NFS_PROGRAM_NFS, 3, CALL_STATUS_DENIED, "RPC_DENIED"},
	{NFS_PROGRAM_NFS, 3, CALL_STATUS_ACCEPTED | RPC_PROG_UNAVAIL, "PROG_UNAVAIL"},
	{NFS_PROGRAM_NFS, 3, CALL_STATUS_ACCEPTED | 9, "2147483657"},
};

START_TEST(people_read_the_name_that_the_protocol_gives_it)
{
	char text[NFS_STATUS_TEXT_BYTES];

	ck_assert_str_eq(call_status_full_name(full_names[_i].prog, full_names[_i].vers,
					       full_names[_i].status, text),
			 full_names[_i].name);
}
END_TEST

START_TEST(the_operation_is_found_after_a_verifier)
{
	set_word(3, RPC_AUTH_GSS);
	set_word(4, 6); /* and two bytes of padding */
	set_word(8, 13);
	x.reply.len_bytes = x.reply.have_bytes = 40;
	ck_assert_str_eq(status_now(), "ACCES");
	/* And behind the frame of integrity. */
	x.call_info.body = CALL_BODY_INTEGRITY;
	set_word(10, 28);
	x.reply.len_bytes = x.reply.have_bytes = 48;
	ck_assert_str_eq(status_now(), "NOSPC");
	x.call_info.body = CALL_BODY_OPAQUE;
	ck_assert_uint_eq(call_status_of(&x), 0);
}
END_TEST

START_TEST(a_reply_that_ends_too_early_has_none)
{
	set_word(6, 70);
	x.reply.len_bytes = x.reply.have_bytes = SUCCESS_BYTES + 3;
	ck_assert_uint_eq(call_status_of(&x), 0);
	x.reply.len_bytes = x.reply.have_bytes = SUCCESS_BYTES - 1;
	ck_assert_str_eq(status_now(), "BAD_REPLY");
}
END_TEST

START_TEST(rpc_has_answers_of_its_own)
{
	set_word(5, RPC_PROG_UNAVAIL);
	ck_assert_str_eq(status_now(), "PROG_UNAVAIL");
	set_word(5, RPC_SYSTEM_ERR);
	ck_assert_str_eq(status_now(), "SYSTEM_ERR");
	set_word(2, RPC_MSG_DENIED);
	ck_assert_str_eq(status_now(), "RPC_DENIED");
}
END_TEST

START_TEST(and_so_has_the_proxy)
{
	for (unsigned fault = EXCHANGE_FAULT_ERR_CHUNK; fault <= EXCHANGE_FAULT_LATE; fault++) {
		x.fault = fault;
		ck_assert_uint_ge(strlen(status_now()), 8);
	}
	x.fault = EXCHANGE_FAULT_TOO_BIG;
	ck_assert_str_eq(status_now(), "REPLY_TOO_BIG");
}
END_TEST

/* ---- what is counted ---- */

START_TEST(times_are_counted_in_two_steps)
{
	struct call_end end;
	const struct operation_stats *read;

	x.stage_elapsed_us[CALL_STAGE_SERVER] = 3000;
	x.stage_elapsed_us[CALL_STAGE_CREDIT] = 500;
	x.stage_us = 77;
	ck_assert(call_stats_count(&stats, &x, &end));
	ck_assert_uint_eq(end.operation, NFS_OPERATION_READ);
	ck_assert_uint_eq(end.before_us, 3500);
	ck_assert_uint_eq(end.since_us, 77);
	read = stats.operations[NFS_OPERATION_READ];
	ck_assert_uint_eq(read->calls, 1);
	ck_assert_uint_eq(read->request_bytes, 100);
	ck_assert_uint_eq(read->reply_bytes, 32);
	ck_assert_uint_eq(histogram_count(&read->whole), 0);
	call_stats_delivered(&stats, &end, 200);
	ck_assert_uint_eq(read->whole.sum_us, 3700);
	ck_assert_uint_eq(read->stages[CALL_STAGE_CLIENT].sum_us, 200);
}
END_TEST

START_TEST(times_without_end_do_not_wrap)
{
	struct call_end end;

	for (unsigned i = 0; i < CALL_STAGE_CLIENT; i++)
		x.stage_elapsed_us[i] = UINT32_MAX;
	ck_assert(call_stats_count(&stats, &x, &end));
	ck_assert_uint_eq(end.before_us, UINT32_MAX);
	call_stats_delivered(&stats, &end, UINT32_MAX);
	ck_assert_uint_eq(stats.operations[NFS_OPERATION_READ]->whole.sum_us, UINT32_MAX);
	/* Nor does one stage. */
	x.stage = CALL_STAGE_SERVER;
	x.stage_us = 1;
	exchange_stage_add(&x, CALL_STAGE_SERVER, 1ull << 40);
	ck_assert_uint_eq(x.stage_elapsed_us[CALL_STAGE_SERVER], UINT32_MAX);
}
END_TEST

START_TEST(one_without_an_answer_is_no_call)
{
	struct call_end end;

	x.stage = CALL_STAGE_SERVER;
	ck_assert(!call_stats_count(&stats, &x, &end));
	ck_assert_uint_eq(stats.operations[NFS_OPERATION_READ]->unanswered, 1);
	ck_assert_uint_eq(stats.operations[NFS_OPERATION_READ]->calls, 0);
}
END_TEST

START_TEST(errors_of_many_kinds_have_a_bound)
{
	struct call_end end;
	uint64_t sum = 0;

	for (uint32_t status = 1; status <= 2 * CALL_STATS_ERRORS; status++) {
		set_word(6, status);
		ck_assert(call_stats_count(&stats, &x, &end));
	}
	ck_assert_uint_eq(stats.nerrors, CALL_STATS_ERRORS);
	for (unsigned i = 0; i < stats.nerrors; i++)
		sum += stats.errors[i].count;
	ck_assert_uint_eq(sum, 2 * CALL_STATS_ERRORS);
	ck_assert_uint_eq(stats.operations[NFS_OPERATION_READ]->errors, 2 * CALL_STATS_ERRORS);
	ck_assert_uint_eq(stats.errors[CALL_STATS_ERRORS - 1].status, CALL_STATUS_MANY);
	ck_assert_uint_eq(stats.errors[CALL_STATS_ERRORS - 1].count, CALL_STATS_ERRORS + 1);
}
END_TEST

START_TEST(workers_add_up)
{
	struct call_end end;

	set_word(6, 2);
	ck_assert(call_stats_count(&stats, &x, &end));
	ck_assert(call_stats_count(&more, &x, &end));
	x.call_info.hdr.proc = 3;
	ck_assert(call_stats_count(&more, &x, &end));
	call_stats_delivered(&more, &end, 5);
	call_stats_merge(&stats, &more);
	ck_assert_uint_eq(stats.operations[NFS_OPERATION_READ]->calls, 2);
	ck_assert_uint_eq(stats.operations[NFS_OPERATION_LOOKUP]->calls, 1);
	ck_assert_uint_eq(stats.operations[NFS_OPERATION_LOOKUP]->whole.sum_us, 5);
	ck_assert_uint_eq(stats.nerrors, 2);
	ck_assert_uint_eq(stats.errors[0].count, 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call_stats");
	TCase *tc = tcase_create("call_stats");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_success_has_no_status);
	tcase_add_test(tc, a_status_of_nfs_is_found_behind_the_header);
	tcase_add_loop_test(tc, people_read_the_name_that_the_protocol_gives_it, 0,
			    ARRAY_SIZE(full_names));
	tcase_add_test(tc, the_operation_is_found_after_a_verifier);
	tcase_add_test(tc, a_reply_that_ends_too_early_has_none);
	tcase_add_test(tc, rpc_has_answers_of_its_own);
	tcase_add_test(tc, and_so_has_the_proxy);
	tcase_add_test(tc, times_are_counted_in_two_steps);
	tcase_add_test(tc, times_without_end_do_not_wrap);
	tcase_add_test(tc, one_without_an_answer_is_no_call);
	tcase_add_test(tc, errors_of_many_kinds_have_a_bound);
	tcase_add_test(tc, workers_add_up);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
