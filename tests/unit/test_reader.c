// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests reading the configuration file on a helper thread: a good file, one with errors, and one
 * that blocks the reader.
 */
#include "daemon/proxy/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"

#define LIMIT_US 200000u
#define SERVICE                                                                                    \
	"services = ( { name = \"one\"; listen = \"tcp://127.0.0.1:2049\"; "                       \
	"connect = \"tcp://127.0.0.1:2050\"; } );\n"

static char dir[32], path[64];
static struct loop *loop;
static struct reader *reader;
static unsigned dones;
static int rc;
static char errors[512];
static size_t nservices;
static bool has_names, is_late;

static void on_done(void *arg, struct reading *reading)
{
	dones++;
	rc = reading->rc;
	is_late = reading->is_late;
	snprintf(errors, sizeof(errors), "%s", reading->errors ? reading->errors : "");
	nservices = reading->config ? reading->config->nservices : 0;
	has_names = reading->names != NULL;
	event_loop_stop(loop);
}

static void put(const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static int start(void)
{
	return reader_start(reader, path, NULL, NULL, on_done, NULL);
}

static void setup_reader(uint64_t limit_us)
{
	strcpy(dir, "/tmp/test-reader-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/conf", dir);
	log_set_level(LOG_LEVEL_ERROR);
	loop = event_loop_new();
	reader = reader_new(loop, limit_us);
	ck_assert_ptr_nonnull(reader);
	dones = 0;
}

static void teardown(void)
{
	reader_free(reader);
	event_loop_free(loop);
	unlink(path);
	rmdir(dir);
}

START_TEST(a_file_is_read)
{
	setup_reader(20000000);
	put(SERVICE);
	ck_assert_int_eq(start(), 0);
	ck_assert_uint_eq(dones, 0);
	event_loop_run(loop);
	ck_assert_uint_eq(dones, 1);
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(nservices, 1);
	ck_assert(has_names);
	ck_assert_str_eq(errors, "");
}
END_TEST

START_TEST(errors_are_reported)
{
	setup_reader(20000000);
	put("services = 5;\n");
	ck_assert_int_eq(start(), 0);
	event_loop_run(loop);
	ck_assert_int_eq(rc, -EINVAL);
	ck_assert_ptr_nonnull(strstr(errors, "conf:1: "));
	unlink(path);
	ck_assert_int_eq(start(), 0);
	event_loop_run(loop);
	ck_assert_int_eq(rc, -ENOENT);
	ck_assert(!is_late);
	ck_assert_ptr_nonnull(strstr(errors, "No such file"));
}
END_TEST

static void on_timer(void *arg)
{
	event_loop_stop(loop);
}

/* Runs the loop until the thread of a cancelled reading has ended, and begins another one. */
static void await_thread(void)
{
	struct loop_timer *timer = loop_timer_new(loop, on_timer, NULL);
	struct time_limit limit;

	time_limit_begin(&limit, 20);
	while (start() == -EBUSY) {
		ck_assert(!time_limit_passed(&limit));
		loop_timer_set(loop, timer, 1000);
		event_loop_run(loop);
	}
	loop_timer_free(loop, timer);
}

/* Like one on a mount whose server is gone, a pipe blocks who opens it until somebody writes to it. */
START_TEST(a_file_that_blocks_is_not_waited_for)
{
	setup_reader(LIMIT_US);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(start(), -EBUSY);
	event_loop_run(loop);
	ck_assert_uint_eq(dones, 1);
	ck_assert_int_eq(rc, -ETIMEDOUT);
	ck_assert(is_late);
	ck_assert_int_eq(start(), -EBUSY);
	put(SERVICE);
	unlink(path);
	put(SERVICE);
	await_thread();
	event_loop_run(loop);
	ck_assert_uint_eq(dones, 2);
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(reader_late_s(reader), 0);
}
END_TEST

START_TEST(a_reader_can_be_freed_while_its_file_blocks)
{
	setup_reader(20000000);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(start(), 0);
	reader_free(reader);
	reader = NULL;
	put(SERVICE);
	event_loop_finish(loop);
	ck_assert_uint_eq(dones, 0);
}
END_TEST

START_TEST(a_waiting_reader_is_notified_of_its_cancellation)
{
	setup_reader(20000000);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(start(), 0);
	reader_cancel(reader);
	ck_assert_uint_eq(dones, 1);
	ck_assert_int_eq(rc, -ECANCELED);
	ck_assert_uint_eq(reader_late_s(reader), 0);
	/* Nobody waits any more. */
	reader_cancel(reader);
	put(SERVICE);
	event_loop_finish(loop);
	ck_assert_uint_eq(dones, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reader");
	TCase *tc = tcase_create("reader");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, a_file_is_read);
	tcase_add_test(tc, errors_are_reported);
	tcase_add_test(tc, a_file_that_blocks_is_not_waited_for);
	tcase_add_test(tc, a_reader_can_be_freed_while_its_file_blocks);
	tcase_add_test(tc, a_waiting_reader_is_notified_of_its_cancellation);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
