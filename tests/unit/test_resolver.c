// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the resolver: literals are resolved immediately, names on a thread, and no pending request
 * is lost.
 */
#include "daemon/base/resolver.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"

#define QUIESCE_S 60

static struct resolver_answer answer;
static atomic_uint answers;
static atomic_bool held;
static pthread_t here, there;

static void on_answer(void *arg)
{
	there = pthread_self();
	while (atomic_load(&held))
		sched_yield();
	atomic_fetch_add(&answers, 1);
}

static const char *first(void)
{
	static char text[ADDRESS_TEXT_BYTES];

	ck_assert_uint_ge(answer.naddrs, 1);
	return address_text((const struct sockaddr *)&answer.addrs[0], text);
}

/* What somebody has set the clock of the day ahead, by which nothing is to be timed. */
#define YEAR_S (365 * 86400)

static atomic_long ahead_s;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, ts);

	if (!rc && clock == CLOCK_REALTIME)
		ts->tv_sec += atomic_load(&ahead_s);
	return rc;
}

/* Waits for all look-ups. */
static void quiesce(void)
{
	struct time_limit limit;

	time_limit_begin(&limit, QUIESCE_S);
	while (!resolver_quiesce(1000))
		ck_assert(!time_limit_passed(&limit));
}

static void setup(void)
{
	atomic_store(&ahead_s, 0);
	here = pthread_self();
	atomic_store(&answers, 0);
	atomic_store(&held, false);
	answer = (struct resolver_answer){.naddrs = 99};
}

static void teardown(void)
{
	quiesce();
}

START_TEST(a_literal_address_needs_no_lookup)
{
	ck_assert(resolver_literal("127.0.0.1", "20049", &answer));
	ck_assert_uint_eq(answer.naddrs, 1);
	ck_assert_str_eq(first(), "127.0.0.1:20049");
	ck_assert_ptr_null(answer.error);
}
END_TEST

START_TEST(an_ipv6_literal_needs_no_brackets)
{
	ck_assert(resolver_literal("::1", "2049", &answer));
	ck_assert_str_eq(first(), "[::1]:2049");
}
END_TEST

START_TEST(a_name_is_no_literal)
{
	ck_assert(!resolver_literal("localhost", "1", &answer));
	ck_assert_uint_eq(answer.naddrs, 99);
}
END_TEST

/* /etc/hosts knows it: no server is asked. */
START_TEST(a_name_is_looked_up_on_another_thread)
{
	char host[] = "localhost", port[] = "2049";

	ck_assert_int_eq(resolver_start(host, port, &answer, on_answer, NULL), 0);
	/* They are the caller's again. */
	host[0] = port[0] = '?';
	quiesce();
	ck_assert_uint_eq(atomic_load(&answers), 1);
	ck_assert(!pthread_equal(here, there));
	ck_assert_uint_ge(answer.naddrs, 1);
	ck_assert_uint_eq(sockaddr_port((const struct sockaddr *)&answer.addrs[0]), 2049);
	ck_assert_ptr_null(answer.error);
}
END_TEST

/* ".invalid" is nobody's (RFC 6761). */
START_TEST(an_unknown_name_is_an_error)
{
	ck_assert_int_eq(resolver_start(_i ? "no.such.invalid" : "localhost", _i ? "1" : "nfs",
					&answer, on_answer, NULL),
			 0);
	quiesce();
	ck_assert_uint_eq(atomic_load(&answers), 1);
	ck_assert_uint_eq(answer.naddrs, 0);
	ck_assert_ptr_nonnull(answer.error);
}
END_TEST

START_TEST(a_running_lookup_is_waited_for)
{
	atomic_store(&held, true);
	ck_assert_int_eq(resolver_start("localhost", "1", &answer, on_answer, NULL), 0);
	ck_assert(!resolver_quiesce(20));
	ck_assert_uint_eq(atomic_load(&answers), 0);
	atomic_store(&held, false);
	quiesce();
	ck_assert_uint_eq(atomic_load(&answers), 1);
}
END_TEST

static uint64_t monotonic_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

START_TEST(how_long_that_takes_at_most_is_no_matter_of_the_day)
{
	uint64_t begin_us = monotonic_us();

	atomic_store(&held, true);
	ck_assert_int_eq(resolver_start("localhost", "2049", &answer, on_answer, NULL), 0);
	atomic_store(&ahead_s, _i ? YEAR_S : -YEAR_S);
	ck_assert(!resolver_quiesce(50));
	ck_assert_uint_ge(monotonic_us() - begin_us, 50000);
	atomic_store(&held, false);
	quiesce();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("resolver");
	TCase *tc = tcase_create("resolver");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_literal_address_needs_no_lookup);
	tcase_add_test(tc, an_ipv6_literal_needs_no_brackets);
	tcase_add_test(tc, a_name_is_no_literal);
	tcase_add_test(tc, a_name_is_looked_up_on_another_thread);
	tcase_add_loop_test(tc, an_unknown_name_is_an_error, 0, 2);
	tcase_add_test(tc, a_running_lookup_is_waited_for);
	tcase_add_loop_test(tc, how_long_that_takes_at_most_is_no_matter_of_the_day, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
