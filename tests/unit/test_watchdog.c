// SPDX-License-Identifier: BSD-3-Clause
/* A whole proxy under a service manager's watchdog. */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/loop.h"
#include "tests/unit/fake_manager.h"
#include "tests/unit/proxy_scene.h"

#define WATCHDOG_MS 400

static void setup(void)
{
	char text[24];

	scene_setup();
	manager_open();
	snprintf(text, sizeof(text), "%u", WATCHDOG_MS * 1000u);
	setenv("WATCHDOG_USEC", text, 1);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	setenv("WATCHDOG_PID", text, 1);
}

static void teardown(void)
{
	scene_teardown();
	manager_close();
}

START_TEST(it_is_fed_while_nothing_happens)
{
	start_tcp("");
	for (unsigned i = 0; i < 4; i++)
		ck_assert(manager_hears("WATCHDOG=1", 10));
}
END_TEST

static sem_t stuck, go_on;

static void stick(void *arg)
{
	sem_post(&stuck);
	sem_wait(&go_on);
}

START_TEST(it_is_not_fed_while_a_worker_is_stuck)
{
	unsigned feeds = 0;

	start_tcp("");
	sem_init(&stuck, 0, 0);
	sem_init(&go_on, 0, 0);
	ck_assert_int_eq(event_loop_post(proxy->workers[1]->loop, stick, NULL), 0);
	sem_wait(&stuck);
	/* A look that has just found it turned feeds, however late; and it may have turned since, which feeds once more. */
	manager_forget();
	while (feeds < 3 && manager_hears("WATCHDOG=1", 2 * WATCHDOG_MS / 1000.0))
		feeds++;
	ck_assert_uint_le(feeds, 2);
	sem_post(&go_on);
	ck_assert(manager_hears("WATCHDOG=1", 10));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watchdog");
	TCase *tc = tcase_create("watchdog");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, it_is_fed_while_nothing_happens);
	tcase_add_test(tc, it_is_not_fed_while_a_worker_is_stuck);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
