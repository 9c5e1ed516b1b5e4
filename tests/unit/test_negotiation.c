// SPDX-License-Identifier: BSD-3-Clause
/* Tests which version a connection speaks. */
#include "rpcrdma/v2/negotiation.h"
#include "tests/lib/test.h"

#define PROBE 0x77u
#define CALL  0x1234u

static struct negotiation neg;

static void expect_range(uint32_t low, uint32_t high)
{
	uint32_t l, h;

	negotiation_range(&neg, &l, &h);
	ck_assert_uint_eq(l, low);
	ck_assert_uint_eq(h, high);
}

static void probing(void)
{
	negotiation_init(&neg, true, 2, DIALECT_RFC8166);
	ck_assert(negotiation_wants_probe(&neg));
	negotiation_probe(&neg, PROBE);
	ck_assert(!negotiation_wants_probe(&neg));
	expect_range(1, 2);
}

START_TEST(a_connector_of_version_one_assumes_it)
{
	for (uint32_t highest = 0; highest < 2; highest++) {
		negotiation_init(&neg, true, highest, DIALECT_RFC8166);
		ck_assert(!negotiation_wants_probe(&neg));
		ck_assert_int_eq(neg.stage, NEGOTIATION_ASSUMED);
		ck_assert_uint_eq(neg.dialect->version, 1);
		expect_range(1, 1);
		ck_assert_int_eq(negotiation_check(&neg, CALL, 1, false), NEGOTIATION_ACCEPT);
		ck_assert_int_eq(negotiation_check(&neg, CALL, 2, true), NEGOTIATION_REJECT);
		negotiation_reply_received(&neg);
		ck_assert_int_eq(neg.stage, NEGOTIATION_SETTLED);
	}
}
END_TEST

START_TEST(any_version_two_message_settles_version_two)
{
	probing();
	ck_assert_int_eq(negotiation_check(&neg, CALL, 2, false), NEGOTIATION_ACCEPT);
	ck_assert(negotiation_message_received(&neg, 2));
	ck_assert_int_eq(neg.stage, NEGOTIATION_SETTLED);
	ck_assert_uint_eq(neg.dialect->version, 2);
	expect_range(2, 2);
	ck_assert_int_eq(negotiation_check(&neg, CALL, 1, false), NEGOTIATION_REJECT);
	ck_assert_int_eq(negotiation_check(&neg, CALL, 3, false), NEGOTIATION_REJECT);
	ck_assert(!negotiation_message_received(&neg, 2));
}
END_TEST

START_TEST(a_message_of_version_one_settles_that)
{
	probing();
	ck_assert(negotiation_message_received(&neg, 1));
	ck_assert_uint_eq(neg.dialect->version, 1);
	expect_range(1, 1);
	/* It has answered, so nothing is late. */
	negotiation_call_sent(&neg);
	ck_assert_int_eq(negotiation_check(&neg, PROBE, 2, true), NEGOTIATION_REJECT);
}
END_TEST

