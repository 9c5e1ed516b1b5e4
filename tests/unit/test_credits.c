// SPDX-License-Identifier: BSD-3-Clause
/* Tests the effect of each Call and each Reply on credits. */
#include "rpcrdma/credits.h"
#include "tests/lib/test.h"

START_TEST(a_window_starts_with_one)
{
	struct credit_window window;

	credit_window_init(&window, 32);
	ck_assert(credit_window_open(&window));
	credit_window_consume(&window);
	ck_assert(!credit_window_open(&window));
	credit_window_release(&window);
	ck_assert(credit_window_grant(&window, 32));
	for (int i = 0; i < 32; i++) {
		ck_assert(credit_window_open(&window));
		credit_window_consume(&window);
	}
	ck_assert(!credit_window_open(&window));
}
END_TEST

START_TEST(a_window_asks_for_one_at_least)
{
	struct credit_window window;

	credit_window_init(&window, 0);
	ck_assert_uint_eq(window.asked, 1);
}
END_TEST

START_TEST(a_grant_is_limited_to_one_and_the_request)
{
	struct credit_window window;

	credit_window_init(&window, 8);
	ck_assert(!credit_window_grant(&window, 0));
	ck_assert_uint_eq(window.granted, 1);
	ck_assert(credit_window_grant(&window, UINT32_MAX));
	ck_assert_uint_eq(window.granted, 8);
}
END_TEST

/* A3.3-5 */
START_TEST(an_error_grants_less_or_nothing_new)
{
	struct credit_window window;

	credit_window_init(&window, 8);
	ck_assert(credit_window_grant(&window, 5));
	credit_window_lower(&window, 8);
	ck_assert_uint_eq(window.granted, 5);
	credit_window_lower(&window, 0);
	ck_assert_uint_eq(window.granted, 5);
	credit_window_lower(&window, 2);
	ck_assert_uint_eq(window.granted, 2);
	credit_window_block(&window);
	credit_window_lower(&window, 2);
	ck_assert_uint_eq(window.granted, 0);
}
END_TEST

/* A3.3-11 */
START_TEST(a_grant_of_zero_may_say_to_wait)
{
	struct credit_window window;

	credit_window_init(&window, 8);
	window.reserved = 1;
	ck_assert(credit_window_grant(&window, 3));
	credit_window_consume(&window);
	credit_window_consume(&window);
	credit_window_block(&window);
	ck_assert_uint_eq(credit_window_value(&window), 0);
	ck_assert(!credit_window_open(&window) && !credit_window_has_credit(&window));
	credit_window_release(&window);
	ck_assert(!credit_window_open(&window) && !credit_window_has_credit(&window));
	/* A later Reply grants. */
	ck_assert(credit_window_grant(&window, 2));
	ck_assert(credit_window_has_credit(&window) && !credit_window_open(&window));
	credit_window_block(&window);
	/* The last one ends without a grant. */
	credit_window_release(&window);
	ck_assert_uint_eq(credit_window_value(&window), 1);
	ck_assert(credit_window_open(&window) && credit_window_has_credit(&window));
	credit_window_consume(&window);
	ck_assert(!credit_window_open(&window) && !credit_window_has_credit(&window));
}
END_TEST

START_TEST(a_reserved_credit_is_for_calls_of_our_own)
{
	struct credit_window window;

	credit_window_init(&window, 8);
	window.reserved = 1;
	/* The only one is for whoever comes. */
	ck_assert(credit_window_open(&window) && credit_window_has_credit(&window));
	credit_window_consume(&window);
	ck_assert(!credit_window_open(&window) && !credit_window_has_credit(&window));
	ck_assert(credit_window_grant(&window, 3));
	ck_assert(credit_window_open(&window));
	credit_window_consume(&window);
	ck_assert(!credit_window_open(&window) && credit_window_has_credit(&window));
	credit_window_consume(&window);
	ck_assert(!credit_window_open(&window) && !credit_window_has_credit(&window));
	/* A grant that shrinks below what is in flight. */
	ck_assert(credit_window_grant(&window, 2));
	ck_assert(!credit_window_open(&window) && !credit_window_has_credit(&window));
}
END_TEST

