// SPDX-License-Identifier: BSD-3-Clause
/* Tests the TLS files of a configuration: errors, warnings, and who can read them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/config/config_check.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_tls.h"
#include "tests/lib/test.h"
#include "tests/lib/tls_files.h"
#include "tests/unit/config_fixture.h"
#include "tls/tls_stream.h"

#define DAY_S 86400

static void setup(void)
{
	config_fixture_setup();
	tls_files_setup();
	tls_files_sign("good", "DNS:nfs.example.net,DNS:localhost,IP:192.0.2.1", 100);
}

static void teardown(void)
{
	config_fixture_teardown();
	tls_files_teardown();
}

static int load(const char *text, char **errors)
{
	size_t bytes;
	FILE *out;
	int rc;

	ck_assert_msg(!config_fixture_load(tls_files_text(text)), "%s", fixture.errors);
	out = open_memstream(errors, &bytes);
	rc = config_tls_load(fixture.config, out);
	fclose(out);
	return rc;
}

static void load_good(const char *text)
{
	char *errors;
	int rc = load(text, &errors);

	ck_assert_msg(!rc && !errors[0], "%s", errors);
	free(errors);
}

#define TLS      "tls = \"required\"; tls_cert_file = \"@/good.pem\"; tls_key_file = \"@/good.key\"; "
#define WANTS(s) "tls_ca_file = \"@/" s "\"; tls_verify_client = \"required\"; "

START_TEST(a_pair_is_read_once_for_both_roles)
{
	const struct service_config *service;

	load_good(
		SERVICE(TCP_TO_TCP TLS "tls_connect = \"required\"; tls_ca_file = \"@/ca.pem\";"));
	service = fixture.config->services;
	ck_assert_ptr_nonnull(service->tls.context);
	ck_assert_int_gt(tls_context_expiry_s(service->tls.context), time(NULL) + 99 * DAY_S);
	ck_assert_int_lt(tls_context_expiry_s(service->tls.context), time(NULL) + 101 * DAY_S);
}
END_TEST

START_TEST(names_of_every_kind_select_clients)
{
	load_good(SERVICE(TO_RDMA TLS WANTS(
		"ca.pem") "tls_client_names = [ \"a\", "
			  "\"*.example.net\", \"192.0.2.1\", \"2001:db8::1\", "
			  "\"sha256:00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF\", "
			  "\"SHA256:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:"
			  "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF\" ];"));
	ck_assert_uint_eq(fixture.config->services[0].tls.client_names.count, 6);
	ck_assert_ptr_nonnull(fixture.config->services[0].tls.context);
}
END_TEST

START_TEST(a_server_is_verified_by_the_authorities_of_the_system)
{
	load_good(SERVICE(TO_TCP "tls_connect = \"required\";"));
	ck_assert_ptr_nonnull(fixture.config->services[0].tls.context);
	ck_assert_int_eq(tls_context_expiry_s(fixture.config->services[0].tls.context), 0);
}
END_TEST

/* Files of keys that have no effect are not read. */
START_TEST(a_service_without_tls_reads_no_file)
{
	load_good(SERVICE(TO_RDMA "tls_cert_file = \"/none\"; tls_key_file = \"/none\";"));
	ck_assert_ptr_null(fixture.config->services[0].tls.context);
}
END_TEST

static const struct {
	const char *keys;
	const char *error; /* a part of the first line, or all of it after the service */
} wrong[] = {
	{"tls_cert_file = \"@/none.pem\"; tls_key_file = \"@/good.key\";",
	 "tls_cert_file: cannot read @/none.pem: No such file or directory\n"},
	{"tls_cert_file = \"@/good.pem\"; tls_key_file = \"@/none.key\";",
	 "tls_key_file: cannot read @/none.key: No such file or directory\n"},
	{"tls_cert_file = \"@/good.pem\"; tls_key_file = \"@/good.key\";" WANTS("none.pem"),
	 "tls_ca_file: cannot read @/none.pem: No such file or directory\n"},
	{"tls_cert_file = \"@\"; tls_key_file = \"@/good.key\";",
	 "tls_cert_file: cannot read @: not a file\n"},
	{"tls_cert_file = \"@/pipe\"; tls_key_file = \"@/good.key\";",
	 "tls_cert_file: cannot read @/pipe: not a file\n"},
	/* The words of the others are those of lib/tls. */
	{"tls_cert_file = \"@/good.pem\"; tls_key_file = \"@/ca.key\";", "@/ca.key"},
	{"tls_cert_file = \"@/good.pem\";", "@/good.pem"},
	{"tls_cert_file = \"@/old.pem\"; tls_key_file = \"@/old.key\";", "expired"},
	{"tls_cert_file = \"@/text.pem\"; tls_key_file = \"@/good.key\";", "@/text.pem"},
	{"tls_cert_file = \"@/good.pem\"; tls_key_file = \"@/text.pem\";", "@/text.pem"},
	{"tls_cert_file = \"@/good.pem\"; tls_key_file = \"@/good.key\";" WANTS("text.pem"),
	 "@/text.pem"},
};

