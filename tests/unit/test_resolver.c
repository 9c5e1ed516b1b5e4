// SPDX-License-Identifier: BSD-3-Clause
/* The resolver: answers on the loop, never from inside the call, and not after a cancellation. */
#include "daemon/base/resolver.h"

#include <netinet/in.h>

#include "daemon/base/address.h"
#include "daemon/base/loop.h"
#include "tests/lib/test.h"

#define QUIESCE_MS 60000u

static struct loop *loop;
static int answers;
static size_t found;
static char text[ADDRESS_TEXT_BYTES];

static void on_answer(void *arg, const struct sockaddr_storage *addrs, size_t naddrs,
		      const char *error)
{
	answers++;
	found = naddrs;
	ck_assert(naddrs > 0 || error);
	if (naddrs)
		address_text((const struct sockaddr *)&addrs[0], text);
	event_loop_stop(loop);
}

static void setup(void)
{
	loop = event_loop_new();
	ck_assert_ptr_nonnull(loop);
	answers = 0;
}

static void teardown(void)
{
	ck_assert(resolver_quiesce(QUIESCE_MS));
	event_loop_free(loop);
}

START_TEST(a_literal_is_answered_on_the_loop)
{
	struct resolver_query *query;

	ck_assert_int_eq(resolver_start(loop, "127.0.0.1", "20049", on_answer, NULL, &query), 0);
	ck_assert_int_eq(answers, 0);
	event_loop_run(loop);
	ck_assert_int_eq(answers, 1);
	ck_assert_uint_eq(found, 1);
	ck_assert_str_eq(text, "127.0.0.1:20049");
}
END_TEST

START_TEST(an_ipv6_literal_needs_no_brackets)
{
	struct resolver_query *query;

	ck_assert_int_eq(resolver_start(loop, "::1", "2049", on_answer, NULL, &query), 0);
	event_loop_run(loop);
	ck_assert_str_eq(text, "[::1]:2049");
}
END_TEST

START_TEST(a_port_that_is_no_number_is_an_error)
{
	struct resolver_query *query;

	ck_assert_int_eq(resolver_start(loop, "127.0.0.1", "nfs", on_answer, NULL, &query), 0);
	event_loop_run(loop);
	ck_assert_int_eq(answers, 1);
	ck_assert_uint_eq(found, 0);
}
END_TEST

START_TEST(a_cancelled_query_is_not_answered)
{
	struct resolver_query *query, *other;

	ck_assert_int_eq(resolver_start(loop, "127.0.0.1", "1", on_answer, NULL, &query), 0);
	resolver_cancel(query);
	ck_assert(resolver_quiesce(QUIESCE_MS));
	ck_assert_int_eq(resolver_start(loop, "127.0.0.1", "2", on_answer, NULL, &other), 0);
	event_loop_run(loop);
	ck_assert_int_eq(answers, 1);
	ck_assert_str_eq(text, "127.0.0.1:2");
}
END_TEST

/* /etc/hosts knows it: glibc's threads are asked, and no server. */
START_TEST(a_name_is_looked_up)
{
	struct resolver_query *query;

	ck_assert_int_eq(resolver_start(loop, "localhost", "2049", on_answer, NULL, &query), 0);
	event_loop_run(loop);
	ck_assert_int_eq(answers, 1);
	ck_assert_uint_ge(found, 1);
}
END_TEST

START_TEST(a_cancelled_look_up_is_not_answered)
{
	struct resolver_query *query, *other;

	ck_assert_int_eq(resolver_start(loop, "localhost", "1", on_answer, NULL, &query), 0);
	resolver_cancel(query);
	ck_assert(resolver_quiesce(QUIESCE_MS));
	ck_assert_int_eq(resolver_start(loop, "127.0.0.1", "2", on_answer, NULL, &other), 0);
	event_loop_run(loop);
	ck_assert_int_eq(answers, 1);
	ck_assert_str_eq(text, "127.0.0.1:2");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("resolver");
	TCase *tc = tcase_create("resolver");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_literal_is_answered_on_the_loop);
	tcase_add_test(tc, an_ipv6_literal_needs_no_brackets);
	tcase_add_test(tc, a_port_that_is_no_number_is_an_error);
	tcase_add_test(tc, a_cancelled_query_is_not_answered);
	tcase_add_test(tc, a_name_is_looked_up);
	tcase_add_test(tc, a_cancelled_look_up_is_not_answered);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
