// SPDX-License-Identifier: BSD-3-Clause
/* Ceilings of Replies: what the authentication adds, and when the service's own is all there is. */
#include "tests/lib/test.h"
#include "tests/nfs/look.h"

#define LIMIT  (1024u * 1024 + 65536)
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

START_TEST(nothing_exceeds_the_services_ceiling)
{
	ck_assert_uint_eq(ceiling_of(read3(NULL, 0, UINT32_MAX)), LIMIT);
	ck_assert_uint_eq(ceiling_of(read3(NULL, 0, LIMIT)), LIMIT);
}
END_TEST

START_TEST(what_is_not_known_gets_the_services_ceiling)
{
	ck_assert_uint_eq(ceiling_of(nfs_msg_call(0x20000001, 1, 1, NULL)), LIMIT);
	ck_assert_uint_eq(ceiling_of(nfs_msg_call(100003, 9, 1, NULL)), LIMIT);
	ck_assert_uint_eq(ceiling_of(nfs_msg_call(100003, 3, 22, NULL)), LIMIT);
}
END_TEST

START_TEST(arguments_that_end_too_early_get_the_services_ceiling)
{
	struct nfs_msg *call = read3(NULL, 0, 4096);
	struct look look = look_at_msg(call, LIMIT);
	struct call_facts facts;

	look_whole(&look, &facts);
	ck_assert_uint_lt(facts.ceiling_bytes, LIMIT);
	/* Also when the header is said to be longer than the message. */
	while (look.len_bytes-- > 0) {
		const struct rpc_piece piece = {look.msg, look.len_bytes};
		const struct rpc_pieces pieces = {&piece, 1, look.len_bytes};

		nfs_facts_begin(&facts, LIMIT);
		nfs_facts_go_on(&facts, NULL, &pieces, NULL);
		ck_assert_int_eq(facts.stage, FACTS_WHOLE);
		ck_assert_int_eq(facts.trail, FACTS_LOST);
		ck_assert_uint_eq(facts.ceiling_bytes, LIMIT);
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

START_TEST(krb5p_hides_what_it_asks_for)
{
	const struct nfs_msg_auth krb5p = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_PRIVACY, 0};

	ck_assert_uint_eq(ceiling_of(read3(&krb5p, 8, 16)), LIMIT);
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
	tcase_add_test(tc, nothing_exceeds_the_services_ceiling);
	tcase_add_test(tc, what_is_not_known_gets_the_services_ceiling);
	tcase_add_test(tc, arguments_that_end_too_early_get_the_services_ceiling);
	tcase_add_test(tc, krb5_is_read_like_plain);
	tcase_add_test(tc, krb5i_is_read_inside_its_wrapping);
	tcase_add_test(tc, krb5p_hides_what_it_asks_for);
	tcase_add_test(tc, context_tokens_of_any_program_have_room);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