START_TEST(a_wrong_file_is_an_error_that_names_it)
{
	char place[128], path[64], *errors, *expected;
	char text[1024];

	tls_files_sign("old", "DNS:nfs.example.net", -1);
	snprintf(path, sizeof(path), "%s/text.pem", tls_files_dir);
	config_fixture_write(path, "this is no certificate\n");
	snprintf(path, sizeof(path), "%s/pipe", tls_files_dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	snprintf(text, sizeof(text), SERVICE(TO_RDMA "tls = \"allowed\"; %s"), wrong[_i].keys);
	ck_assert_int_eq(load(text, &errors), -ENODEV);
	ck_assert_ptr_null(fixture.config->services[0].tls.context);
	snprintf(place, sizeof(place), "%s:2: service a: ", fixture.path);
	ck_assert_msg(!strncmp(errors, place, strlen(place)), "%s", errors);
	expected = strdup(tls_files_text(wrong[_i].error));
	ck_assert_msg(strstr(errors, expected) != NULL, "%s", errors);
	/* One line: an error of a file hides those of what the files contain. */
	ck_assert_ptr_eq(strchr(errors, '\n'), errors + strlen(errors) - 1);
	free(expected);
	free(errors);
}
END_TEST

static const struct {
	const char *first, *second; /* of two services, without their names */
	bool shares;                /* the second has the context of the first */
} pairs[] = {
	{TO_RDMA TLS, "listen = \"tcp://:1\"; connect = \"rdma://other\"; " TLS, true},
	{TO_RDMA TLS, "listen = \"tcp://:1\"; connect = \"rdma://other\"; " TLS WANTS("ca.pem"),
	 false},
	{TO_RDMA TLS WANTS("ca.pem") "tls_client_names = [ \"a\" ];",
	 "listen = \"tcp://:1\"; connect = \"rdma://filer\"; " TLS WANTS(
		 "ca.pem") "tls_client_names = [ \"b\" ];",
	 false},
	{TO_RDMA TLS,
	 "listen = \"tcp://:1\"; connect = \"rdma://filer\"; tls = \"allowed\"; "
	 "tls_cert_file = \"@/good.pem\"; tls_key_file = \"@/good.key\";",
	 false},
	{TO_RDMA TLS,
	 "listen = \"tcp://:1\"; connect = \"rdma://filer\"; tls = \"required\"; "
	 "tls_cert_file = \"@/both.pem\";",
	 false},
	{TO_TCP "tls_connect = \"required\"; ",
	 "listen = \"rdma://:1\"; connect = \"tcp://127.0.0.1:5\"; tls_connect = \"required\"; ",
	 true},
	{TO_TCP "tls_connect = \"required\"; ",
	 "listen = \"rdma://:1\"; connect = \"tcp://other\"; tls_connect = \"required\"; ", false},
	{TO_TCP "tls_connect = \"required\"; tls_server_name = \"a\"; ",
	 "listen = \"rdma://:1\"; connect = \"tcp://other\"; tls_connect = \"required\"; "
	 "tls_server_name = \"a\"; ",
	 true},
	{TCP_TO_TCP TLS "tls_connect = \"required\"; ",
	 "listen = \"tcp://:1\"; connect = \"tcp://other\"; " TLS "tls_connect = \"required\"; ",
	 false},
};

/* Loads two services in either order. Returns the context of the one with @second's keys. */
static struct tls_context *context_of(const char *first, const char *second, bool swapped)
{
	char text[2048];
	const char *names[] = {"a", "b"};

	snprintf(text, sizeof(text), "services = ( { name = \"%s\"; %s }, { name = \"%s\"; %s } );",
		 names[swapped], swapped ? second : first, names[!swapped],
		 swapped ? first : second);
	load_good(text);
	ck_assert_ptr_nonnull(fixture.config->services[0].tls.context);
	ck_assert_ptr_nonnull(fixture.config->services[1].tls.context);
	return tls_context_ref(fixture.config->services[!swapped].tls.context);
}

/* However a context was made, a reload must not find that it has changed. */
START_TEST(services_with_the_same_keys_share_a_context)
{
	struct tls_context *one, *other;

	tls_files_run("cat good.pem good.key >both.pem");
	one = context_of(pairs[_i].first, pairs[_i].second, false);
	ck_assert_int_eq(fixture.config->services[0].tls.context == one, pairs[_i].shares);
	other = context_of(pairs[_i].first, pairs[_i].second, true);
	ck_assert(tls_context_same(one, other));
	tls_context_put(one);
	tls_context_put(other);
}
END_TEST

START_TEST(a_configuration_forgets_its_keys)
{
	load_good("services = ( { name = \"a\"; " TO_RDMA TLS " }, { name = \"b\"; "
		  "listen = \"tcp://:1\"; connect = \"rdma://f\"; } );");
	config_tls_forget(fixture.config);
	ck_assert_ptr_null(fixture.config->services[0].tls.context);
	config_tls_forget(fixture.config);
}
END_TEST

#define NOBODY 65534

START_TEST(a_file_that_this_user_cannot_read_is_an_error)
{
	char *errors = NULL, expected[256];
	size_t bytes;
	FILE *out;

	if (geteuid())
		return;
	chmod(tls_files_dir, 0755);
	load_good(SERVICE(TO_RDMA TLS));
	tls_context_put(fixture.config->services[0].tls.context);
	fixture.config->services[0].tls.context = NULL;
	out = open_memstream(&errors, &bytes);
	ck_assert_int_eq(seteuid(NOBODY), 0);
	ck_assert_int_eq(config_tls_load(fixture.config, out), -ENODEV);
	ck_assert_int_eq(seteuid(0), 0);
	fclose(out);
	snprintf(expected, sizeof(expected),
		 "%s:2: service a: tls_key_file: cannot read %s/good.key: Permission denied: the "
		 "user that runs rpcrdma-proxy must be able to read it\n",
		 fixture.path, tls_files_dir);
	ck_assert_str_eq(errors, expected);
	free(errors);
}
END_TEST

START_TEST(the_errors_of_all_services_are_reported)
{
	char *errors;

	ck_assert_int_eq(
		load("services = (\n{ name = \"a\"; listen = \"tcp://:1\"; connect = \"rdma://f\"; "
		     "tls = \"required\"; tls_cert_file = \"/none\"; },\n{ name = \"b\"; " TO_RDMA
			     TLS
		     "},\n{ name = \"c\"; listen = \"tcp://:2\"; connect = \"rdma://f\"; "
		     "tls = \"required\"; tls_cert_file = \"/none\"; } );",
		     &errors),
		-ENODEV);
	ck_assert_ptr_nonnull(strstr(errors, ":2: service a: tls_cert_file: cannot read /none"));
	ck_assert_ptr_nonnull(strstr(errors, ":4: service c: tls_cert_file: cannot read /none"));
	ck_assert_ptr_nonnull(fixture.config->services[1].tls.context);
	free(errors);
}
END_TEST

/* ---- warnings ---- */

static char *warned(void (*warn)(const struct service_config *service, FILE *out))
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	warn(fixture.config->services, out);
	fclose(out);
	return text;
}

