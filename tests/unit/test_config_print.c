// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests printing a configuration as a file, service keys whose default the file sets, and comparing
 * configurations.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/config/config_diff.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_print.h"
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
	"register = \"mount\";" SERVICE(TCP_TO_TCP "register = false;"),
	SERVICE(TCP_TO_TCP "register = \"mount\";"),
	SERVICE(TO_TCP FEW "trusted_proxies = [ \"10.0.0.0/8\", \"2001:db8::1\" ];"),
	SERVICE("listen = \"tcp://:2050\"; connect = [ \"tcp://[::1]:1\", \"tcp://b\" ];"
		"balance = \"source\";"),
	SERVICE(TCP_TO_TCP
		"tls = \"required\"; tls_cert_file = \"/a/c.pem\"; tls_key_file = "
		"\"/a/k.pem\"; tls_ca_file = \"/a/\\\"ca\\\".pem\"; tls_verify_client = \"optional\"; "
		"tls_client_names = [ \"*.example.net\", \"2001:db8::1\" ]; "
		"tls_connect = \"required\"; tls_server_name = \"filer\";"),
	"control = \"/tmp/a \\\"b\\\"\\\\c\"; workers = 3; io_flusher = false; log_level = \"debug\";"
	"drain_timeout_s = 0; http_listen = \"[2001:db8::1]:9180\"; http_allow = [ \"10.0.0.0/8\" ];\n"
	"services = ( { name = \"a\"; " TO_TCP FEW " }, { name = \"b.c-d_e\"; " TCP_TO_TCP " } );",
};

START_TEST(the_printed_configuration_reads_back_the_same)
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
		ck_assert(config_service_equal(&first->services[i], &fixture.config->services[i]));
	free(again);
	free(text);
	config_free(first);
}
END_TEST

START_TEST(default_values_are_marked)
{
	char *text;

	ck_assert_int_eq(
		config_fixture_load("drain_timeout_s = 30; workers = 3; " SERVICE(TO_TCP FEW)), 0);
	text = printed(fixture.config);
	ck_assert_ptr_nonnull(strstr(text, "\nworkers = 3;\n"));
	ck_assert_ptr_nonnull(strstr(text, "\ndrain_timeout_s = 30; # the default\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "\nhttp_allow = [ \"127.0.0.0/8\", \"::1/128\" ]; # the default\n"));
	ck_assert_ptr_null(strstr(text, "http_listen"));
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
	 "1: name must be set in each service: it cannot have a default\n"},
	{"defaults = { connect = \"tcp://a\"; };",
	 "1: connect must be set in each service: it cannot have a default\n"},
	{"defaults = { stall_timeout_s = 0; };",
	 "1: stall_timeout_s is 0, but must be from 1 to 86400 s\n"},
	{"defaults = { stal_timeout_s = 5; };",
	 "1: unknown key \"stal_timeout_s\": did you mean \"stall_timeout_s\"?\n"},
	{"defaults = { workers = 5; };", "1: workers belongs at the top, outside the services\n"},
	{"defaults = { ddp = \"nsf\"; };", "1: ddp is \"nsf\", but must be \"none\" or \"nfs\"\n"},
};

/* Once, and not for each service. */
START_TEST(a_wrong_default_is_reported_at_its_line)
{
	char text[1000];

	snprintf(text, sizeof(text),
		 "%s\nservices = ( { name = \"a\"; %s }, { name = \"b\"; %s } );",
		 wrong[_i].defaults, TO_RDMA, TCP_TO_TCP);
	ck_assert_int_eq(config_fixture_load(text), -EINVAL);
	ck_assert_str_eq(fixture.errors, config_fixture_at(wrong[_i].error));
}
END_TEST