START_TEST(a_reduced_window_opens_only_below_it)
{
	struct credit_window window;

	credit_window_init(&window, 8);
	ck_assert(credit_window_grant(&window, 8));
	for (int i = 0; i < 8; i++)
		credit_window_consume(&window);
	ck_assert(credit_window_grant(&window, 2));
	for (int i = 0; i < 6; i++) {
		credit_window_release(&window);
		ck_assert(!credit_window_open(&window));
	}
	credit_window_release(&window);
	ck_assert(credit_window_open(&window));
}
END_TEST

START_TEST(a_grant_grows_with_use_up_to_its_limit)
{
	struct credit_grant grant;

	credit_grant_init(&grant, 4, 100);
	ck_assert_uint_eq(credit_grant_value(&grant), 4);
	for (int i = 0; i < 3; i++) {
		credit_grant_call(&grant, 128);
		credit_grant_done(&grant);
	}
	ck_assert_uint_eq(credit_grant_value(&grant), 4);
	for (int i = 0; i < 200; i++) {
		credit_grant_call(&grant, 128);
		credit_grant_done(&grant);
		ck_assert_uint_ge(credit_grant_value(&grant), 4);
		ck_assert_uint_le(credit_grant_value(&grant), 100);
	}
	ck_assert_uint_eq(credit_grant_value(&grant), 100);
	ck_assert_uint_eq(grant.in_flight, 0);
}
END_TEST

START_TEST(a_grant_used_at_once_grows_at_once)
{
	struct credit_grant grant;

	credit_grant_init(&grant, 16, 64);
	for (int i = 0; i < 16; i++)
		credit_grant_call(&grant, 64);
	ck_assert_uint_eq(grant.granted, 32);
}
END_TEST

START_TEST(a_grant_does_not_grow_past_what_is_requested)
{
	struct credit_grant grant;

	credit_grant_init(&grant, 4, 100);
	for (int i = 0; i < 100; i++) {
		credit_grant_call(&grant, 6);
		credit_grant_done(&grant);
	}
	ck_assert_uint_eq(grant.granted, 6);
}
END_TEST

START_TEST(a_grant_is_never_zero)
{
	struct credit_grant grant;

	credit_grant_init(&grant, 0, 0);
	ck_assert_uint_eq(credit_grant_value(&grant), 1);
	credit_grant_call(&grant, 0);
	ck_assert_uint_eq(credit_grant_value(&grant), 1);
}
END_TEST

/* A3.8-5: a client's later request says nothing of the memory exposed to it. */
START_TEST(replies_by_read_chunk_are_limited_by_the_grant)
{
	struct credit_grant grant;

	credit_grant_init(&grant, 2, 8);
	for (int i = 0; i < 2; i++) {
		credit_grant_call(&grant, 1);
		credit_grant_done(&grant);
		ck_assert(credit_grant_may_expose(&grant));
		credit_grant_expose(&grant);
	}
	ck_assert(!credit_grant_may_expose(&grant));
	credit_grant_invalidated(&grant);
	ck_assert(credit_grant_may_expose(&grant));
	ck_assert_uint_eq(credit_grant_value(&grant), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("credits");
	TCase *tc = tcase_create("credits");

	tcase_add_test(tc, a_window_starts_with_one);
	tcase_add_test(tc, a_window_asks_for_one_at_least);
	tcase_add_test(tc, a_grant_is_limited_to_one_and_the_request);
	tcase_add_test(tc, an_error_grants_less_or_nothing_new);
	tcase_add_test(tc, a_grant_of_zero_may_say_to_wait);
	tcase_add_test(tc, a_reserved_credit_is_for_calls_of_our_own);
	tcase_add_test(tc, a_reduced_window_opens_only_below_it);
	tcase_add_test(tc, a_grant_grows_with_use_up_to_its_limit);
	tcase_add_test(tc, a_grant_used_at_once_grows_at_once);
	tcase_add_test(tc, a_grant_does_not_grow_past_what_is_requested);
	tcase_add_test(tc, a_grant_is_never_zero);
	tcase_add_test(tc, replies_by_read_chunk_are_limited_by_the_grant);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
