// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests every procedure and operation: the largest Reply does not exceed the computed maximum, and
 * payloads are found.
 */
#include <stdlib.h>
#include <string.h>

#include "nfs/proc_table.h"
#include "tests/lib/test.h"
#include "tests/nfs/look.h"
#include "tests/nfs/rows.h"

#define LIMIT        (1024u * 1024 + 65536)
#define VERF_BYTES   400u
#define HEADER_SLACK 8u /* an error reply may be that much longer than an empty one */

static const struct nfs_msg_auth plain = {.verf_bytes = VERF_BYTES};
static const struct nfs_msg_auth krb5 = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_NONE, 28};

/* Calls @check with each row in turn. */
static void each_row(void (*check)(const struct nfs_row *row))
{
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++)
			check(row);
}

static void check_ceiling(const struct nfs_row *row)
{
	struct row_built built;
	uint32_t ceiling, len;

	row_build(&built, row, &plain);
	ceiling = look_ceiling(built.call, LIMIT);
	len = nfs_msg_len(built.reply);
	ck_assert_msg(ceiling >= len, "%s: ceiling %u under its reply of %u bytes", row->name,
		      ceiling, len);
	if (row->slack_bytes != ROW_ANY)
		ck_assert_msg(ceiling <= len + HEADER_SLACK + row->slack_bytes,
			      "%s: ceiling %u far over its reply of %u bytes", row->name, ceiling,
			      len);
	row_free(&built);
}

START_TEST(ceilings_hold_the_largest_reply_and_little_more)
{
	each_row(check_ceiling);
}
END_TEST

static void same_items(const struct nfs_row *row, int count, const struct rpc_payload *found,
		       const struct spec_items *want)
{
	ck_assert_msg(count == (int)want->count, "%s: %d payloads, not %u", row->name, count,
		      want->count);
	for (int i = 0; i < count; i++) {
		ck_assert_msg(found[i].len_bytes == want->list[i].len_bytes, "%s: %u bytes, not %u",
			      row->name, found[i].len_bytes, want->list[i].len_bytes);
		ck_assert_msg(found[i].offset_bytes == want->list[i].offset_bytes,
			      "%s: payload at %u, not at %u", row->name, found[i].offset_bytes,
			      want->list[i].offset_bytes);
	}
}

/* READ and READLINK, whose Replies may have a payload. */
static bool has_result_item(const struct nfs_row *row)
{
	if (row->prog != 100003)
		return false;
	if (row->minor_version >= 0)
		return row->op == 25 || row->op == 27;
	return row->vers < 4 && (row->proc == 5 || row->proc == 6);
}

static void check_payloads(const struct nfs_row *row)
{
	const struct nfs_msg_auth *const auths[] = {NULL, &plain, &krb5};

	for (unsigned i = 0; i < ARRAY_SIZE(auths); i++) {
		struct rpc_payload found[4];
		struct spec_items items;
		struct call_info call_info;
		struct row_built built;
		struct look look;
		int count;

		row_build(&built, row, auths[i]);
		look = look_at_msg(built.call, LIMIT);
		count = look_payloads(&look, &call_info, &items);
		same_items(row, count, items.list, &built.call_items);

		/* A result that failed counts, with nothing in it. */
		if (has_result_item(row) && built.failed)
			built.reply_items.count = 1;
		ck_assert_msg(call_info.results == (has_result_item(row) ? CALL_RESULTS_MAYBE
									 : CALL_RESULTS_NONE),
			      "%s: whether its Reply may have payloads", row->name);
		count = nfs_reply_ddp_items(&call_info, nfs_msg_bytes(built.reply),
					    nfs_msg_len(built.reply), found, 4);
		if (has_result_item(row))
			same_items(row, count, found, &built.reply_items);
		else
			ck_assert_int_eq(count, 0);
		row_free(&built);
	}
}

START_TEST(payloads_are_where_they_were_put)
{
	each_row(check_payloads);
}
END_TEST

static void check_results_walk(const struct nfs_row *row)
{
	const struct nfs_proc *proc =
		row->minor_version < 0
			? nfs_proc_find(row->prog, row->vers, row->proc)
			: nfs_op_find(row->prog != 100003, (uint32_t)row->minor_version, row->op);
	const char *const specs[] = {row->args, row->results};

	ck_assert_msg(proc, "%s: no row in the tables", row->name);
	for (unsigned i = 0; i < 2; i++) {
		struct nfs_msg *msg = nfs_msg_new();
		struct spec_items items = {0};
		struct nfs_marks marks = {0};
		struct xdr_sg_reader at;
		bool ok;

		spec_put(msg, specs[i], &items);
		xdr_sg_reader_init_flat(&at, nfs_msg_bytes(msg), nfs_msg_len(msg));
		ok = nfs_walk(&at, i == 0 ? proc->args : proc->results, &marks);
		ck_assert_msg(ok && xdr_sg_remaining_bytes(&at) == 0,
			      "%s: %s do not walk to their end", row->name,
			      i == 0 ? "arguments" : "results");
		nfs_msg_free(msg);
	}
}

START_TEST(arguments_and_results_walk_to_their_end)
{
	each_row(check_results_walk);
}
END_TEST

static bool has_row(uint32_t prog, uint32_t vers, uint32_t proc, int minor, uint32_t op)
{
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++)
			if (row->prog == prog && row->vers == vers && row->proc == proc &&
			    row->minor_version == minor && (minor < 0 || row->op == op))
				return true;
	return false;
}

START_TEST(no_procedure_and_no_operation_is_without_a_test)
{
	const uint32_t progs[] = {100000, 100003, 100005, 100021, 100024, 100227, 0x40000000};
	unsigned procs = 0, ops = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(progs); i++)
		for (uint32_t vers = 0; vers < 8; vers++)
			for (uint32_t proc = 0; proc < 64; proc++)
				if (nfs_proc_find(progs[i], vers, proc)) {
					procs++;
					ck_assert_msg(has_row(progs[i], vers, proc, -1, 0),
						      "program %u version %u procedure %u",
						      progs[i], vers, proc);
				}
	for (int callback = 0; callback < 2; callback++)
		for (uint32_t op = 0; op < 128; op++)
			for (int minor = 0; minor < 3; minor++)
				if (nfs_op_find(callback, (uint32_t)minor, op)) {
					ops++;
					ck_assert_msg(has_row(callback ? 0x40000000 : 100003,
							      callback ? 1 : 4, 1, minor, op),
						      "callback %d minor version %d operation %u",
						      callback, minor, op);
					break;
				}
	ck_assert_uint_eq(procs,
			  18 + 22 + 1 + 6 + 4 + 7 + 8 + 6 + 16 + 20 + 20 + 7 + 6 + 9 + 13 + 2);
	ck_assert_uint_eq(ops, 37 + 19 + 17 + 2 + 10 + 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_rows");
	TCase *tc = tcase_create("nfs_rows");

	tcase_add_test(tc, ceilings_hold_the_largest_reply_and_little_more);
	tcase_add_test(tc, payloads_are_where_they_were_put);
	tcase_add_test(tc, arguments_and_results_walk_to_their_end);
	tcase_add_test(tc, no_procedure_and_no_operation_is_without_a_test);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
