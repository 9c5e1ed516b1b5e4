// SPDX-License-Identifier: BSD-3-Clause
/* Tests the host checks of -t, with a resolver and a memory size of the test. */
#include "daemon/config/config_check.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/unit/config_fixture.h"

#define GIB      (1024ull * 1024 * 1024)
#define SHORT_MS 50u
#define LONG_MS  60000u

static char *said;

static FILE *listen_to(void)
{
	static size_t len;

	free(said);
	said = NULL;
	return open_memstream(&said, &len);
}

static void teardown(void)
{
	free(said);
	said = NULL;
	config_fixture_teardown();
}

/* ---- a resolver that knows some names ---- */

static struct {
	unsigned asked;
	struct resolver_answer *answer; /* of "slow", which is answered by late_answer() */
	void (*done)(void *arg);
	void *arg;
} fake;

static int fake_start(const char *host, const char *port, struct resolver_answer *answer,
		      void (*done)(void *arg), void *arg)
{
	ck_assert_str_ne(port, "");
	fake.asked++;
	if (!strcmp(host, "none"))
		return -EAGAIN;
	*answer = (struct resolver_answer){.naddrs = 1};
	if (!strcmp(host, "wrong"))
		*answer = (struct resolver_answer){.error = "Name or service not known",
						   .is_final = true};
	else if (!strcmp(host, "lost"))
		*answer = (struct resolver_answer){.error = "Temporary failure in name resolution"};
	else if (!strcmp(host, "slow")) {
		fake.answer = answer;
		fake.done = done;
		fake.arg = arg;
		return 0;
	}
	done(arg);
	return 0;
}

static const struct resolver resolver = {.start = fake_start};

static void *late_answer(void *arg)
{
	(void)arg;
	*fake.answer = (struct resolver_answer){.naddrs = 1};
	fake.done(fake.arg);
	return NULL;
}

/* What is said of the names of two services. */
static const char *names(const char *a, const char *b, unsigned timeout_ms)
{
	char text[600];
	FILE *out;

	snprintf(text, sizeof(text),
		 "services = (\n{ name = \"a\"; listen = \"tcp://127.0.0.1:1\"; connect = "
		 "\"rdma://%s\"; },\n"
		 "{ name = \"b\"; listen = \"tcp://127.0.0.1:2\"; connect = \"rdma://%s\"; } );\n",
		 a, b);
	fake.asked = 0;
	ck_assert_msg(config_fixture_load(text) == 0, "%s", fixture.errors);
	out = listen_to();
	config_check_names(fixture.config, &resolver, timeout_ms, out);
	fclose(out);
	return said;
}

START_TEST(a_name_that_resolves_is_not_spoken_of)
{
	ck_assert_str_eq(names("right", "right", LONG_MS), "");
	ck_assert_uint_eq(fake.asked, 1);
}
END_TEST

START_TEST(a_literal_is_not_asked_for)
{
	ck_assert_str_eq(names("192.0.2.1", "[2001:db8::1]", LONG_MS), "");
	ck_assert_uint_eq(fake.asked, 0);
}
END_TEST

START_TEST(a_name_that_does_not_resolve_is_warned_of)
{
	ck_assert_str_eq(names("right", "wrong", LONG_MS),
			 config_fixture_at("3: warning: service b: the name wrong does not resolve "
					   "(Name or service not known): is it right? clients wait "
					   "until it does"));
	ck_assert_str_eq(names("lost", "LOST", LONG_MS),
			 config_fixture_at("2: warning: service a: the name lost does not resolve "
					   "(Temporary failure in name resolution): do the name "
					   "servers answer? clients wait until it does"));
	ck_assert_uint_eq(fake.asked, 1);
}
END_TEST

/* It is worse than a server's name: the daemon ends. Neither says anything of a listener without a host. */
START_TEST(a_name_to_listen_at_is_looked_up_too)
{
	FILE *out;

	ck_assert_int_eq(
		config_fixture_load("services = (\n{ name = \"a\"; listen = \"tcp://wrong:1\"; "
				    "connect = \"rdma://right\"; },\n"
				    "{ name = \"b\"; listen = \"tcp://:2\"; "
				    "connect = \"rdma://right\"; } );\n"),
		0);
	out = listen_to();
	config_check_names(fixture.config, &resolver, LONG_MS, out);
	fclose(out);
	ck_assert_str_eq(
		said, config_fixture_at("2: warning: service a: the name wrong to listen at does "
					"not resolve (Name or service not known): is it right? "
					"the daemon does not start until it does"));
}
END_TEST