static void expect_warning(void (*warn)(const struct service_config *service, FILE *out),
			   const char *expected)
{
	char *text = warned(warn), line[1024] = "";

	if (*expected)
		snprintf(line, sizeof(line), "%s:2: warning: service a: %s\n", fixture.path,
			 tls_files_text(expected));
	ck_assert_str_eq(text, line);
	free(text);
}

static const struct {
	const char *keys, *warning;
} unwise[] = {
	{TO_RDMA TLS, ""},
	{TO_RDMA TLS WANTS("ca.pem"), ""},
	{TO_RDMA, ""},
	{TO_RDMA "tls_cert_file = \"@/good.pem\"; tls_key_file = \"@/good.key\";",
	 "tls_cert_file has no effect: tls and tls_connect are \"off\""},
	{TO_RDMA "tls_ca_file = \"@/ca.pem\";",
	 "tls_ca_file has no effect: tls and tls_connect are \"off\""},
	{TO_RDMA TLS "tls_ca_file = \"@/ca.pem\";",
	 "tls_ca_file has no effect: tls_verify_client is \"none\" and tls_connect is \"off\""},
	{TCP_TO_TCP "tls_connect = \"required\";" WANTS("ca.pem"),
	 "tls_verify_client has no effect: tls is \"off\""},
	{TCP_TO_TCP TLS "tls_server_name = \"filer\";",
	 "tls_server_name has no effect: tls_connect is \"off\""},
	{"listen = [ \"tcp://\", \"rdma://\" ]; connect = \"rdma://filer\"; " TLS,
	 "tls = \"required\" does not apply to RDMA clients: they connect without encryption"},
	{TO_RDMA
	 "tls = \"allowed\"; tls_cert_file = \"@/good.pem\"; tls_key_file = \"@/good.key\"; "
	 "tls_ca_file = \"@/ca.pem\"; tls_verify_client = \"required\";",
	 "tls_verify_client = \"required\" does not apply to clients without TLS: set tls = "
	 "\"required\" to refuse them"},
};

