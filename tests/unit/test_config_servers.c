// SPDX-License-Identifier: BSD-3-Clause
/* Tests the configuration file: a service with several servers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config.h"
#include "daemon/config/config_diff.h"
#include "tests/lib/test.h"
#include "tests/unit/config_fixture.h"

START_TEST(a_service_may_have_several_servers)
{
	char text[CONFIG_URI_TEXT_BYTES];
	const struct service_config *s = config_fixture_service(
		SERVICE("listen = \"rdma://127.0.0.1\"; connect = [ \"tcp://a\", \"tcp://b:1\" ];"
			"balance = \"source\"; connect_timeout_s = 3;"));

	ck_assert_uint_eq(config_nservers(s), 2);
	ck_assert_str_eq(config_uri_text(config_server(s, 0), text), "tcp://a:2049");
	ck_assert_str_eq(config_uri_text(config_server(s, 1), text), "tcp://b:1");
	ck_assert_int_eq(s->balance, BALANCE_SOURCE);
	ck_assert_uint_eq(s->connect_timeout_s, 3);
	s = config_fixture_service(
		SERVICE("listen = \"rdma://127.0.0.1\"; connect = [ \"tcp://a\" ];"));
	ck_assert_uint_eq(config_nservers(s), 1);
}
END_TEST

static const struct {
	const char *connect;
	bool same;
} others[] = {
	{"[ \"tcp://a\", \"tcp://b:2049\" ]", true},
	{"[ \"tcp://a\", \"tcp://c\" ]", false},
	{"[ \"tcp://b\", \"tcp://a\" ]", false},
	{"\"tcp://a\"", false},
};

START_TEST(a_service_that_has_another_server_is_another)
{
	struct service_config other;
	char text[500];

	snprintf(text, sizeof(text),
		 "services = ( { name = \"x\"; listen = \"rdma://127.0.0.1\";"
		 "connect = [ \"tcp://a\", \"tcp://b\" ]; },"
		 "{ name = \"y\"; listen = \"rdma://127.0.0.2\"; connect = %s; } );",
		 others[_i].connect);
	ck_assert_int_eq(config_fixture_load(text), 0);
	other = fixture.config->services[1];
	other.name = fixture.config->services[0].name;
	other.listen = fixture.config->services[0].listen;
	ck_assert_int_eq(config_service_equal(&fixture.config->services[0], &other),
			 others[_i].same);
}
END_TEST

static const struct {
	const char *keys, *warning;
} idle[] = {
	{"balance = \"source\";",
	 "has balance = \"source\", which does nothing: connect has one server"},
	{"connect_timeout_s = 1;",
	 "has connect_timeout_s = 1, which does nothing: connect has one server"},
};

START_TEST(keys_for_several_servers_are_warned_of_with_one_server)
{
	char text[300], *said;
	size_t len;
	FILE *out;

	snprintf(text, sizeof(text),
		 SERVICE("listen = \"rdma://127.0.0.1\"; connect = \"tcp://a\"; %s"),
		 idle[_i].keys);
	ck_assert_int_eq(config_fixture_load(text), 0);
	out = open_memstream(&said, &len);
	config_warn(fixture.config, out);
	fclose(out);
	ck_assert_msg(strstr(said, idle[_i].warning) != NULL, "%s", said);
	free(said);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_servers");
	TCase *tc = tcase_create("config_servers");

	tcase_add_checked_fixture(tc, config_fixture_setup, config_fixture_teardown);
	tcase_add_test(tc, a_service_may_have_several_servers);
	tcase_add_loop_test(tc, a_service_that_has_another_server_is_another, 0,
			    ARRAY_SIZE(others));
	tcase_add_loop_test(tc, keys_for_several_servers_are_warned_of_with_one_server, 0,
			    ARRAY_SIZE(idle));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