START_TEST(silent_name_servers_do_not_delay_the_check)
{
	pthread_t late;

	ck_assert_str_eq(
		names("slow", "wrong", SHORT_MS),
		config_fixture_at("2: warning: service a: the name slow does not resolve "
				  "(no answer in 0.05 s): do the name servers answer? clients "
				  "wait until it does\n"
				  "3: warning: service b: the name wrong does not resolve "
				  "(Name or service not known): is it right? clients wait "
				  "until it does"));
	/* Nobody waits for it any more, but it may come. */
	ck_assert_int_eq(pthread_create(&late, NULL, late_answer, NULL), 0);
	ck_assert_int_eq(pthread_join(late, NULL), 0);
}
END_TEST

START_TEST(checks_that_are_impossible_are_not_mentioned)
{
	ck_assert_str_eq(names("none", "wrong", LONG_MS),
			 config_fixture_at("3: warning: service b: the name wrong does not resolve "
					   "(Name or service not known): is it right? clients wait "
					   "until it does"));
}
END_TEST

/* ---- the host ---- */

static const char *host(const char *text, uint64_t memory_bytes)
{
	FILE *out;

	ck_assert_msg(config_fixture_load(text) == 0, "%s", fixture.errors);
	out = listen_to();
	config_check_host(fixture.config, memory_bytes, out);
	fclose(out);
	return said;
}

/* With a control socket of that path in the test's folder. */
static const char *control(const char *path)
{
	char text[300];

	snprintf(text, sizeof(text), "control = \"%s%s\";", fixture.dir, path);
	return host(text, GIB);
}

START_TEST(a_limit_above_the_memory_is_warned_of)
{
	ck_assert_str_eq(host("memory_limit_mib = 2048;", 2 * GIB), "");
	ck_assert_str_eq(host("memory_limit_mib = 2049;", 0), "");
	ck_assert_str_eq(
		host("memory_limit_mib = 2049;", 2 * GIB),
		config_fixture_at("1: warning: memory_limit_mib is 2049, but this host has "
				  "2048 MiB of memory: lower it, or the daemon may be "
				  "killed when memory runs out"));
}
END_TEST

static const struct {
	const char *listen, *host; /* NULL: no warning */
} listens[] = {
	{"tcp://127.0.0.1", NULL},
	{"iwarp://[::1]", NULL},
	{"tcp://:2049", NULL},
	{"tcp://filer", NULL}, /* a name */
	{"tcp://192.0.2.1", "192.0.2.1"},
	{"iwarp://[2001:db8::1]", "2001:db8::1"},
	{"rdma://192.0.2.1", "192.0.2.1"},
};

START_TEST(an_address_to_listen_at_that_the_host_lacks_is_warned_of)
{
	char text[300], expected[300] = "";

	snprintf(text, sizeof(text),
		 "\nservices = ( { name = \"a\"; listen = \"%s\"; connect = \"tcp://x\"; } );",
		 listens[_i].listen);
	if (listens[_i].host)
		snprintf(
			expected, sizeof(expected),
			"2: warning: service a: address %s to listen on is not configured on this host (yet): the service becomes reachable once it is",
			listens[_i].host);
	ck_assert_str_eq(host(text, GIB), *expected ? config_fixture_at(expected) : "");
}
END_TEST

START_TEST(a_control_socket_without_a_directory_is_warned_of)
{
	char expected[400];

	ck_assert_str_eq(host("", GIB), "");
	ck_assert_str_eq(control("/control"), "");
	snprintf(expected, sizeof(expected),
		 "1: warning: control: there is no directory %s/nowhere (No such file or "
		 "directory): create it, or set control to another path",
		 fixture.dir);
	ck_assert_str_eq(control("/nowhere/control"), config_fixture_at(expected));
	snprintf(expected, sizeof(expected),
		 "1: warning: control: %s is a directory: name a file in it", fixture.dir);
	ck_assert_str_eq(control(""), config_fixture_at(expected));
	config_fixture_write(fixture.other, "");
	snprintf(expected, sizeof(expected), "1: warning: control: %s is not a directory",
		 fixture.other);
	ck_assert_str_eq(control("/other/control"), config_fixture_at(expected));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_check");
	TCase *tc = tcase_create("config_check");

	tcase_add_checked_fixture(tc, config_fixture_setup, teardown);
	tcase_add_test(tc, a_name_that_resolves_is_not_spoken_of);
	tcase_add_test(tc, a_literal_is_not_asked_for);
	tcase_add_test(tc, a_name_that_does_not_resolve_is_warned_of);
	tcase_add_test(tc, a_name_to_listen_at_is_looked_up_too);
	tcase_add_test(tc, silent_name_servers_do_not_delay_the_check);
	tcase_add_test(tc, checks_that_are_impossible_are_not_mentioned);
	tcase_add_test(tc, a_limit_above_the_memory_is_warned_of);
	tcase_add_loop_test(tc, an_address_to_listen_at_that_the_host_lacks_is_warned_of, 0,
			    ARRAY_SIZE(listens));
	tcase_add_test(tc, a_control_socket_without_a_directory_is_warned_of);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
