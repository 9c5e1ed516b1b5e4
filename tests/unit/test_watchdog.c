// SPDX-License-Identifier: BSD-3-Clause
/* Tests a whole proxy under a service manager's watchdog. */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/loop.h"
#include "daemon/proxy/proxy.h"
#include "tests/lib/time_limit.h"
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

START_TEST(the_watchdog_is_notified_while_idle)
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

START_TEST(the_watchdog_is_not_notified_while_a_worker_is_stuck)
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

#define CALLS       24u
#define REPLY_BYTES 1000000u /* as large as one may be to a program that nobody knows, nearly */
#define STEP_BYTES  65536u
#define STEP_MS     200

/* Reads on slowly until the connection ends, or @limit has passed. Returns whether it has ended. */
static bool read_slowly_to_the_end(int fd, struct time_limit *limit)
{
	static char bytes[STEP_BYTES];
	ssize_t n;

	do {
		/* The pace of this reader. */
		(void)poll(NULL, 0, STEP_MS);
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	} while ((n > 0 || (n < 0 && errno == EAGAIN)) && !time_limit_passed(limit));
	return n == 0 || (n < 0 && errno != EAGAIN);
}

START_TEST(a_stop_takes_at_most_the_announced_time)
{
	int client, upstream, size = 262144, fd;
	struct time_limit limit;
	uint64_t told_us;
	char text[512];

	fixture_globals = "drain_timeout_s = 1;";
	start_tcp("");
	open_pair(1, &client, &upstream, NULL);
	setsockopt(client, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	for (uint32_t xid = 2; xid <= CALLS; xid++) {
		send_call(client, xid, 0);
		ck_assert_uint_eq(read_message(upstream, xid), FIXTURE_CALL_BYTES);
	}
	for (uint32_t xid = 1; xid <= CALLS; xid++)
		send_reply(upstream, xid, REPLY_BYTES);
	json_decref(control_ask("stop\n"));
	manager_await("EXTEND_TIMEOUT_USEC=", text, sizeof(text), &fd);
	told_us = strtoull(strstr(text, "EXTEND_TIMEOUT_USEC=") + strlen("EXTEND_TIMEOUT_USEC="),
			   NULL, 10);
	ck_assert_uint_eq(told_us, (1 + PROXY_STOP_S) * 1000000u);
	time_limit_begin(&limit, (double)told_us / 1000000);
	ck_assert(read_slowly_to_the_end(client, &limit));
	close(client);
	close(upstream);
	fixture_stop();
	ck_assert(!time_limit_passed(&limit));
}
END_TEST

/* Like a file on a mount whose server is gone, a pipe blocks who opens it. */
START_TEST(the_watchdog_is_notified_while_the_file_cannot_be_read)
{
	int client, upstream, asks;

	start_tcp("");
	fixture_block_file();
	asks = control_send("reload\n");
	manager_forget();
	for (unsigned i = 0; i < 6; i++)
		ck_assert(manager_hears("WATCHDOG=1", 10));
	open_pair(1, &client, &upstream, NULL);
	send_reply(upstream, 1, 0);
	ck_assert_uint_eq(read_message(client, 1), FIXTURE_REPLY_BYTES);
	fixture_unblock_file();
	json_decref(control_answer(asks));
	close(client);
	close(upstream);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watchdog");
	TCase *tc = tcase_create("watchdog");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_watchdog_is_notified_while_idle);
	tcase_add_test(tc, the_watchdog_is_not_notified_while_a_worker_is_stuck);
	tcase_add_test(tc, a_stop_takes_at_most_the_announced_time);
	tcase_add_test(tc, the_watchdog_is_notified_while_the_file_cannot_be_read);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
