// SPDX-License-Identifier: BSD-3-Clause
/* Tests the configuration file: a service with several listening addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config.h"
#include "daemon/config/config_diff.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_print.h"
#include "daemon/config/self_connect.h"
#include "tests/lib/test.h"
#include "tests/unit/config_fixture.h"

#define TO_FILER "connect = \"tcp://filer\"; "

START_TEST(a_service_may_listen_in_several_places)
{
	char text[CONFIG_LISTEN_TEXT_BYTES];
	const struct service_config *s = config_fixture_service(SERVICE(
		"listen = [ \"tcp://127.0.0.1\", \"iwarp://127.0.0.1:2049\", \"rdma://[::1]\" ];" TO_FILER));

	ck_assert_uint_eq(config_nlisteners(s), 3);
	ck_assert_str_eq(config_listen_text(s, text),
			 "tcp://127.0.0.1:2049, iwarp://127.0.0.1:2049, rdma://[::1]:20049");
	ck_assert(config_listens_tcp(s) && config_listens_rdma(s) && !config_listens_nonlocal(s));
	ck_assert(!config_listens_on(s, TRANSPORT_VERBS));
	s = config_fixture_service(SERVICE("listen = [ \"iwarp://\" ];" TO_FILER));
	ck_assert_uint_eq(config_nlisteners(s), 1);
	ck_assert(!config_listens_tcp(s) && config_listens_nonlocal(s));
}
END_TEST

static const struct {
	const char *listen, *error;
} mistakes[] = {
	{"[ ]", "2: listen has 0 addresses, but must have from 1 to 8"},
	{"[ \"tcp://a\", \"tcp://a\" ]",
	 "2: listen: another address of this service uses that port already; only tcp:// and iwarp:// of the same host can share a port"},
	{"[ \"tcp://127.0.0.1:1\", \"iwarp://[::]:1\" ]",
	 "2: listen: another address of this service uses that port already; only tcp:// and iwarp:// of the same host can share a port"},
	{"[ \"tcp://[::]:1\", \"rdma://[::]:1\" ]",
	 "2: listen: another address of this service uses that port already; only tcp:// and iwarp:// of the same host can share a port"},
	{"[ \"tcp://a:1\", \"iwarp://a:1\", \"iwarp://a:1\" ]",
	 "2: listen: another address of this service uses that port already; only tcp:// and iwarp:// of the same host can share a port"},
	{"[ \"tcp://filer:2049\", \"tcp://filer:1\" ]",
	 "2: connect: the service at line 2 listens there: the daemon would connect to itself"},
	{"[ \"tcp://filer:1\", \"tcp://filer:2049\" ]",
	 "2: connect: the service at line 2 listens there: the daemon would connect to itself"},
};

START_TEST(a_mistake_in_an_array_is_reported)
{
	char text[400];

	snprintf(text, sizeof(text), "services = (\n{ name = \"a\"; listen = %s; " TO_FILER "} );",
		 mistakes[_i].listen);
	ck_assert_int_ne(config_fixture_load(text), 0);
	ck_assert_msg(strstr(fixture.errors, mistakes[_i].error) != NULL, "%s", fixture.errors);
}
END_TEST

START_TEST(two_services_do_not_share_a_port)
{
	ck_assert_int_ne(config_fixture_load("services = (\n"
					     "{ name = \"a\"; listen = \"tcp://[::]:1\"; " TO_FILER
					     "},\n"
					     "{ name = \"b\"; listen = [ \"tcp://[::]:2\", "
					     "\"iwarp://[::]:1\" ]; " TO_FILER "} );"),
			 0);
	ck_assert(
		strstr(fixture.errors, "3: listen: the service at line 2 uses that port already"));
}
END_TEST

static const struct {
	const char *listen;
	bool same;
} others[] = {
	{"[ \"tcp://a\", \"iwarp://b:20049\" ]", true},
	{"[ \"tcp://a\", \"iwarp://c\" ]", false},
	{"[ \"iwarp://b\", \"tcp://a\" ]", false},
	{"\"tcp://a\"", false},
};

START_TEST(a_service_that_listens_elsewhere_is_another)
{
	const char *one = SERVICE("listen = [ \"tcp://a\", \"iwarp://b\" ]; " TO_FILER);
	struct config *config;
	char text[300];

	ck_assert_int_eq(config_fixture_load(one), 0);
	config = config_ref(fixture.config);
	snprintf(text, sizeof(text), "services = (\n{ name = \"a\"; listen = %s; " TO_FILER "} );",
		 others[_i].listen);
	ck_assert_int_eq(config_fixture_load(text), 0);
	ck_assert_int_eq(config_service_equal(&config->services[0], &fixture.config->services[0]),
			 others[_i].same);
	config_free(config);
}
END_TEST

START_TEST(several_listeners_are_printed_as_an_array)
{
	const struct service_config *s = config_fixture_service(
		SERVICE("listen = [ \"tcp://[::]:1\", \"iwarp://[::]:1\" ]; " TO_FILER));
	char *said;
	size_t len;
	FILE *out = open_memstream(&said, &len);

	config_print_service(s, out);
	fclose(out);
	ck_assert_msg(strstr(said, "listen = [ \"tcp://[::]:1\", \"iwarp://[::]:1\" ];\n") != NULL,
		      "%s", said);
	free(said);
}
END_TEST

/* What is of clients by TCP, and of those by RDMA, means something to both. */
START_TEST(keys_of_either_kind_of_client_are_allowed)
{
	const struct service_config *s = config_fixture_service(SERVICE(
		"listen = [ \"tcp://[::1]:1\", \"iwarp://[::1]:1\" ]; connect = \"iwarp://filer\"; "
		"require_privileged_port = false; listen_version = 1;"));
	const struct service_config plain = {.listen = {.transport = TRANSPORT_TCP},
					     .connect = {.transport = TRANSPORT_TCP}};

	ck_assert(!s->require_privileged_port);
	s = config_fixture_service(SERVICE(
		"listen = [ \"iwarp://[::1]:1\", \"tcp://[::1]:1\" ]; connect = \"iwarp://filer\"; "));
	ck_assert(s->require_privileged_port);
	ck_assert_uint_gt(config_memory_uncharged_bytes(s), config_memory_uncharged_bytes(&plain));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_listeners");
	TCase *tc = tcase_create("config_listeners");

	tcase_add_checked_fixture(tc, config_fixture_setup, config_fixture_teardown);
	tcase_add_test(tc, a_service_may_listen_in_several_places);
	tcase_add_loop_test(tc, a_mistake_in_an_array_is_reported, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tc, two_services_do_not_share_a_port);
	tcase_add_loop_test(tc, a_service_that_listens_elsewhere_is_another, 0, ARRAY_SIZE(others));
	tcase_add_test(tc, several_listeners_are_printed_as_an_array);
	tcase_add_test(tc, keys_of_either_kind_of_client_are_allowed);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
