// SPDX-License-Identifier: BSD-3-Clause
/* Tests additional threads of the daemon. */
#include "daemon/base/thread.h"

#include <signal.h>

#include "tests/lib/test.h"

static void *look(void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, arg);
	return arg;
}

START_TEST(a_thread_blocks_signals_and_its_starter_does_not)
{
	sigset_t there, here;
	pthread_t thread;
	void *result;

	sigemptyset(&there);
	ck_assert_int_eq(thread_start("look", look, &there, &thread), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert_ptr_eq(result, &there);
	pthread_sigmask(SIG_SETMASK, NULL, &here);
	ck_assert_int_eq(sigismember(&there, SIGTERM), 1);
	ck_assert_int_eq(sigismember(&there, SIGHUP), 1);
	ck_assert_int_eq(sigismember(&here, SIGTERM), 0);
	ck_assert_int_eq(sigismember(&here, SIGHUP), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread");
	TCase *tc = tcase_create("thread");

	tcase_add_test(tc, a_thread_blocks_signals_and_its_starter_does_not);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