START_TEST(keys_that_are_legal_but_unwise_are_warned_of)
{
	char text[1024];

	snprintf(text, sizeof(text), SERVICE("%s"), unwise[_i].keys);
	load_good(text);
	expect_warning(config_tls_warn, unwise[_i].warning);
}
END_TEST

/* It can be meant for other services. */
START_TEST(a_default_without_effect_is_not_warned_of)
{
	load_good(
		"defaults = { tls_cert_file = \"@/good.pem\"; };\nservices = ( { name = \"a\"; " TO_RDMA
		" } );");
	expect_warning(config_tls_warn, "");
}
END_TEST

START_TEST(a_key_that_every_user_can_read_is_warned_of)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/good.key", tls_files_dir);
	chmod(path, 0640);
	load_good(SERVICE(TO_RDMA TLS));
	expect_warning(config_tls_warn, "");
	chmod(path, 0644);
	expect_warning(config_tls_warn, "tls_key_file: every user of this host can read the key in "
					"@/good.key: chmod o-r @/good.key");
}
END_TEST

START_TEST(a_key_beside_its_certificate_is_warned_of_too)
{
	tls_files_run("cat good.pem good.key >both.pem");
	load_good(SERVICE(TO_RDMA "tls = \"required\"; tls_cert_file = \"@/both.pem\";"));
	expect_warning(config_tls_warn,
		       "tls_cert_file: every user of this host can read the key in "
		       "@/both.pem: chmod o-r @/both.pem");
}
END_TEST

START_TEST(a_certificate_that_expires_soon_is_warned_of)
{
	char *text, until[CONFIG_TLS_TIME_BYTES], expected[256];

	tls_files_sign("late", "DNS:nfs.example.net", 13);
	load_good(SERVICE(
		TO_RDMA
		"tls = \"required\"; tls_cert_file = \"@/late.pem\"; tls_key_file = \"@/late.key\";"));
	config_tls_time_text(tls_context_expiry_s(fixture.config->services[0].tls.context), until);
	snprintf(
		expected, sizeof(expected),
		"tls_cert_file: the certificate in @/late.pem expires at %s: renew it, then reload",
		until);
	expect_warning(config_tls_warn, expected);
	/* As among the others. */
	text = warned(config_tls_warn);
	ck_assert_ptr_nonnull(strstr(text, until));
	free(text);
}
END_TEST

START_TEST(a_time_is_in_utc)
{
	char text[CONFIG_TLS_TIME_BYTES];

	ck_assert_str_eq(config_tls_time_text(1801382400, text), "2027-01-31 08:00 UTC");
	ck_assert_str_eq(config_tls_time_text(0, text), "");
}
END_TEST

