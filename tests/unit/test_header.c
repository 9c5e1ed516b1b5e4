// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the transport header: golden bytes of every form, truncated at each byte, with each bit
 * flipped, with buffers of each size.
 */
#include "rpcrdma/header.h"

#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "tests/lib/header_same.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"
#include "tests/unit/header_goldens.h"

/* xid, vers, credit */
#define START "01020304 00000001 00000020 "

static struct rpcrdma_header said, heard, again;

/* What an operation holds is looked at later, where it came from. */
static enum rpcrdma_verdict decode_exact(const uint8_t *send, size_t len,
					 struct rpcrdma_header *hdr)
{
	uint8_t *copy = exact_copy(send, len);
	enum rpcrdma_verdict verdict = rpcrdma_header_decode(copy, len, hdr);

	if (hdr->optinfo)
		hdr->optinfo = send + (hdr->optinfo - copy);
	free(copy);
	return verdict;
}

START_TEST(each_form_encodes_to_its_golden_bytes)
{
	const struct golden *golden = &goldens[_i];
	uint8_t expected[1024], got[1024];
	size_t len = hex_bytes(golden->header, expected, sizeof(expected));

	golden->say(&said);
	ck_assert_msg(len == golden->header_bytes, "%s: %zu bytes", golden->name, len);
	ck_assert_uint_eq(rpcrdma_header_bytes(&said), len);
	ck_assert_uint_eq(rpcrdma_header_encode(&said, got, sizeof(got)), len);
	ck_assert_msg(!memcmp(got, expected, len), "%s", golden->name);
}
END_TEST

START_TEST(each_form_decodes_to_its_values)
{
	const struct golden *golden = &goldens[_i];
	uint8_t send[1024];
	size_t len = golden_send(golden, send);

	golden->say(&said);
	ck_assert_msg(decode_exact(send, len, &heard) == RPCRDMA_OK, "%s", golden->name);
	ck_assert_ptr_null(header_difference(&said, &heard));
	ck_assert_uint_eq(heard.body_offset, golden->enough_bytes);
}
END_TEST

START_TEST(each_form_cut_off_anywhere_is_short_or_bad)
{
	const struct golden *golden = &goldens[_i];
	uint8_t send[1024];
	size_t len = golden_send(golden, send);

	for (size_t cut = 0; cut < len; cut++) {
		enum rpcrdma_verdict verdict = decode_exact(send, cut, &heard);

		if (cut < golden->least_bytes) {
			ck_assert_int_eq(verdict, RPCRDMA_SHORT);
		} else if (cut < golden->enough_bytes) {
			ck_assert_int_eq(verdict, heard.proc == RPCRDMA_OPTIONAL
							  ? RPCRDMA_BAD_OPTION
							  : RPCRDMA_BAD_LISTS);
			ck_assert_uint_eq(heard.nreads + heard.nwrites + heard.nsegments, 0);
			ck_assert(!heard.has_reply_chunk);
		} else {
			ck_assert_int_eq(verdict, RPCRDMA_OK);
		}
	}
}
END_TEST

/* In version one an unknown error is encoded with words that it may come without. */
static bool may_have_been_shorter(void)
{
	return heard.vers == RPCRDMA_VERSION_ONE && heard.proc == RPCRDMA_ERROR &&
	       heard.error != RPCRDMA_ERR_VERS && heard.error != RPCRDMA_ERR_CHUNK;
}

static size_t pad_bytes(void)
{
	return (size_t)(xdr_padded_bytes(heard.optinfo_bytes) - heard.optinfo_bytes);
}

/* Nothing of a header is ignored but pads: what decodes encodes to the same bytes and decodes to the same. */
static void check_stable(const uint8_t *send)
{
	uint8_t encoded[8192];
	size_t len = rpcrdma_header_encode(&heard, encoded, sizeof(encoded));

	ck_assert_uint_ne(len, 0);
	ck_assert_uint_eq(len, rpcrdma_header_bytes(&heard));
	if (!may_have_been_shorter()) {
		ck_assert_uint_eq(len, heard.body_offset);
		ck_assert_mem_eq(encoded, send, len - pad_bytes());
	}
	ck_assert_int_eq(decode_exact(encoded, len, &again), RPCRDMA_OK);
	ck_assert_ptr_null(header_difference(&heard, &again));
}

