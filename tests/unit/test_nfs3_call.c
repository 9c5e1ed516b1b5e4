// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the Calls with which a check obtains an NFSv3 file handle, and the parsing of their
 * Replies.
 */
#include "daemon/health/check_rpc.h"

#include <stdlib.h>
#include <string.h>

#include "nfs/nfs.h"
#include "rpc/call_check.h"
#include "tests/lib/test.h"

static const struct nfs3_handle handle = {5, "abcde"};

/* ---- Calls, as the walk over clients' Calls sees them ---- */

static void know(struct call_info *call_info, const uint8_t *call, size_t len)
{
	ck_assert_uint_gt(len, 0);
	ck_assert_int_eq(call_check(call, (uint32_t)len, (uint32_t)len, NULL, 0, &call_info->hdr),
			 CALL_OK);
	nfs_call_walk_whole(call_info, 1u << 20, NULL, call, (uint32_t)len);
	ck_assert_int_eq(call_info->stage, CALL_INFO_COMPLETE);
	ck_assert_uint_eq(call_info->hdr.xid, 7);
}

static void is_call(const uint8_t *call, size_t len, uint32_t prog, uint32_t proc)
{
	struct call_info call_info;

	know(&call_info, call, len);
	ck_assert_uint_eq(call_info.hdr.prog, prog);
	ck_assert_uint_eq(call_info.hdr.vers, 3);
	ck_assert_uint_eq(call_info.hdr.proc, proc);
}

START_TEST(calls_have_the_procedures_of_their_names)
{
	uint8_t call[NFS3_CALL_BYTES];

	is_call(call, nfs3_call_export(call, 7), 100005, 5);
	is_call(call, nfs3_call_mnt(call, 7, "/export"), 100005, 1);
	is_call(call, nfs3_call_umnt(call, 7, "/export"), 100005, 3);
	is_call(call, nfs3_call_getattr(call, 7, &handle), 100003, 1);
	is_call(call, nfs3_call_readdirplus(call, 7, &handle, 65536), 100003, 17);
}
END_TEST

START_TEST(a_lookup_is_as_long_as_asked_for)
{
	static const uint32_t names[] = {1, 4097, 262144};
	uint8_t *call = malloc(NFS3_CALL_BYTES + names[_i]);
	size_t len = nfs3_call_lookup(call, 7, &handle, names[_i]);

	is_call(call, len, 100003, 3);
	ck_assert_uint_gt(len, names[_i]);
	free(call);
}
END_TEST

START_TEST(the_longest_path_has_room)
{
	char path[NFS3_PATH_BYTES + 1];
	uint8_t call[NFS3_CALL_BYTES];

	memset(path, '/', NFS3_PATH_BYTES);
	path[NFS3_PATH_BYTES] = '\0';
	is_call(call, nfs3_call_mnt(call, 7, path), 100005, 1);
}
END_TEST

/* ---- Replies ---- */

struct results {
	struct xdr_writer w;
	uint8_t bytes[4096];
};

static void begin(struct results *results)
{
	xdr_writer_init(&results->w, results->bytes, sizeof(results->bytes));
}

static void put(struct results *results, const char *text)
{
	xdr_put_opaque(&results->w, (const uint8_t *)text, (uint32_t)strlen(text));
}

/*
 * The first @len bytes and no more, in a block of their own: a byte read behind them is found by
 * the sanitizer.
 */
static bool read_cut(bool (*read)(struct xdr_reader *), const struct results *results, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct xdr_reader reader;
	bool read_well;

	memcpy(copy, results->bytes, len);
	xdr_reader_init(&reader, copy, len);
	read_well = read(&reader);
	free(copy);
	return read_well;
}

/* Whole it is read, and with any of its end missing it is not. */
static void wants_all(bool (*read)(struct xdr_reader *), const struct results *results)
{
	size_t len = xdr_written_bytes(&results->w);

	for (size_t cut = 0; cut < len; cut++)
		ck_assert_msg(!read_cut(read, results, cut), "read with %zu of %zu bytes", cut,
			      len);
	ck_assert(read_cut(read, results, len));
}

static unsigned count;
static char first[NFS3_PATH_BYTES + 1];

static bool read_exports(struct xdr_reader *reader)
{
	return nfs3_reply_export(reader, &count, first);
}

/* Two, the first of them for two groups of clients. */
START_TEST(exports_are_counted_and_the_first_is_kept)
{
	struct results results;

	begin(&results);
	xdr_put_bool(&results.w, true);
	put(&results, "/one");
	xdr_put_bool(&results.w, true);
	put(&results, "10.0.0.0/8");
	xdr_put_bool(&results.w, true);
	put(&results, "*");
	xdr_put_bool(&results.w, false);
	xdr_put_bool(&results.w, true);
	put(&results, "/another");
	xdr_put_bool(&results.w, false);
	xdr_put_bool(&results.w, false);
	wants_all(read_exports, &results);
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(first, "/one");
}
END_TEST

START_TEST(no_export_is_none)
{
	struct results results;

	begin(&results);
	xdr_put_bool(&results.w, false);
	wants_all(read_exports, &results);
	ck_assert_uint_eq(count, 0);
	ck_assert_str_eq(first, "");
}
END_TEST

/* The bytes behind the zero would be another path than the one that is shown. */
START_TEST(a_path_with_a_zero_in_it_is_none)
{
	struct results results;

	begin(&results);
	xdr_put_bool(&results.w, true);
	xdr_put_opaque(&results.w, (const uint8_t *)"/a\0b", 4);
	xdr_put_bool(&results.w, false);
	xdr_put_bool(&results.w, false);
	ck_assert(!read_cut(read_exports, &results, xdr_written_bytes(&results.w)));
}
END_TEST

static uint32_t status;
static struct nfs3_handle found;

static bool read_handle(struct xdr_reader *reader)
{
	return nfs3_reply_mnt(reader, &status, &found);
}

START_TEST(a_handle_is_read_with_its_status)
{
	struct results results;

	begin(&results);
	xdr_put_u32(&results.w, 0);
	put(&results, "handle");
	wants_all(read_handle, &results);
	ck_assert_uint_eq(status, 0);
	ck_assert_uint_eq(found.len_bytes, 6);
	ck_assert_mem_eq(found.bytes, "handle", 6);

	begin(&results);
	xdr_put_u32(&results.w, 13);
	wants_all(read_handle, &results);
	ck_assert_uint_eq(status, 13);
	ck_assert_uint_eq(found.len_bytes, 0);
}
END_TEST

START_TEST(a_handle_longer_than_any_is_none)
{
	static const uint8_t long_one[NFS3_HANDLE_BYTES + 1];
	struct results results;

	begin(&results);
	xdr_put_u32(&results.w, 0);
	xdr_put_opaque(&results.w, long_one, sizeof(long_one));
	ck_assert(!read_cut(read_handle, &results, xdr_written_bytes(&results.w)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs3_call");
	TCase *tc = tcase_create("nfs3_call");

	tcase_add_test(tc, calls_have_the_procedures_of_their_names);
	tcase_add_loop_test(tc, a_lookup_is_as_long_as_asked_for, 0, 3);
	tcase_add_test(tc, the_longest_path_has_room);
	tcase_add_test(tc, exports_are_counted_and_the_first_is_kept);
	tcase_add_test(tc, no_export_is_none);
	tcase_add_test(tc, a_path_with_a_zero_in_it_is_none);
	tcase_add_test(tc, a_handle_is_read_with_its_status);
	tcase_add_test(tc, a_handle_longer_than_any_is_none);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