START_TEST(a_default_that_no_service_has_a_use_for_is_warned_of)
{
	const char *expected = config_fixture_at(
		"3: warning: defaults: padding_align_bytes is for services with an RDMA side, and "
		"there are none\n");
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ck_assert_int_eq(config_fixture_load("services = ( { name = \"a\"; " TCP_TO_TCP FEW
					     " } );\n"
					     "defaults = { stall_timeout_s = 120;\n"
					     "padding_align_bytes = 8; };"),
			 0);
	config_warn(fixture.config, out);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}
END_TEST

/* ---- a folder of files ---- */

/* A file of the folder "d" beside the fixture's; "": the folder alone. */
static void write_in_folder(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/d", fixture.dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/d/%s", fixture.dir, name);
	if (name[0])
		config_fixture_write(path, text);
}

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s/d", fixture.dir);
	ck_assert_int_eq(system(command), 0);
}

static int load_with_folder(const char *services)
{
	char text[1000];

	snprintf(text, sizeof(text), "include_dir = \"%s/d\"; defaults = { credits = 7; };\n%s",
		 fixture.dir, services);
	return config_fixture_load(text);
}

START_TEST(files_of_a_folder_have_services_in_the_order_of_their_names)
{
	write_in_folder("20.conf", "services = ( { name = \"late\"; listen = \"tcp://127.0.0.1:3\";"
				   "connect = \"rdma://filer\"; } );");
	write_in_folder("10.conf", "# none\n");
	write_in_folder("15.conf",
			"services = ( { name = \"early\"; listen = \"tcp://127.0.0.1:4\";"
			"connect = \"rdma://filer\"; credits = 9; } );");
	write_in_folder("20.conf~", "nonsense");
	write_in_folder(".hidden.conf", "nonsense");
	write_in_folder("README", "nonsense");
	ck_assert_msg(load_with_folder(SERVICE(TO_RDMA)) == 0, "%s", fixture.errors);
	ck_assert_uint_eq(fixture.config->nservices, 3);
	ck_assert_str_eq(fixture.config->services[0].name, "a");
	ck_assert_str_eq(fixture.config->services[1].name, "early");
	ck_assert_uint_eq(fixture.config->services[1].credits, 9);
	ck_assert_str_eq(fixture.config->services[2].name, "late");
	ck_assert_uint_eq(fixture.config->services[2].credits, 7);
	remove_folder();
	/* An empty one is none. */
	write_in_folder("", "");
	ck_assert_int_eq(load_with_folder(SERVICE(TO_RDMA)), 0);
	remove_folder();
}
END_TEST

static char *warned(void)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	config_warn(fixture.config, out);
	fclose(out);
	return text;
}

/* The administrator sees a file there, and the daemon does not. */
START_TEST(a_folder_that_has_files_of_other_names_only_is_warned_of)
{
	char expected[500], *text;

	write_in_folder(".hidden", "");
	write_in_folder("README", "");
	write_in_folder("left.conf~", "");
	ck_assert_int_eq(load_with_folder(SERVICE(TO_RDMA)), 0);
	text = warned();
	ck_assert_str_eq(text, "");
	free(text);
	write_in_folder("filer.cfg", "services = ();");
	write_in_folder("other.txt", "");
	ck_assert_int_eq(load_with_folder(SERVICE(TO_RDMA)), 0);
	snprintf(expected, sizeof(expected),
		 "%s:1: warning: include_dir: %s/d has no *.conf, so it adds no services; to use "
		 "filer.cfg, give it a name that ends in .conf\n",
		 fixture.path, fixture.dir);
	text = warned();
	ck_assert_str_eq(text, expected);
	free(text);
	/* With one that is read the others can be there on purpose. */
	write_in_folder("a.conf", "");
	ck_assert_int_eq(load_with_folder(SERVICE(TO_RDMA)), 0);
	text = warned();
	ck_assert_str_eq(text, "");
	free(text);
	remove_folder();
}
END_TEST

