// SPDX-License-Identifier: BSD-3-Clause
/* What systemd hears of the daemon's state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/sd.h"
#include "tests/lib/test.h"

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

START_TEST(the_life_of_the_daemon_is_told)
{
	sd_ready();
	ck_assert_str_eq(heard(), "READY=1");
	sd_status("%d services", 3);
	ck_assert_str_eq(heard(), "STATUS=3 services");
	sd_stopping();
	ck_assert_str_eq(heard(), "STOPPING=1\nSTATUS=Closing connections");
}
END_TEST

START_TEST(a_status_cannot_say_anything_else)
{
	sd_status("%s", "fine\nWATCHDOG=1");
	ck_assert_str_eq(heard(), "STATUS=fine");
}
END_TEST

START_TEST(without_systemd_nothing_happens)
{
	unsetenv("NOTIFY_SOCKET");
	sd_ready();
	ck_assert_str_eq(heard(), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sd");
	TCase *tc = tcase_create("sd");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_life_of_the_daemon_is_told);
	tcase_add_test(tc, a_status_cannot_say_anything_else);
	tcase_add_test(tc, without_systemd_nothing_happens);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
