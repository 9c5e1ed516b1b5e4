// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the end of a reload or a resume in a whole proxy: the notification of systemd, and requests
 * that are pending while it stops.
 */
#include <errno.h>
#include <jansson.h>
#include <netdb.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/loop.h"
#include "daemon/proxy/reload.h"
#include "tests/unit/fake_manager.h"
#include "tests/unit/proxy_scene.h"

#define PATIENCE_S 20 /* for anything to come */
#define NAMED                                                                                      \
	"{ name = \"one\"; listen = \"tcp://filer.example:%u\"; "                                  \
	"connect = \"tcp://127.0.0.1:%u\"; " PLAIN_TCP " }"

static atomic_bool is_silent; /* the name server of filer.example */
static sem_t asked, answers;

/* Replaces the library's: filer.example is 127.0.0.1, and all else is written as an address. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
		struct addrinfo **list)
{
	struct sockaddr_in *addr;

	if (hints->ai_flags & AI_NUMERICHOST && strncmp(host, "127.", 4))
		return EAI_NONAME;
	if (!(hints->ai_flags & AI_NUMERICHOST) && atomic_load(&is_silent)) {
		sem_post(&asked);
		sem_wait(&answers);
	}
	*list = calloc(1, sizeof(**list) + sizeof(*addr));
	ck_assert_ptr_nonnull(*list);
	addr = (struct sockaddr_in *)(*list + 1);
	*addr = (struct sockaddr_in){.sin_family = AF_INET,
				     .sin_port = htons((uint16_t)atoi(port)),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	(*list)->ai_addr = (struct sockaddr *)addr;
	(*list)->ai_addrlen = sizeof(*addr);
	return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
	free(list);
}

static void setup(void)
{
	sem_init(&asked, 0, 0);
	sem_init(&answers, 0, 0);
	atomic_store(&is_silent, false);
	scene_setup();
	manager_open();
}

static void teardown(void)
{
	scene_teardown();
	manager_close();
}

static void expect_answer(int fd, const char *part)
{
	json_t *answer = control_answer(fd);
	char *text = json_dumps(answer, 0);

	ck_assert_msg(strstr(text, part) != NULL, "%s is not in: %s", part, text);
	free(text);
	json_decref(answer);
}

static void expect(const char *request, const char *part)
{
	expect_answer(control_send(request), part);
}

START_TEST(systemd_gets_the_result_of_a_reload)
{
	start_tcp("");
	manager_forget();
	expect("reload\n", "\"kept\": [\"one\"]");
	ck_assert(manager_hears("STATUS=1 service, 2 workers", PATIENCE_S));
	fixture_rewrite("", "5");
	expect("reload\n", "\"error\": \"not reloaded, nothing has changed\"");
	ck_assert(manager_hears("STATUS=The file was not reloaded: see the log", PATIENCE_S));
}
END_TEST

/* A resume whose look-up has begun, and which a name server that is silent holds up. */
static int begin_resume(void)
{
	int asks;

	fixture_start(NAMED, front, back);
	expect("drain\n", "\"draining\": [\"one\"]");
	/* The socket that was given to it listens no more then. */
	manager_forget();
	atomic_store(&is_silent, true);
	asks = control_send("resume\n");
	sem_wait(&asked);
	return asks;
}

/* In the loop's thread, which takes no answer after this turn. */
static void stop(void *arg)
{
	event_loop_stop(arg);
	sem_post(&answers);
}

START_TEST(a_stop_answers_a_waiting_resume)
{
	int asks = begin_resume();

	ck_assert_int_eq(event_loop_post(proxy->loop, stop, proxy->loop), 0);
	fixture_stop();
	expect_answer(asks, "\"error\": \"the daemon is stopping\"");
}
END_TEST

START_TEST(a_second_resume_during_the_first_is_rejected)
{
	int asks = begin_resume();

	expect("resume\n", "\"error\": \"another resume is looking up names: try again\"");
	sem_post(&answers);
	expect_answer(asks, "\"resumed\": [\"one\"]");
}
END_TEST

/* The error of the file system is reported, and not mistaken for the limit of the reading. */
static void apply(void *arg)
{
	int *err = arg;
	struct reading reading = {.rc = -*err};
	struct reload_report report;

	ck_assert_int_eq(reload_apply(proxy, &reading, 0, &report), -*err);
	ck_assert_str_eq(report.texts[RELOAD_ERRORS], "");
	reload_report_fini(&report);
	sem_post(&asked);
}

START_TEST(an_error_of_the_file_is_not_the_limit)
{
	int err = _i ? EBUSY : ETIMEDOUT;

	start_tcp("");
	ck_assert_int_eq(event_loop_post(proxy->loop, apply, &err), 0);
	sem_wait(&asked);
}
END_TEST

/* And the limit is said. */
static void apply_late(void *arg)
{
	struct reading reading = {.rc = -ETIMEDOUT, .is_late = true};
	struct reload_report report;

	ck_assert_int_eq(reload_apply(proxy, &reading, 0, &report), -ETIMEDOUT);
	ck_assert_ptr_nonnull(strstr(report.texts[RELOAD_ERRORS], "could not be read in 20 s"));
	reload_report_fini(&report);
	reading = (struct reading){.rc = -EBUSY};
	ck_assert_int_eq(reload_apply(proxy, &reading, 33, &report), -EBUSY);
	ck_assert_ptr_nonnull(strstr(report.texts[RELOAD_ERRORS], "33 s ago is still blocked"));
	reload_report_fini(&report);
	sem_post(&asked);
}

START_TEST(the_limit_of_a_reading_is_said)
{
	start_tcp("");
	ck_assert_int_eq(event_loop_post(proxy->loop, apply_late, NULL), 0);
	sem_wait(&asked);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reload_ends");
	TCase *tc = tcase_create("reload_ends");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, systemd_gets_the_result_of_a_reload);
	tcase_add_test(tc, a_stop_answers_a_waiting_resume);
	tcase_add_test(tc, a_second_resume_during_the_first_is_rejected);
	tcase_add_loop_test(tc, an_error_of_the_file_is_not_the_limit, 0, 2);
	tcase_add_test(tc, the_limit_of_a_reading_is_said);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