START_TEST(each_form_stands_any_flipped_bit)
{
	const struct golden *golden = &goldens[_i];
	uint8_t send[1024];
	size_t len = golden_send(golden, send);

	for (size_t bit = 0; bit < len * 8; bit++) {
		send[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (decode_exact(send, len, &heard) == RPCRDMA_OK)
			check_stable(send);
		send[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}
END_TEST

START_TEST(encoding_never_writes_past_its_room)
{
	const struct golden *golden = &goldens[_i];
	uint8_t room[1024];

	golden->say(&said);
	for (size_t bytes = 0; bytes < golden->header_bytes; bytes++) {
		memset(room, 0xa5, sizeof(room));
		ck_assert_uint_eq(rpcrdma_header_encode(&said, room, bytes), 0);
		for (size_t i = bytes; i < sizeof(room); i++)
			ck_assert_uint_eq(room[i], 0xa5);
	}
	ck_assert_uint_eq(rpcrdma_header_encode(&said, room, golden->header_bytes),
			  golden->header_bytes);
}
END_TEST

START_TEST(the_fixed_words_are_set_whenever_there_are_any)
{
	uint8_t send[64];
	size_t len = hex_bytes("01020304 00000003 00000020 00000000 00000000", send, 64);

	ck_assert_int_eq(decode_exact(send, len, &heard), RPCRDMA_BAD_VERS);
	ck_assert_uint_eq(heard.xid, GOLDEN_XID);
	ck_assert_uint_eq(heard.vers, 3);
	ck_assert_uint_eq(heard.credit, GOLDEN_CREDIT);
	ck_assert_uint_eq(heard.proc, RPCRDMA_MSG);

	len = hex_bytes(START "00000005 00000000 00000000 00000000", send, 64);
	ck_assert_int_eq(decode_exact(send, len, &heard), RPCRDMA_BAD_PROC);
	ck_assert_uint_eq(heard.xid, GOLDEN_XID);
	ck_assert_uint_eq(heard.vers, 1);
	ck_assert_uint_eq(heard.credit, GOLDEN_CREDIT);
	ck_assert_uint_eq(heard.proc, 5);
}
END_TEST

/* A4.1-4 */
START_TEST(unknown_types_are_bad_and_do_not_encode)
{
	static const uint32_t procs[] = {5, 6, 0x100, 0x01000000, 0xffffffff};
	uint8_t send[64], got[64];
	size_t len = hex_bytes(START "00000000 00000000 00000000 00000000", send, 64);

	for (size_t i = 0; i < ARRAY_SIZE(procs); i++) {
		be32_put(send + 12, procs[i]);
		ck_assert_int_eq(decode_exact(send, len, &heard), RPCRDMA_BAD_PROC);
		ck_assert_uint_eq(rpcrdma_header_encode(&heard, got, sizeof(got)), 0);
		ck_assert_uint_eq(rpcrdma_header_bytes(&heard), 0);
	}
}
END_TEST

/* the shortest header of a Call has 28 bytes (RFC 8166 section 4.5). */
START_TEST(unknown_types_shorter_than_a_call_are_short)
{
	static const uint32_t procs[] = {5, 6, 0x100, 0xffffffff};
	uint8_t send[RPCRDMA_MIN_HDR_BYTES];

	ck_assert_uint_eq(
		hex_bytes(START "00000000 00000000 00000000 00000000", send, sizeof(send)),
		sizeof(send));
	for (size_t i = 0; i < ARRAY_SIZE(procs); i++) {
		be32_put(send + 12, procs[i]);
		for (size_t len = 0; len < sizeof(send); len++)
			ck_assert_int_eq(decode_exact(send, len, &heard), RPCRDMA_SHORT);
	}
}
END_TEST

/* A4.2-1 */
START_TEST(err_vers_is_taken_whatever_its_version)
{
	static const char *const versions[] = {"00000000", "00000001", "00000002", "ffffffff"};
	uint8_t send[64];
	size_t len = hex_bytes(START "00000004 00000001 00000001 00000003", send, 64);

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		hex_bytes(versions[i], send + 4, 4);
		ck_assert_int_eq(decode_exact(send, len, &heard), RPCRDMA_OK);
		ck_assert_uint_eq(heard.proc, RPCRDMA_ERROR);
		ck_assert_uint_eq(heard.error, RPCRDMA_ERR_VERS);
		ck_assert_uint_eq(heard.vers_low, 1);
		ck_assert_uint_eq(heard.vers_high, 3);
	}
}
END_TEST

START_TEST(other_errors_count_in_versions_that_are_known)
{
	static const uint32_t versions[] = {0, 1, 2, 3, 0x01000000, 0xffffffff};
	uint8_t send[64];
	size_t len = hex_bytes(START "00000004 00000002", send, 64);

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		bool known = versions[i] == 1 || versions[i] == 2;

		be32_put(send + 4, versions[i]);
		ck_assert_int_eq(decode_exact(send, len, &heard),
				 known ? RPCRDMA_OK : RPCRDMA_BAD_VERS);
		ck_assert_uint_eq(heard.proc, RPCRDMA_ERROR);
		ck_assert_uint_eq(heard.error, RPCRDMA_ERR_CHUNK);
		ck_assert_uint_eq(rpcrdma_header_bytes(&heard), known ? len : 0);
	}
}
END_TEST

/* A4.1-5 */
START_TEST(bytes_after_done_and_errors_are_ignored)
{
	uint8_t send[128];
	size_t len = hex_bytes(START "00000003 ffffffff ff", send, sizeof(send));

	ck_assert_int_eq(decode_exact(send, len, &heard), RPCRDMA_OK);
	len = hex_bytes(START "00000004 00000002 ffffffff ff", send, sizeof(send));
	ck_assert_int_eq(decode_exact(send, len, &heard), RPCRDMA_OK);
	ck_assert_uint_eq(heard.error, RPCRDMA_ERR_CHUNK);
	ck_assert_uint_eq(heard.vers_low, 0);
}
END_TEST

START_TEST(decoding_touches_no_more_of_the_tables_than_it_fills)
{
	uint8_t send[1024];
	size_t len = golden_send(&goldens[6], send);
	const uint8_t *bytes;

	memset(&heard, 0xa5, sizeof(heard));
	ck_assert_int_eq(decode_exact(send, len, &heard), RPCRDMA_OK);
	ck_assert_uint_eq(heard.nreads, 1);
	bytes = (const uint8_t *)&heard.reads[1];
	for (size_t i = 0; i < sizeof(heard.reads) - sizeof(heard.reads[0]); i++)
		ck_assert_uint_eq(bytes[i], 0xa5);
	ck_assert_uint_eq(heard.nwrites, 1);
	bytes = (const uint8_t *)&heard.writes[1];
	for (size_t i = 0; i < sizeof(heard.writes) - sizeof(heard.writes[0]); i++)
		ck_assert_uint_eq(bytes[i], 0xa5);
	ck_assert_uint_eq(heard.nsegments, 3);
	bytes = (const uint8_t *)&heard.segments[3];
	for (size_t i = 0; i < sizeof(heard.segments) - 3 * sizeof(heard.segments[0]); i++)
		ck_assert_uint_eq(bytes[i], 0xa5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("header");
	TCase *tc = tcase_create("header");
	int count = GOLDEN_COUNT;

	tcase_add_loop_test(tc, each_form_encodes_to_its_golden_bytes, 0, count);
	tcase_add_loop_test(tc, each_form_decodes_to_its_values, 0, count);
	tcase_add_loop_test(tc, each_form_cut_off_anywhere_is_short_or_bad, 0, count);
	tcase_add_loop_test(tc, each_form_stands_any_flipped_bit, 0, count);
	tcase_add_loop_test(tc, encoding_never_writes_past_its_room, 0, count);
	tcase_add_test(tc, the_fixed_words_are_set_whenever_there_are_any);
	tcase_add_test(tc, unknown_types_are_bad_and_do_not_encode);
	tcase_add_test(tc, unknown_types_shorter_than_a_call_are_short);
	tcase_add_test(tc, err_vers_is_taken_whatever_its_version);
	tcase_add_test(tc, other_errors_count_in_versions_that_are_known);
	tcase_add_test(tc, bytes_after_done_and_errors_are_ignored);
	tcase_add_test(tc, decoding_touches_no_more_of_the_tables_than_it_fills);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
