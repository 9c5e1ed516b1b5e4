// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests listeners with host names: each name is looked up once; which addresses are used when name
 * servers fail, do not answer, or report that the name does not exist.
 */
#include "daemon/service/listen_names.h"

#include <errno.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/service/listen_error.h"
#include "daemon/service/listener.h"
#include "tests/lib/test.h"

enum server { ANSWERS, FAILS, DENIES, SILENT, SHORT };

static enum server server;
static unsigned asked;
static char last_octet;
static struct late {
	struct resolver_answer *answer;
	void (*done)(void *arg);
	void *arg;
} late[8];
static unsigned nlate;
static struct listen_names *names;

static char name_a[] = "a.example", upper[] = "A.Example", name_b[] = "b.example";
static char literal[] = "192.0.2.1", six[] = "2001:db8::1", every[] = "";
static char port1[] = "2049", port2[] = "20049";

static struct config_uri more[] = {
	{.transport = TRANSPORT_RDMA, .host = upper, .port = port2},
	{.transport = TRANSPORT_TCP, .host = name_b, .port = port1},
	{.transport = TRANSPORT_TCP, .host = literal, .port = port1},
	{.transport = TRANSPORT_TCP, .host = six, .port = port1},
	{.transport = TRANSPORT_TCP, .host = every, .port = port1},
};
static const struct service_config service = {
	.listen = {.transport = TRANSPORT_TCP, .host = name_a, .port = port1},
	.nmore_listen = ARRAY_SIZE(more),
	.more_listen = more,
};

static int start(const char *host, const char *port, struct resolver_answer *answer,
		 void (*done)(void *arg), void *arg)
{
	struct resolver_answer literal_answer;
	char text[] = "10.0.0.x";

	asked++;
	if (server == SHORT)
		return -ENOMEM;
	if (server == SILENT)
		late[nlate++] = (struct late){answer, done, arg};
	if (server == SILENT)
		return 0;
	text[strlen(text) - 1] = last_octet;
	ck_assert(resolver_literal(text, port, &literal_answer));
	*answer = literal_answer;
	if (server == FAILS || server == DENIES)
		*answer = (struct resolver_answer){.error = "no", .is_final = server == DENIES};
	done(arg);
	return 0;
}

static const struct resolver resolver = {.start = start};

static void look_up(enum server now, char octet)
{
	struct listen_names *old = names;

	server = now;
	last_octet = octet;
	names = listen_names_new();
	ck_assert_ptr_nonnull(names);
	ck_assert_int_eq(listen_names_add(names, &service), 0);
	ck_assert_int_eq(listen_names_resolve(names, &resolver, old), 0);
	listen_names_put(old);
}

/* The first address of a.example; or the error. */
static const char *found(void)
{
	static char text[ADDRESS_TEXT_BYTES];
	const struct listen_name *name = listen_names_find(names, "a.example");

	ck_assert_ptr_nonnull(name);
	if (name->answer.error)
		return name->answer.error;
	return address_host_text((const struct sockaddr *)&name->answer.addrs[0], text);
}

static void setup(void)
{
	asked = nlate = 0;
	names = NULL;
	log_set_level(LOG_LEVEL_ERROR);
}

static void teardown(void)
{
	listen_names_put(names);
}

START_TEST(each_name_is_asked_for_once_and_no_literal)
{
	look_up(ANSWERS, '1');
	ck_assert_uint_eq(asked, 2);
	ck_assert_str_eq(found(), "10.0.0.1");
	ck_assert_ptr_nonnull(listen_names_find(names, "B.EXAMPLE"));
	ck_assert_ptr_null(listen_names_find(names, "192.0.2.1"));
	ck_assert_ptr_null(listen_names_find(names, "c.example"));
	ck_assert_ptr_null(listen_names_find(NULL, "a.example"));
}
END_TEST

START_TEST(without_an_old_answer_an_error_is_one)
{
	look_up(FAILS, '1');
	ck_assert_str_eq(found(), "no");
	look_up(SHORT, '1');
	ck_assert_str_eq(found(), "out of memory");
}
END_TEST

START_TEST(an_old_answer_serves_while_name_servers_fail)
{
	look_up(ANSWERS, '1');
	look_up(FAILS, '2');
	ck_assert_str_eq(found(), "10.0.0.1");
	ck_assert_str_eq(listen_names_find(names, "a.example")->stale_why, "no");
	/* … and again. */
	look_up(SHORT, '2');
	ck_assert_str_eq(found(), "10.0.0.1");
	look_up(ANSWERS, '3');
	ck_assert_str_eq(found(), "10.0.0.3");
	ck_assert_ptr_null(listen_names_find(names, "a.example")->stale_why);
}
END_TEST

/* It takes LISTEN_NAMES_OLD_MS. */
START_TEST(an_old_answer_serves_while_name_servers_are_silent)
{
	look_up(ANSWERS, '1');
	look_up(SILENT, '2');
	ck_assert_str_eq(found(), "10.0.0.1");
	ck_assert_str_eq(listen_names_find(names, "a.example")->stale_why,
			 "the name servers do not respond");
	/* Answers that come too late go nowhere. */
	while (nlate--) {
		*late[nlate].answer = (struct resolver_answer){.error = "late"};
		late[nlate].done(late[nlate].arg);
	}
	ck_assert_str_eq(found(), "10.0.0.1");
}
END_TEST

START_TEST(a_name_without_an_address_is_an_answer)
{
	look_up(ANSWERS, '1');
	look_up(DENIES, '2');
	ck_assert_str_eq(found(), "no");
	look_up(FAILS, '2');
	ck_assert_str_eq(found(), "no");
}
END_TEST

/* As after a look-up that had no memory. */
START_TEST(a_service_does_not_listen_at_a_name_without_an_answer)
{
	const struct service_config one = {
		.listen = {.transport = TRANSPORT_TCP, .host = name_a, .port = port1}};
	const struct listener_events events = {0};
	struct loop *loop = event_loop_new();
	struct listener *listener = NULL;
	char error[LISTEN_ERROR_BYTES] = "";

	names = listen_names_new();
	ck_assert_ptr_nonnull(names);
	ck_assert_int_eq(listen_names_add(names, &one), 0);
	ck_assert_int_eq(listener_open(loop, &one, names, NULL, &events, NULL, error, sizeof(error),
				       &listener),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "it was not looked up"));
	event_loop_free(loop);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("listen names");
	TCase *tc = tcase_create("listen names");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_name_is_asked_for_once_and_no_literal);
	tcase_add_test(tc, without_an_old_answer_an_error_is_one);
	tcase_add_test(tc, an_old_answer_serves_while_name_servers_fail);
	tcase_add_test(tc, an_old_answer_serves_while_name_servers_are_silent);
	tcase_add_test(tc, a_name_without_an_address_is_an_answer);
	tcase_add_test(tc, a_service_does_not_listen_at_a_name_without_an_answer);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