/* Who must prove a name needs no list of addresses. */
START_TEST(allow_need_not_restrict_verified_clients)
{
	static const struct {
		const char *keys;
		bool warns;
	} rows[] = {
		{"listen = \"tcp://:1\"; connect = \"rdma://f\"; " TLS, true},
		{"listen = \"tcp://:1\"; connect = \"rdma://f\"; " TLS WANTS("ca.pem"), false},
		{"listen = [ \"tcp://:1\", \"rdma://\" ]; connect = \"rdma://f\"; " TLS WANTS(
			 "ca.pem"),
		 true},
	};
	char text[1024], *lines = NULL;
	size_t bytes;
	FILE *out = open_memstream(&lines, &bytes);

	snprintf(text, sizeof(text), SERVICE("%s"), rows[_i].keys);
	load_good(text);
	config_warn(fixture.config, out);
	fclose(out);
	ck_assert(!strstr(lines, "without allow") == !rows[_i].warns);
	free(lines);
}
END_TEST

/* ---- what clients check ---- */

static const struct {
	const char *listen, *missing;
} listeners[] = {
	{"\"tcp://192.0.2.1\"", NULL},
	{"\"tcp://nfs.example.net\"", NULL},
	{"\"tcp://127.0.0.1\"", NULL}, /* the certificate has localhost */
	{"\"tcp://\"", NULL},          /* its address is that of the mount */
	{"\"tcp://0.0.0.0\"", NULL},
	{"\"tcp://[::]\"", NULL},
	{"\"tcp://192.0.2.2\"", "192.0.2.2"},
	{"\"tcp://other.example.net\"", "other.example.net"},
	{"[ \"tcp://192.0.2.1\", \"tcp://192.0.2.3:1\", \"rdma://192.0.2.4\" ]", "192.0.2.3"},
};

START_TEST(a_listener_that_the_certificate_does_not_name_is_warned_of)
{
	char text[1024], expected[256] = "";

	snprintf(text, sizeof(text), SERVICE("listen = %s; connect = \"rdma://filer\"; " TLS),
		 listeners[_i].listen);
	load_good(text);
	if (listeners[_i].missing)
		snprintf(expected, sizeof(expected),
			 "tls_cert_file: the certificate in @/good.pem is not for %s: clients can "
			 "only mount by a name or address that it has, because they check that",
			 listeners[_i].missing);
	expect_warning(config_tls_check_names, expected);
}
END_TEST

START_TEST(a_certificate_for_servers_needs_no_name_of_a_listener)
{
	load_good(SERVICE(
		"listen = \"tcp://192.0.2.2\"; connect = \"tcp://filer\"; tls_connect = "
		"\"required\"; tls_cert_file = \"@/good.pem\"; tls_key_file = \"@/good.key\";"));
	expect_warning(config_tls_check_names, "");
}
END_TEST

static void check_nobody(const struct service_config *service, FILE *out)
{
	config_tls_check_user(service, "nobody", out);
}

static void check_stranger(const struct service_config *service, FILE *out)
{
	config_tls_check_user(service, "no-such-user", out);
}

/* root reads every file, also those that the daemon cannot. */
START_TEST(a_file_that_the_daemons_user_cannot_read_is_warned_of)
{
	if (geteuid())
		return;
	load_good(SERVICE(TO_RDMA TLS));
	expect_warning(check_stranger, "");
	chmod(tls_files_dir, 0755);
	expect_warning(check_nobody,
		       "tls_key_file: user nobody, which runs the daemon, cannot read @/good.key "
		       "(Permission denied): chown nobody @/good.key, or let others read its "
		       "directory");
	tls_files_run("chown nobody good.key && chmod 400 good.key");
	expect_warning(check_nobody, "");
	/* It can read it, and so can those who may ask the daemon. */
	tls_files_run(
		"chown root good.key && chgrp \"$(id -g nobody)\" good.key && chmod 640 good.key");
	expect_warning(check_nobody,
		       "tls_key_file: each member of the group of nobody, who can use "
		       "rpcrdma-proxyctl, can read the key in @/good.key: chown nobody @/good.key; "
		       "chmod 400 @/good.key");
	load_good(SERVICE(TO_RDMA));
	expect_warning(check_nobody, "");
}
END_TEST

