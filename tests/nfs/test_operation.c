// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the operation by which a Call is counted: of every procedure and operation that lib/nfs
 * knows, and of COMPOUNDs of several.
 */
#include "nfs/operation.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "nfs/proc_table.h"
#include "tests/lib/test.h"
#include "tests/nfs/look.h"
#include "tests/nfs/rows.h"

#define LIMIT (64u * 1024 * 1024)

static struct call_info call_info;

static void look(const struct nfs_msg *call)
{
	const struct xdr_sg_entry piece = {nfs_msg_bytes(call), nfs_msg_len(call)};
	const struct xdr_sg pieces = {&piece, 1, nfs_msg_len(call)};
	struct look found = look_at_msg(call, LIMIT);

	ck_assert(look_header(&found, &call_info));
	nfs_call_walk_continue(&call_info, NULL, &pieces, NULL);
}

static const char *name_now(void)
{
	return nfs_operation_name(nfs_operation_of(&call_info));
}

/* As the tables of lib/nfs call it. */
static void expected_name(const struct nfs_row *row, char name[64])
{
	bool callback = row->prog == NFS_PROGRAM_CALLBACK;
	const struct nfs_program *program = nfs_program_find(row->prog, row->vers);

	if (row->minor_version >= 0)
		snprintf(name, 64, "%s",
			 nfs_op_find(callback, (uint32_t)row->minor_version, row->op)->name);
	else if (callback)
		snprintf(name, 64, "CB_NULL");
	else if (row->proc == 0)
		snprintf(name, 64, "NULL");
	else if (row->prog == NFS_PROGRAM_NFS)
		snprintf(name, 64, "%s", nfs_program_proc(program, row->proc)->name);
	else if (row->prog == NFS_PROGRAM_MOUNT || row->prog == NFS_PROGRAM_NFSACL)
		snprintf(name, 64, "%s_%s", program->name,
			 nfs_program_proc(program, row->proc)->name);
	else
		snprintf(name, 64, "%s", program->name);
}

START_TEST(each_procedure_and_operation_has_its_own_name)
{
	for (unsigned i = 0; row_lists[i]; i++) {
		for (const struct nfs_row *row = row_lists[i]; row->name; row++) {
			struct row_built built;
			char name[64];

			row_build(&built, row, NULL);
			look(built.call);
			expected_name(row, name);
			ck_assert_msg(!strcasecmp(name_now(), name), "%s is %s, not %s", row->name,
				      name_now(), name);
			row_free(&built);
		}
	}
}
END_TEST

static void compound(bool callback, unsigned nops, const uint8_t *ops)
{
	memset(&call_info, 0, sizeof(call_info));
	call_info.hdr.prog = callback ? NFS_PROGRAM_CALLBACK : NFS_PROGRAM_NFS;
	call_info.hdr.vers = callback ? 1 : 4;
	call_info.hdr.proc = 1;
	call_info.compound = true;
	call_info.procedure = "COMPOUND";
	call_info.nops = nops;
	memcpy(call_info.ops, ops, nops);
}

#define COMPOUND(callback, ...)                                                                    \
	compound(callback, sizeof((uint8_t[]){__VA_ARGS__}), (const uint8_t[]){__VA_ARGS__})

START_TEST(a_compound_is_known_by_the_foremost)
{
	COMPOUND(false, 53, 22, 38, 9); /* SEQUENCE PUTFH WRITE GETATTR */
	ck_assert_str_eq(name_now(), "WRITE");
	COMPOUND(false, 53, 22, 25, 38); /* … READ WRITE */
	ck_assert_str_eq(name_now(), "WRITE");
	COMPOUND(false, 53, 22, 18, 10, 3, 9); /* … OPEN GETFH ACCESS GETATTR */
	ck_assert_str_eq(name_now(), "OPEN");
	COMPOUND(false, 53, 22, 15, 10, 9); /* … LOOKUP GETFH GETATTR */
	ck_assert_str_eq(name_now(), "LOOKUP");
	COMPOUND(false, 53, 22, 9, 51, 4); /* … GETATTR LAYOUTRETURN CLOSE */
	ck_assert_str_eq(name_now(), "CLOSE");
}
END_TEST

START_TEST(else_by_the_last)
{
	COMPOUND(false, 53);
	ck_assert_str_eq(name_now(), "SEQUENCE");
	COMPOUND(false, 53, 58);
	ck_assert_str_eq(name_now(), "RECLAIM_COMPLETE");
	COMPOUND(false, 24, 10); /* PUTROOTFH GETFH */
	ck_assert_str_eq(name_now(), "GETFH");
	COMPOUND(false, 53, CALL_OP_ILLEGAL);
	ck_assert_str_eq(name_now(), "ILLEGAL");
	COMPOUND(true, 11, 4);
	ck_assert_str_eq(name_now(), "CB_RECALL");
	COMPOUND(true, 11);
	ck_assert_str_eq(name_now(), "CB_SEQUENCE");
	COMPOUND(true, CALL_OP_ILLEGAL);
	ck_assert_str_eq(name_now(), "ILLEGAL");
}
END_TEST