static const struct {
	const char *text;
	const char *before, *place; /* the error; a place is one in the fixture's file */
} parts[] = {
	{"services = ( { name = \"a\"; listen = \"tcp://127.0.0.1:9\"; connect = \"tcp://b\"; } );",
	 "1: name \"a\" is already used by the service at ", ":3"},
	{"services = ( { name = \"b\"; listen = \"tcp://127.0.0.1:2049\"; connect = \"tcp://b\"; } );",
	 "1: listen: the service at ", ":3 uses that port already"},
	{"\nworkers = 5;", "2: workers: a file of include_dir can contain services only", NULL},
	{"services = ( { name = \"b\"; listen = \"rdma://127.0.0.1:9\"; connect = \"tcp://b\";\n"
	 "credits = 0; } );",
	 "2: credits is 0, but must be from 1 to 1024", NULL},
	{"services = ( { name = \"b\"; listen = \"tcp://127.0.0.1:9\";\n"
	 "connect = \"tcp://127.0.0.1:2049\"; } );",
	 "2: connect: the service at ", ":3 listens there: the daemon would connect to itself"},
};

START_TEST(an_error_in_a_file_of_a_folder_names_it_and_its_line)
{
	char expected[500];

	write_in_folder("x.conf", parts[_i].text);
	ck_assert_int_eq(load_with_folder(SERVICE(TO_RDMA)), -EINVAL);
	snprintf(expected, sizeof(expected), "%s/d/x.conf:%s%s%s\n", fixture.dir, parts[_i].before,
		 parts[_i].place ? fixture.path : "", parts[_i].place ? parts[_i].place : "");
	ck_assert_str_eq(fixture.errors, expected);
	remove_folder();
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_an_error)
{
	char expected[500];

	ck_assert_int_eq(load_with_folder(SERVICE(TO_RDMA)), -EINVAL);
	snprintf(expected, sizeof(expected),
		 "%s:1: include_dir: cannot read %s/d: No such file or directory\n", fixture.path,
		 fixture.dir);
	ck_assert_str_eq(fixture.errors, expected);
	write_in_folder("x.conf", "services = (");
	ck_assert_int_eq(load_with_folder(SERVICE(TO_RDMA)), -EINVAL);
	ck_assert_ptr_nonnull(strstr(fixture.errors, "/d/x.conf:1: syntax error"));
	remove_folder();
}
END_TEST

/* A pipe that nobody writes to, and a folder: neither is waited for. */
START_TEST(a_directory_entry_that_is_no_file_is_an_error)
{
	char expected[500], path[300];

	write_in_folder("", "");
	snprintf(path, sizeof(path), "%s/d/x.conf", fixture.dir);
	ck_assert_int_eq(_i ? mkfifo(path, 0600) : mkdir(path, 0700), 0);
	ck_assert_int_eq(load_with_folder(SERVICE(TO_RDMA)), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:1: include_dir: cannot read %s: not a file\n",
		 fixture.path, path);
	ck_assert_str_eq(fixture.errors, expected);
	ck_assert_int_eq(remove(path), 0);
	remove_folder();
}
END_TEST

/* ---- comparing ---- */

/* Another value of a key, whatever it is. */
static void change(const struct config_key *key, struct service_config *service)
{
	void *value = (char *)service + key->offset;
	static char name[] = "another", port[] = "4711", *names[] = {name};
	static struct sockaddr_storage source = {.ss_family = AF_INET};
	static struct config_cidr cidr = {.family = AF_INET};

	switch (key->type) {
	case CONFIG_KEY_BOOL:
		*(bool *)value = !*(bool *)value;
		break;
	case CONFIG_KEY_NUMBER:
		++*(uint32_t *)value;
		break;
	case CONFIG_KEY_CHOICE:
	case CONFIG_KEY_REGISTER:
		*(int *)value = !*(int *)value;
		break;
	case CONFIG_KEY_NAME:
	case CONFIG_KEY_FILE:
	case CONFIG_KEY_PEER:
		*(char **)value = name;
		break;
	case CONFIG_KEY_PEERS:
		*(struct config_hosts *)value = (struct config_hosts){1, names};
		break;
	case CONFIG_KEY_LISTEN:
	case CONFIG_KEY_CONNECT:
		((struct config_uri *)value)->port = port;
		break;
	case CONFIG_KEY_MOUNT:
		service->mount.way = MOUNT_OFF;
		break;
	case CONFIG_KEY_SOURCES:
		service->nsources = 1;
		service->sources = &source;
		break;
	case CONFIG_KEY_PREFIXES:
		*(struct config_cidrs *)value = (struct config_cidrs){true, 1, &cidr};
		break;
	case CONFIG_KEY_AUTO:
		service->auto_connections = !service->auto_connections;
		break;
	case CONFIG_KEY_ALLOW:
		service->has_allow = !service->has_allow;
		break;
	default:
		ck_abort_msg("%s has a type that no service has", key->name);
	}
}