/* ---- memory ---- */

static size_t memory_of(const char *text)
{
	load_good(text);
	return config_memory_uncharged_bytes(fixture.config->services);
}

START_TEST(a_connection_has_the_memory_of_tls_for_each_side)
{
	size_t clear = memory_of(SERVICE(TCP_TO_TCP));

	ck_assert_uint_eq(memory_of(SERVICE(TCP_TO_TCP TLS)), clear + tls_stream_memory_bytes());
	ck_assert_uint_eq(memory_of(SERVICE(TCP_TO_TCP "tls_connect = \"required\";")),
			  clear + tls_stream_memory_bytes());
	ck_assert_uint_eq(memory_of(SERVICE(TCP_TO_TCP TLS "tls_connect = \"required\";")),
			  clear + 2 * tls_stream_memory_bytes());
}
END_TEST

START_TEST(the_memory_of_tls_is_printed_and_lowers_the_limit_of_connections)
{
	static const char *const keys[] = {"", TLS};
	uint32_t limits[2];
	char text[1024], part[64], *lines;
	size_t bytes;
	FILE *out;

	snprintf(part, sizeof(part), " MiB (of which TLS %.2f MiB), all ",
		 (double)tls_stream_memory_bytes() / (1 << 20));
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), SERVICE(TCP_TO_TCP "%s"), keys[i]);
		load_good(text);
		fixture.config->host = (struct host_limits){.descriptors = UINT32_MAX,
							    .memory_bytes = UINT64_C(1) << 37};
		config_limits_resolve(fixture.config);
		limits[i] = fixture.config->services[0].max_connections;
		out = open_memstream(&lines, &bytes);
		config_memory_print(fixture.config, out);
		fclose(out);
		ck_assert_msg(!strstr(lines, part) == !i, "%s", lines);
		free(lines);
	}
	ck_assert_uint_gt(limits[1], CONFIG_AUTO_SHARE);
	ck_assert_uint_gt(limits[0], limits[1]);
}
END_TEST

static void add_warnings(TCase *tc)
{
	tcase_add_loop_test(tc, keys_that_are_legal_but_unwise_are_warned_of, 0,
			    ARRAY_SIZE(unwise));
	tcase_add_test(tc, a_default_without_effect_is_not_warned_of);
	tcase_add_test(tc, a_key_that_every_user_can_read_is_warned_of);
	tcase_add_test(tc, a_key_beside_its_certificate_is_warned_of_too);
	tcase_add_test(tc, a_certificate_that_expires_soon_is_warned_of);
	tcase_add_test(tc, a_time_is_in_utc);
	tcase_add_loop_test(tc, allow_need_not_restrict_verified_clients, 0, 3);
	tcase_add_loop_test(tc, a_listener_that_the_certificate_does_not_name_is_warned_of, 0,
			    ARRAY_SIZE(listeners));
	tcase_add_test(tc, a_certificate_for_servers_needs_no_name_of_a_listener);
	tcase_add_test(tc, a_file_that_the_daemons_user_cannot_read_is_warned_of);
}

int main(void)
{
	Suite *suite = suite_create("config_tls");
	TCase *tc = tcase_create("config_tls");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_pair_is_read_once_for_both_roles);
	tcase_add_test(tc, names_of_every_kind_select_clients);
	tcase_add_test(tc, a_server_is_verified_by_the_authorities_of_the_system);
	tcase_add_test(tc, a_service_without_tls_reads_no_file);
	tcase_add_loop_test(tc, a_wrong_file_is_an_error_that_names_it, 0, ARRAY_SIZE(wrong));
	tcase_add_test(tc, a_file_that_this_user_cannot_read_is_an_error);
	tcase_add_loop_test(tc, services_with_the_same_keys_share_a_context, 0, ARRAY_SIZE(pairs));
	tcase_add_test(tc, a_configuration_forgets_its_keys);
	tcase_add_test(tc, the_errors_of_all_services_are_reported);
	add_warnings(tc);
	tcase_add_test(tc, a_connection_has_the_memory_of_tls_for_each_side);
	tcase_add_test(tc, the_memory_of_tls_is_printed_and_lowers_the_limit_of_connections);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