/* More operations than are kept count, too, but are not seen. */
START_TEST(a_compound_without_end_is_known_by_what_is_kept)
{
	uint8_t ops[CALL_LISTED_OPS];

	memset(ops, 9, sizeof(ops));
	compound(false, sizeof(ops), ops);
	call_info.nops = 100000;
	ck_assert_str_eq(name_now(), "GETATTR");
	memset(ops, 4, sizeof(ops));
	compound(true, sizeof(ops), ops);
	call_info.nops = 100000;
	ck_assert_str_eq(name_now(), "CB_COMPOUND");
}
END_TEST

START_TEST(protected_calls_are_named_by_their_procedure)
{
	static const struct nfs_msg_auth krb5p = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_PRIVACY, 60};
	struct nfs_msg *call = nfs_msg_call(100003, 4, 1, &krb5p);

	look(call);
	ck_assert_str_eq(name_now(), "COMPOUND");
	ck_assert(!nfs_operation_has_status(&call_info));
	nfs_msg_free(call);
	call = nfs_msg_call(100003, 3, 6, &krb5p);
	look(call);
	ck_assert_str_eq(name_now(), "READ");
	ck_assert(!nfs_operation_has_status(&call_info));
	nfs_msg_free(call);
}
END_TEST

static const struct {
	uint32_t prog, vers, proc;
	bool has_status;
} others[] = {{200000, 1, 1, false}, {100003, 5, 1, false}, {100003, 3, 99, false}};

START_TEST(unknown_operations_count_as_other)
{
	struct nfs_msg *call =
		nfs_msg_call(others[_i].prog, others[_i].vers, others[_i].proc, NULL);

	look(call);
	ck_assert_str_eq(name_now(), "other");
	ck_assert(!nfs_operation_has_status(&call_info));
	nfs_msg_free(call);
}
END_TEST

START_TEST(names_are_found_in_any_case)
{
	for (unsigned i = 0; i < NFS_OPERATION_COUNT; i++) {
		char lower[64] = "";

		for (size_t at = 0; nfs_operation_name(i)[at]; at++)
			lower[at] = (char)tolower((unsigned char)nfs_operation_name(i)[at]);
		ck_assert_uint_eq(nfs_operation_find(nfs_operation_name(i)), i);
		ck_assert_uint_eq(nfs_operation_find(lower), i);
	}
	ck_assert_uint_eq(nfs_operation_find("NOTHING"), NFS_OPERATION_COUNT);
	ck_assert_uint_eq(nfs_operation_find(""), NFS_OPERATION_COUNT);
}
END_TEST

START_TEST(statuses_have_names)
{
	ck_assert_str_eq(nfs_status_name(2), "NOENT");
	ck_assert_str_eq(nfs_status_name(70), "STALE");
	ck_assert_str_eq(nfs_status_name(10008), "DELAY");
	ck_assert_str_eq(nfs_status_name(10096), "XATTR2BIG");
	ck_assert_ptr_null(nfs_status_name(3));
	ck_assert_ptr_null(nfs_status_name(10097));
}
END_TEST

static const struct {
	uint32_t prog, vers, status;
	const char *name; /* NULL: none */
} full_names[] = {
	{NFS_PROGRAM_NFS, 2, 13, "NFSERR_ACCES"},
	{NFS_PROGRAM_NFS, 3, 13, "NFS3ERR_ACCES"},
	{NFS_PROGRAM_NFS, 4, 13, "NFS4ERR_ACCESS"},
	{NFS_PROGRAM_NFS, 3, 10008, "NFS3ERR_JUKEBOX"},
	{NFS_PROGRAM_NFS, 4, 10008, "NFS4ERR_DELAY"},
	{NFS_PROGRAM_NFS, 4, 10055, "NFS4ERR_CONN_NOT_BOUND_TO_SESSION"},
	{NFS_PROGRAM_CALLBACK, 1, 13, "NFS4ERR_ACCESS"},
	{NFS_PROGRAM_NFSACL, 3, 70, "NFS3ERR_STALE"},
	{NFS_PROGRAM_MOUNT, 3, 13, "MNT3ERR_ACCES"},
	{NFS_PROGRAM_MOUNT, 1, 13, "EACCES"},
	{NFS_PROGRAM_NFS, 3, 3, NULL},
	{NFS_PROGRAM_NFS, 5, 13, NULL},
	{NFS_PROGRAM_NFS, 1, 13, NULL},
	{NFS_PROGRAM_NLM, 4, 2, NULL},
};

START_TEST(statuses_have_the_names_of_their_documents)
{
	char text[NFS_STATUS_TEXT_BYTES] = "none";
	const char *name = nfs_status_full_name(full_names[_i].prog, full_names[_i].vers,
						full_names[_i].status, text);

	if (full_names[_i].name)
		ck_assert_str_eq(name, full_names[_i].name);
	else
		ck_assert_ptr_null(name);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("operation");
	TCase *tc = tcase_create("operation");

	tcase_add_test(tc, each_procedure_and_operation_has_its_own_name);
	tcase_add_test(tc, a_compound_is_known_by_the_foremost);
	tcase_add_test(tc, else_by_the_last);
	tcase_add_test(tc, a_compound_without_end_is_known_by_what_is_kept);
	tcase_add_test(tc, protected_calls_are_named_by_their_procedure);
	tcase_add_loop_test(tc, unknown_operations_count_as_other, 0, ARRAY_SIZE(others));
	tcase_add_test(tc, names_are_found_in_any_case);
	tcase_add_test(tc, statuses_have_names);
	tcase_add_loop_test(tc, statuses_have_the_names_of_their_documents, 0,
			    ARRAY_SIZE(full_names));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
