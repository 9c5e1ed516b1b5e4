// SPDX-License-Identifier: BSD-3-Clause
/* The configuration as a file would have it, keys of services that have a default of the file's own, and comparing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config_keys.h"
#include "daemon/config/config_print.h"
#include "daemon/config/config_same.h"
#include "tests/lib/test.h"
#include "tests/unit/config_fixture.h"

static char *printed(const struct config *config)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(out);
	config_print(config, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static const char *const files[] = {
	"services = ();",
	SERVICE(TO_TCP FEW),
	SERVICE(TO_RDMA "ddp = \"nfs\"; peer = \"linux\"; require_privileged_port = false;"),
	SERVICE(RDMA_TO_RDMA "allow = [ \"10.0.0.0/8\", \"2001:db8::/32\", \"192.0.2.7\" ];"),
	SERVICE(TCP_TO_TCP "allow = [ ]; register = true;"),
	SERVICE("listen = \"tcp://:2050\"; connect = [ \"tcp://[::1]:1\", \"tcp://b\" ];"
		"balance = \"source\";"),
	"control = \"/tmp/a \\\"b\\\"\\\\c\"; workers = 3; io_flusher = false; drain_timeout_s = 0;\n"
	"services = ( { name = \"a\"; " TO_TCP FEW " }, { name = \"b.c-d_e\"; " TCP_TO_TCP " } );",
};

START_TEST(what_is_printed_reads_as_the_same)
{
	struct config *first;
	char *text, *again;

	ck_assert_int_eq(config_fixture_load(files[_i]), 0);
	first = config_ref(fixture.config);
	text = printed(first);
	ck_assert_msg(config_fixture_load(text) == 0, "%s\n%s", fixture.errors, text);
	again = printed(fixture.config);
	ck_assert_str_eq(again, text);
	ck_assert_uint_eq(fixture.config->nservices, first->nservices);
	for (size_t i = 0; i < first->nservices; i++)
		ck_assert(config_service_same(&first->services[i], &fixture.config->services[i]));
	free(again);
	free(text);
	config_free(first);
}
END_TEST

START_TEST(what_has_its_default_is_marked)
{
	char *text;

	ck_assert_int_eq(
		config_fixture_load("drain_timeout_s = 30; workers = 3; " SERVICE(TO_TCP FEW)), 0);
	text = printed(fixture.config);
	ck_assert_ptr_nonnull(strstr(text, "\nworkers = 3;\n"));
	ck_assert_ptr_nonnull(strstr(text, "\ndrain_timeout_s = 30; # the default\n"));
	ck_assert_ptr_nonnull(strstr(text, "    max_connections = 359;\n"));
	ck_assert_ptr_nonnull(strstr(text, "    credits = 64; # the default\n"));
	/* Nothing in a service that connects to TCP. */
	ck_assert_ptr_null(strstr(text, " ddp = "));
	free(text);
}
END_TEST

/* ---- defaults ---- */

START_TEST(a_default_is_for_services_that_do_not_say)
{
	/* Wherever it stands. */
	ck_assert_int_eq(config_fixture_load("services = ( { name = \"a\"; " TO_RDMA " },\n"
					     "{ name = \"b\"; " TCP_TO_TCP
					     "stall_timeout_s = 7; } );\n"
					     "defaults = { stall_timeout_s = 120; ddp = \"nfs\"; "
					     "require_privileged_port = false; };"),
			 0);
	ck_assert_uint_eq(fixture.config->services[0].stall_timeout_s, 120);
	ck_assert_uint_eq(fixture.config->services[1].stall_timeout_s, 7);
	ck_assert_int_eq(fixture.config->services[0].ddp, DDP_NFS);
	ck_assert(!fixture.config->services[0].require_privileged_port);
	/* It means nothing there, and is no error. */
	ck_assert_int_eq(fixture.config->services[1].ddp, DDP_NONE);
}
END_TEST

static const struct {
	const char *defaults, *error;
} wrong[] = {
	{"defaults = 5;", "1: defaults must be a group { }, not a number\n"},
	{"defaults = { name = \"x\"; };",
	 "1: name is each service's own: it cannot have a default\n"},
	{"defaults = { connect = \"tcp://a\"; };",
	 "1: connect is each service's own: it cannot have a default\n"},
	{"defaults = { stall_timeout_s = 0; };",
	 "1: stall_timeout_s is 0, but must be from 1 to 86400 s\n"},
	{"defaults = { stal_timeout_s = 5; };",
	 "1: unknown key stal_timeout_s: is stall_timeout_s meant?\n"},
	{"defaults = { workers = 5; };", "1: workers belongs at the top, outside the services\n"},
	{"defaults = { ddp = \"nsf\"; };", "1: ddp is \"nsf\", but must be \"none\" or \"nfs\"\n"},
};

/* Once, and not for each service. */
START_TEST(a_wrong_default_is_told_where_it_stands)
{
	char text[1000];

	snprintf(text, sizeof(text),
		 "%s\nservices = ( { name = \"a\"; %s }, { name = \"b\"; %s } );",
		 wrong[_i].defaults, TO_RDMA, TCP_TO_TCP);
	ck_assert_int_eq(config_fixture_load(text), -EINVAL);
	ck_assert_str_eq(fixture.errors, config_fixture_at(wrong[_i].error));
}
END_TEST

/* ---- comparing ---- */

/* Another value of a key, whatever it is. */
static void change(const struct config_key *key, struct service_config *service)
{
	void *value = (char *)service + key->offset;
	static char name[] = "another", port[] = "4711";

	switch (key->type) {
	case CONFIG_KEY_BOOL:
		*(bool *)value = !*(bool *)value;
		break;
	case CONFIG_KEY_NUMBER:
		++*(uint32_t *)value;
		break;
	case CONFIG_KEY_CHOICE:
		++*(int *)value;
		break;
	case CONFIG_KEY_NAME:
		*(char **)value = name;
		break;
	case CONFIG_KEY_LISTEN:
	case CONFIG_KEY_CONNECT:
		((struct config_uri *)value)->port = port;
		break;
	case CONFIG_KEY_ALLOW:
		service->has_allow = !service->has_allow;
		break;
	default:
		ck_abort_msg("%s has a type that no service has", key->name);
	}
}

START_TEST(services_differ_by_any_key)
{
	const struct service_config *service = config_fixture_service(SERVICE(TO_RDMA));
	struct service_config other = *service;

	ck_assert(config_service_same(service, &other));
	other.line++;
	ck_assert(config_service_same(service, &other));
	for (const struct config_key *key = config_service_keys; key->name; key++) {
		other = *service;
		change(key, &other);
		ck_assert_msg(!config_service_same(service, &other), "%s", key->name);
	}
	other = *service;
	other.message_bytes--;
	ck_assert(!config_service_same(service, &other));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_print");
	TCase *tc = tcase_create("config_print");

	tcase_add_checked_fixture(tc, config_fixture_setup, config_fixture_teardown);
	tcase_add_loop_test(tc, what_is_printed_reads_as_the_same, 0, ARRAY_SIZE(files));
	tcase_add_test(tc, what_has_its_default_is_marked);
	tcase_add_test(tc, a_default_is_for_services_that_do_not_say);
	tcase_add_loop_test(tc, a_wrong_default_is_told_where_it_stands, 0, ARRAY_SIZE(wrong));
	tcase_add_test(tc, services_differ_by_any_key);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