/* By the same host: else a reload would replace services whose keys have not changed. */
START_TEST(the_value_that_auto_selects_is_no_difference)
{
	const struct service_config *service = config_fixture_service(SERVICE(TO_RDMA));
	struct service_config other = *service;

	other.max_connections++;
	ck_assert(config_service_equal(service, &other));
	other.auto_connections = false;
	ck_assert(!config_service_equal(service, &other));
}
END_TEST

/* The host's limits can change while the daemon runs; what it does with them does not. */
START_TEST(a_reload_keeps_the_limits_of_the_host)
{
	struct config *old;
	FILE *none = fopen("/dev/null", "w");

	ck_assert_int_eq(config_fixture_load(SERVICE(TCP_TO_TCP)), 0);
	old = config_ref(fixture.config);
	old->host = (struct host_limits){.descriptors = 1000};
	config_limits_resolve(old);
	ck_assert_int_eq(config_fixture_load(SERVICE(TCP_TO_TCP)), 0);
	ck_assert_int_eq(config_keep_restart_keys(fixture.config, old, none, none), 0);
	ck_assert_uint_eq(fixture.config->services[0].max_connections,
			  old->services[0].max_connections);
	fclose(none);
	config_free(old);
}
END_TEST

START_TEST(services_differ_by_any_key)
{
	const struct service_config *service = config_fixture_service(SERVICE(TO_RDMA));
	struct service_config other = *service;

	ck_assert(config_service_equal(service, &other));
	other.line++;
	ck_assert(config_service_equal(service, &other));
	for (const struct config_key *key = config_service_keys; key->name; key++) {
		other = *service;
		change(key, &other);
		ck_assert_msg(!config_service_equal(service, &other), "%s", key->name);
	}
	other = *service;
	other.message_bytes--;
	ck_assert(!config_service_equal(service, &other));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_print");
	TCase *tc = tcase_create("config_print");

	tcase_add_checked_fixture(tc, config_fixture_setup, config_fixture_teardown);
	tcase_add_loop_test(tc, the_printed_configuration_reads_back_the_same, 0,
			    ARRAY_SIZE(files));
	tcase_add_test(tc, default_values_are_marked);
	tcase_add_test(tc, a_default_is_for_services_that_do_not_say);
	tcase_add_test(tc, a_default_that_no_service_has_a_use_for_is_warned_of);
	tcase_add_loop_test(tc, a_wrong_default_is_reported_at_its_line, 0, ARRAY_SIZE(wrong));
	tcase_add_test(tc, files_of_a_folder_have_services_in_the_order_of_their_names);
	tcase_add_test(tc, a_folder_that_has_files_of_other_names_only_is_warned_of);
	tcase_add_loop_test(tc, an_error_in_a_file_of_a_folder_names_it_and_its_line, 0,
			    ARRAY_SIZE(parts));
	tcase_add_test(tc, a_folder_that_is_not_there_is_an_error);
	tcase_add_loop_test(tc, a_directory_entry_that_is_no_file_is_an_error, 0, 2);
	tcase_add_test(tc, services_differ_by_any_key);
	tcase_add_test(tc, the_value_that_auto_selects_is_no_difference);
	tcase_add_test(tc, a_reload_keeps_the_limits_of_the_host);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
