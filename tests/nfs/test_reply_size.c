// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests maximum Reply sizes: the bytes that authentication adds, and the size that is assumed where
 * no maximum can be proved.
 */
#include "tests/lib/test.h"
#include "tests/nfs/look.h"

#define LIMIT  (64u * 1024 * 1024 + 65536)
#define HEADER (6u * 4 + 400) /* of a Reply with the longest verifier */

/* An NFSv3 READ of @count bytes behind @skip bytes of wrapping. */
static struct nfs_msg *read3(const struct nfs_msg_auth *auth, uint32_t skip, uint32_t count)
{
	struct nfs_msg *msg = nfs_msg_call(100003, 3, 6, auth);

	put_fixed(msg, skip);
	put_opaque(msg, 64);
	put_u64(msg, 0);
	put_u32(msg, count);
	return msg;
}

static uint32_t ceiling_of(struct nfs_msg *call)
{
	uint32_t ceiling = look_ceiling(call, LIMIT);

	nfs_msg_free(call);
	return ceiling;
}

START_TEST(a_read_gets_its_count_and_what_surrounds_it)
{
	uint32_t ceiling = ceiling_of(read3(NULL, 0, 65535));

	ck_assert_uint_ge(ceiling, HEADER + 4 + 88 + 12 + 65536);
	ck_assert_uint_le(ceiling, HEADER + 4 + 88 + 12 + 65536 + 64);
}
END_TEST

START_TEST(a_bounded_reply_may_be_as_large_as_the_largest_message)
{
	uint32_t ceiling = ceiling_of(read3(NULL, 0, 60u << 20));

	ck_assert_uint_ge(ceiling, 60u << 20);
	ck_assert_uint_lt(ceiling, (60u << 20) + 1024);
}
END_TEST

START_TEST(nothing_exceeds_the_largest_message)
{
	ck_assert_uint_eq(ceiling_of(read3(NULL, 0, UINT32_MAX)), LIMIT);
	ck_assert_uint_eq(ceiling_of(read3(NULL, 0, LIMIT)), LIMIT);
}
END_TEST

START_TEST(unknown_calls_get_a_separate_ceiling)
{
	ck_assert_uint_eq(ceiling_of(nfs_msg_call(0x20000001, 1, 1, NULL)), REPLY_UNBOUNDED_BYTES);
	ck_assert_uint_eq(ceiling_of(nfs_msg_call(100003, 9, 1, NULL)), REPLY_UNBOUNDED_BYTES);
	ck_assert_uint_eq(ceiling_of(nfs_msg_call(100003, 3, 22, NULL)), REPLY_UNBOUNDED_BYTES);
}
END_TEST

/* A COMPOUND of @args, under a largest message of @limit. */
static struct call_info compound(const char *args, uint32_t limit)
{
	struct nfs_msg *call = nfs_msg_call(100003, 4, 1, NULL);
	struct spec_items none = {0};
	struct call_info call_info;
	struct look look;

	spec_put(call, args, &none);
	look = look_at_msg(call, limit);
	look_whole(&look, &call_info);
	nfs_msg_free(call);
	return call_info;
}

#define READ_2M        "25 1 x:12 q0 2097152 "
#define ANY_ATTRIBUTES "9 w:4*0xffffffff "

START_TEST(bounded_operations_add_to_the_ceiling_of_unbounded_ones)
{
	struct call_info call_info = compound("o:0 0 2 " READ_2M ANY_ATTRIBUTES, LIMIT);

	ck_assert_int_eq(call_info.parse, CALL_PARSE_OK);
	ck_assert(!call_info.is_proved);
	ck_assert_uint_ge(call_info.reply_bound_bytes, (2u << 20) + REPLY_UNBOUNDED_BYTES);
	ck_assert_uint_lt(call_info.reply_bound_bytes, (2u << 20) + REPLY_UNBOUNDED_BYTES + 1024);
	/* However many there are without a bound. */
	call_info =
		compound("o:0 0 4 " READ_2M ANY_ATTRIBUTES ANY_ATTRIBUTES ANY_ATTRIBUTES, LIMIT);
	ck_assert_uint_lt(call_info.reply_bound_bytes, (2u << 20) + REPLY_UNBOUNDED_BYTES + 1024);
	/* Also if what follows the READ cannot be followed. */
	call_info = compound("o:0 0 2 " READ_2M "999", LIMIT);
	ck_assert_int_eq(call_info.parse, CALL_PARSE_FAILED);
	ck_assert(!call_info.is_proved);
	ck_assert_uint_ge(call_info.reply_bound_bytes, 2u << 20);
	ck_assert_uint_lt(call_info.reply_bound_bytes, (2u << 20) + REPLY_UNBOUNDED_BYTES + 1024);
	/* At most what the service allows. */
	call_info = compound("o:0 0 2 " READ_2M ANY_ATTRIBUTES, 2u << 20);
	ck_assert_uint_eq(call_info.reply_bound_bytes, 2u << 20);
	ck_assert_uint_eq(compound("o:0 0 1 " ANY_ATTRIBUTES, 100000).reply_bound_bytes, 100000);
}
END_TEST

