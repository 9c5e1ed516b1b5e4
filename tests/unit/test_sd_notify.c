// SPDX-License-Identifier: BSD-3-Clause
/* Tests the notifications to systemd of the daemon's state. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/sd_notify.h"
#include "daemon/base/socket_activation.h"
#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"

static char dir[] = "/tmp/test-sd-XXXXXX";
static struct sockaddr_un addr = {.sun_family = AF_UNIX};
static int fd;

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/notify", dir);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	setenv("NOTIFY_SOCKET", addr.sun_path, 1);
}

static void teardown(void)
{
	unsetenv("NOTIFY_SOCKET");
	close(fd);
	unlink(addr.sun_path);
	rmdir(dir);
}

static const char *heard(void)
{
	static char text[1024];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

START_TEST(the_states_of_the_daemon_are_notified)
{
	sd_notify_ready();
	ck_assert_str_eq(heard(), "READY=1");
	sd_notify_status("%d services", 3);
	ck_assert_str_eq(heard(), "STATUS=3 services");
	sd_notify_stopping();
	ck_assert_str_eq(heard(), "STOPPING=1\nSTATUS=Closing connections");
}
END_TEST

START_TEST(a_status_cannot_say_anything_else)
{
	sd_notify_status("%s", "fine\nWATCHDOG=1");
	ck_assert_str_eq(heard(), "STATUS=fine");
}
END_TEST

START_TEST(without_systemd_nothing_happens)
{
	unsetenv("NOTIFY_SOCKET");
	sd_notify_ready();
	ck_assert_str_eq(heard(), "");
}
END_TEST

/* It waits once for a manager that reads nothing; the main thread serves. */
START_TEST(a_manager_that_reads_nothing_does_not_block)
{
	struct time_limit limit;
	int filler = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	log_set_level(LOG_LEVEL_ERROR);
	ck_assert_int_eq(connect(filler, (struct sockaddr *)&addr, sizeof(addr)), 0);
	while (send(filler, "X", 1, 0) == 1)
		;
	time_limit_begin(&limit, SD_NOTIFY_SEND_MS / 1000.0 + 2);
	sd_notify_watchdog();
	sd_notify_ready();
	for (unsigned i = 0; i < 100; i++)
		sd_notify_status("%u", i);
	ck_assert(!time_limit_passed(&limit));
	while (recv(fd, (char[8]){0}, 8, 0) > 0)
		;
	sd_notify_ready();
	ck_assert_str_eq(heard(), "READY=1");
	close(filler);
}
END_TEST

static bool count_line(void *arg, const char *line, size_t len)
{
	++*(unsigned *)arg;
	return true;
}

static uint64_t no_time(clockid_t clock)
{
	return 0;
}

/* One for each service would be many. */
START_TEST(log_lines_about_failed_notifications_are_limited)
{
	unsigned lines = 0;
	const struct log_output output = {.write = count_line, .arg = &lines, .now_us = no_time};

	setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
	log_set_output(&output);
	log_set_level(LOG_LEVEL_WARNING);
	for (unsigned i = 0; i < 1000; i++) {
		sd_notify_status("%u", i);
		socket_activation_unstore("one");
	}
	log_set_output(NULL);
	ck_assert_uint_eq(lines, 2 * LOG_LIMIT_BURST);
}
END_TEST

START_TEST(descriptors_go_with_a_message)
{
	char text[64], control[CMSG_SPACE(2 * sizeof(int))];
	struct iovec iov = {text, sizeof(text)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	int fds[2] = {fd, 2}, got[2];

	ck_assert_int_eq(sd_notify_send("FDSTORE=1", fds, 2, true), 0);
	ck_assert_int_eq(recvmsg(fd, &msg, 0), strlen("FDSTORE=1"));
	ck_assert_ptr_nonnull(CMSG_FIRSTHDR(&msg));
	ck_assert_uint_eq(CMSG_FIRSTHDR(&msg)->cmsg_len, CMSG_LEN(sizeof(got)));
	memcpy(got, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(got));
	close(got[0]);
	close(got[1]);
}
END_TEST

START_TEST(a_name_can_be_abstract)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char name[32], text[32];
	int other = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), len;
	ssize_t n;

	len = snprintf(name, sizeof(name), "@test-sd-%d", (int)getpid());
	memcpy(at.sun_path, name, (size_t)len);
	at.sun_path[0] = '\0';
	ck_assert_int_eq(bind(other, (struct sockaddr *)&at,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len)),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
	sd_notify_ready();
	n = recv(other, text, sizeof(text), 0);
	ck_assert_int_eq(n, 7);
	ck_assert_int_eq(memcmp(text, "READY=1", 7), 0);
	close(other);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sd");
	TCase *tc = tcase_create("sd");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_states_of_the_daemon_are_notified);
	tcase_add_test(tc, a_status_cannot_say_anything_else);
	tcase_add_test(tc, a_manager_that_reads_nothing_does_not_block);
	tcase_add_test(tc, log_lines_about_failed_notifications_are_limited);
	tcase_add_test(tc, descriptors_go_with_a_message);
	tcase_add_test(tc, a_name_can_be_abstract);
	tcase_add_test(tc, without_systemd_nothing_happens);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