START_TEST(err_vers_settles_the_highest_in_common)
{
	static const struct {
		uint32_t low, high, version; /* 0: none */
	} rows[] = {
		{1, 1, 1}, {1, 2, 2}, {2, 2, 2}, {1, 9, 2}, {0, 1, 1},
		{2, 9, 2}, {3, 9, 0}, {0, 0, 0}, {2, 1, 0}, {0xffffffff, 0xffffffff, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		probing();
		ck_assert_int_eq(negotiation_rejected(&neg, rows[i].low, rows[i].high),
				 rows[i].version != 0);
		if (!rows[i].version)
			continue;
		ck_assert_int_eq(neg.stage, NEGOTIATION_SETTLED);
		ck_assert_uint_eq(neg.dialect->version, rows[i].version);
	}
}
END_TEST

START_TEST(after_silence_the_first_call_tells)
{
	probing();
	negotiation_timed_out(&neg);
	ck_assert_int_eq(neg.stage, NEGOTIATION_ASSUMED);
	ck_assert(!negotiation_wants_probe(&neg));
	expect_range(1, 2);
	negotiation_call_sent(&neg);
	ck_assert(negotiation_rejected(&neg, 2, 2));
	ck_assert_uint_eq(neg.dialect->version, 2);
	ck_assert_int_eq(negotiation_check(&neg, CALL, 2, false), NEGOTIATION_ACCEPT);
}
END_TEST

START_TEST(an_answer_is_late_after_the_first_call)
{
	probing();
	negotiation_timed_out(&neg);
	ck_assert_int_eq(negotiation_check(&neg, PROBE, 2, true), NEGOTIATION_ACCEPT);
	negotiation_call_sent(&neg);
	for (int replied = 0; replied < 2; replied++) {
		ck_assert_int_eq(negotiation_check(&neg, CALL, 2, true), NEGOTIATION_LATE);
		ck_assert_int_eq(negotiation_check(&neg, PROBE, 2, false), NEGOTIATION_LATE);
		ck_assert_int_eq(negotiation_check(&neg, CALL, 2, false),
				 replied ? NEGOTIATION_REJECT : NEGOTIATION_ACCEPT);
		ck_assert(!negotiation_message_received(&neg, 1));
		negotiation_reply_received(&neg);
		ck_assert_uint_eq(neg.dialect->version, 1);
	}
}
END_TEST

START_TEST(an_answer_before_the_first_call_counts)
{
	probing();
	negotiation_timed_out(&neg);
	ck_assert(!negotiation_message_received(&neg, 1));
	ck_assert(negotiation_message_received(&neg, 2));
	ck_assert_uint_eq(neg.dialect->version, 2);
	negotiation_call_sent(&neg);
	ck_assert_int_eq(negotiation_check(&neg, PROBE, 2, true), NEGOTIATION_ACCEPT);
}
END_TEST

START_TEST(an_acceptor_is_settled_by_the_first_call)
{
	for (uint32_t vers = 1; vers <= 2; vers++) {
		negotiation_init(&neg, false, 2, DIALECT_RFC8166);
		ck_assert(!negotiation_wants_probe(&neg));
		ck_assert(!negotiation_may_call(&neg));
		expect_range(1, 2);
		for (uint32_t v = 1; v <= 2; v++) {
			ck_assert_int_eq(negotiation_check(&neg, CALL, v, true),
					 NEGOTIATION_ACCEPT);
			ck_assert(!negotiation_message_received(&neg, v));
		}
		ck_assert_int_eq(negotiation_check(&neg, CALL, 0, false), NEGOTIATION_REJECT);
		ck_assert_int_eq(negotiation_check(&neg, CALL, 3, false), NEGOTIATION_REJECT);
		negotiation_call_received(&neg, vers);
		expect_range(vers, vers);
		ck_assert(negotiation_may_call(&neg));
		ck_assert_int_eq(negotiation_check(&neg, CALL, 3 - vers, false),
				 NEGOTIATION_REJECT);
		negotiation_call_received(&neg, 3 - vers);
		ck_assert_uint_eq(neg.dialect->version, vers);
	}
}
END_TEST

START_TEST(an_acceptor_may_speak_version_one_alone)
{
	negotiation_init(&neg, false, 1, DIALECT_RFC8166);
	ck_assert(negotiation_may_call(&neg));
	expect_range(1, 1);
	ck_assert_int_eq(negotiation_check(&neg, CALL, 2, true), NEGOTIATION_REJECT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("negotiation");
	TCase *tc = tcase_create("negotiation");

	tcase_add_test(tc, a_connector_of_version_one_assumes_it);
	tcase_add_test(tc, any_version_two_message_settles_version_two);
	tcase_add_test(tc, a_message_of_version_one_settles_that);
	tcase_add_test(tc, err_vers_settles_the_highest_in_common);
	tcase_add_test(tc, after_silence_the_first_call_tells);
	tcase_add_test(tc, an_answer_is_late_after_the_first_call);
	tcase_add_test(tc, an_answer_before_the_first_call_counts);
	tcase_add_test(tc, an_acceptor_is_settled_by_the_first_call);
	tcase_add_test(tc, an_acceptor_may_speak_version_one_alone);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