START_TEST(a_ceiling_is_proved_by_the_arguments_alone)
{
	ck_assert(compound("o:0 0 1 " READ_2M, LIMIT).is_proved);
	ck_assert(!compound("o:0 0 1 " READ_2M, 2u << 20).is_proved);
	ck_assert(!compound("o:0 0 1 " ANY_ATTRIBUTES, LIMIT).is_proved);
}
END_TEST

START_TEST(arguments_that_end_too_early_get_the_ceiling_of_the_unbounded)
{
	struct nfs_msg *call = read3(NULL, 0, 4096);
	struct look look = look_at_msg(call, LIMIT);
	struct call_info call_info;

	look_whole(&look, &call_info);
	ck_assert_uint_lt(call_info.reply_bound_bytes, REPLY_UNBOUNDED_BYTES);
	/* Also when the header is said to be longer than the message. */
	while (look.len_bytes-- > 0) {
		const struct xdr_sg_entry piece = {look.msg, look.len_bytes};
		const struct xdr_sg pieces = {&piece, 1, look.len_bytes};

		nfs_call_walk_begin(&call_info, LIMIT);
		nfs_call_walk_continue(&call_info, NULL, &pieces, NULL);
		ck_assert_int_eq(call_info.stage, CALL_INFO_COMPLETE);
		ck_assert_int_eq(call_info.parse, CALL_PARSE_FAILED);
		ck_assert_uint_eq(call_info.reply_bound_bytes, REPLY_UNBOUNDED_BYTES);
	}
	nfs_msg_free(call);
}
END_TEST

START_TEST(krb5_is_read_like_plain)
{
	const struct nfs_msg_auth krb5 = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_NONE, 0};

	ck_assert_uint_eq(ceiling_of(read3(&krb5, 0, 4096)), ceiling_of(read3(NULL, 0, 4096)));
}
END_TEST

START_TEST(krb5i_is_read_inside_its_wrapping)
{
	const struct nfs_msg_auth krb5i = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_INTEGRITY, 0};
	uint32_t plain = ceiling_of(read3(NULL, 0, 4096));
	uint32_t wrapped = ceiling_of(read3(&krb5i, 8, 4096));

	/* Length, sequence number and a checksum as long as a verifier may be. */
	ck_assert_uint_ge(wrapped, plain + 8 + 4 + 400);
	ck_assert_uint_lt(wrapped, plain + 1024);
}
END_TEST

START_TEST(krb5p_hides_the_requested_sizes)
{
	const struct nfs_msg_auth krb5p = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_PRIVACY, 0};

	ck_assert_uint_eq(ceiling_of(read3(&krb5p, 8, 16)), REPLY_UNBOUNDED_BYTES);
}
END_TEST

START_TEST(context_tokens_of_any_program_have_room)
{
	for (uint32_t proc = RPC_GSS_INIT; proc <= RPC_GSS_DESTROY; proc++) {
		const struct nfs_msg_auth gss = {RPC_AUTH_GSS, proc, RPC_GSS_NONE, 0};
		uint32_t ceiling = ceiling_of(nfs_msg_call(0x20000001, 1, 0, &gss));

		ck_assert_uint_ge(ceiling, 65536);
		ck_assert_uint_lt(ceiling, 65536 + 4096);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nfs_ceiling");
	TCase *tc = tcase_create("nfs_ceiling");

	tcase_add_test(tc, a_read_gets_its_count_and_what_surrounds_it);
	tcase_add_test(tc, a_bounded_reply_may_be_as_large_as_the_largest_message);
	tcase_add_test(tc, nothing_exceeds_the_largest_message);
	tcase_add_test(tc, unknown_calls_get_a_separate_ceiling);
	tcase_add_test(tc, bounded_operations_add_to_the_ceiling_of_unbounded_ones);
	tcase_add_test(tc, a_ceiling_is_proved_by_the_arguments_alone);
	tcase_add_test(tc, arguments_that_end_too_early_get_the_ceiling_of_the_unbounded);
	tcase_add_test(tc, krb5_is_read_like_plain);
	tcase_add_test(tc, krb5i_is_read_inside_its_wrapping);
	tcase_add_test(tc, krb5p_hides_the_requested_sizes);
	tcase_add_test(tc, context_tokens_of_any_program_have_room);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
