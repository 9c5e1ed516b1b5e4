// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests that `config` prints what the daemon does, for every key of both tables and for each kind of
 * service: the default of a key that the file does not set, and each value that it can set.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_print.h"
#include "daemon/config/config_services.h"
#include "tests/lib/test.h"
#include "tests/unit/config_fixture.h"

#define VALUES_MAX 16
#define TEXT_BYTES 400

/* Whatever a default can depend on. */
static const char *const shapes[] = {
	TO_RDMA,
	TO_IWARP,
	TO_TCP,
	TCP_TO_TCP,
	RDMA_TO_RDMA,
	"listen = \"iwarp://[::1]:20049\"; connect = \"tcp://127.0.0.1:2049\"; ",
	"listen = [ \"tcp://127.0.0.1:2049\", \"rdma://[::1]:20049\" ]; connect = \"rdma://filer\"; "
	"mount = \"rpcbind\"; ",
};

/* Values of keys whose type does not give them; NULL-terminated. */
static const char *const prefixes[] = {"[ \"10.0.0.0/8\" ]",
				       "[ \"192.0.2.7/32\", \"2001:db8::/32\" ]", NULL};
static const char *const mounts[] = {"\"rpcbind\"", "\"off\"", "\"tcp://192.0.2.1:20048\"", NULL};
static const char *const sources[] = {"[ \"127.0.0.1\" ]", "[ \"127.0.0.1\", \"127.0.0.2\" ]",
				      NULL};
static const char *const hosts[] = {"[ \"a.example\" ]", NULL};
static const char *const addresses[] = {"\"127.0.0.1:9180\"", "\"[::1]:9180\"", NULL};
static const char *const autos[] = {"\"auto\"", "1", "1000000", NULL};
static const char *const paths[] = {"\"/tmp/a.sock\"", NULL};
static const char *const peers[] = {
	"[ \"a.example\", \"*.example.net\", \"192.0.2.1\" ]",
	"[ \"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\" ]", NULL};
static const char *const peer[] = {"\"filer.example.net\"", "\"2001:db8::1\"", NULL};

static const char *const *listed(const struct config_key *key)
{
	switch (key->type) {
	case CONFIG_KEY_PREFIXES:
	case CONFIG_KEY_ALLOW:
		return prefixes;
	case CONFIG_KEY_MOUNT:
		return mounts;
	case CONFIG_KEY_SOURCES:
		return sources;
	case CONFIG_KEY_HOSTS:
		return hosts;
	case CONFIG_KEY_ADDRESS:
		return addresses;
	case CONFIG_KEY_PATH:
	case CONFIG_KEY_FILE:
		return paths;
	case CONFIG_KEY_PEERS:
		return peers;
	case CONFIG_KEY_PEER:
		return peer;
	case CONFIG_KEY_AUTO:
		return autos;
	default:
		return NULL;
	}
}

/* The true and false of register have no quotes. */
static const char *quote_of(const struct config_key *key, int choice)
{
	return key->type == CONFIG_KEY_REGISTER && choice != REGISTER_MOUNT ? "" : "\"";
}

/* Values that the file can set. Returns their number. */
static unsigned values_of(const struct config_key *key, char values[VALUES_MAX][TEXT_BYTES])
{
	const char *const *list = listed(key);
	unsigned n = 0;

	for (unsigned i = 0; list && list[i]; i++)
		strcpy(values[n++], list[i]);
	if (key->type == CONFIG_KEY_BOOL) {
		strcpy(values[n++], "true");
		strcpy(values[n++], "false");
	} else if (key->type == CONFIG_KEY_NUMBER) {
		/* Less memory than a service needs is an error. */
		snprintf(values[n++], TEXT_BYTES, "%u",
			 key->offset == offsetof(struct config, memory_limit_mib) && key->fixed
				 ? 64
				 : key->min);
		snprintf(values[n++], TEXT_BYTES, "%u", key->max);
	}
	for (unsigned i = 0; key->choices && key->choices[i]; i++)
		snprintf(values[n++], TEXT_BYTES, "%s%s%s", quote_of(key, (int)i), key->choices[i],
			 quote_of(key, (int)i));
	return n;
}

/* ---- what is printed ---- */

struct said {
	bool found, preset;
	char value[TEXT_BYTES];
};

/* The line of a key in what is printed of @config, outside the services or of the only one. */
static struct said said_of(const struct config_key *key, const struct config *config, bool global)
{
	struct said said = {0};
	char *text = NULL, *rest, *line, mark[TEXT_BYTES];
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (global)
		config_print_globals(config, out);
	else
		config_print_service(&config->services[0], out);
	fclose(out);
	snprintf(mark, sizeof(mark), "%s%s = ", global ? "" : "    ", key->name);
	for (rest = text; !said.found && (line = strsep(&rest, "\n"));) {
		char *end;

		if (strncmp(line, mark, strlen(mark)))
			continue;
		said.found = true;
		end = strstr(line, "; #");
		said.preset = end && !strncmp(end, "; # the default", 15);
		if (!end)
			end = strrchr(line, ';');
		ck_assert_ptr_nonnull(end);
		*end = '\0';
		snprintf(said.value, sizeof(said.value), "%s", line + strlen(mark));
	}
	free(text);
	return said;
}

/* ---- what the daemon does: it reads the members, whatever is printed ---- */

static bool is_done(const struct config_key *key, const void *base, const char *value)
{
	const void *at = (const char *)base + key->offset;
	char text[TEXT_BYTES];

	switch (key->type) {
	case CONFIG_KEY_REGISTER:
		snprintf(text, sizeof(text), "%s%s%s", quote_of(key, *(const int *)at),
			 key->choices[*(const int *)at], quote_of(key, *(const int *)at));
		return !strcmp(value, text);
	case CONFIG_KEY_BOOL:
		return *(const bool *)at == !strcmp(value, "true");
	case CONFIG_KEY_NUMBER:
		return *(const uint32_t *)at == strtoul(value, NULL, 10);
	case CONFIG_KEY_CHOICE:
		return !strncmp(key->choices[*(const int *)at], value + 1, strlen(value) - 2);
	case CONFIG_KEY_AUTO:
		return ((const struct service_config *)base)->auto_connections
			       ? !strcmp(value, "\"auto\"")
			       : *(const uint32_t *)at == strtoul(value, NULL, 10);
	default:
		return true; /* compared with the file that has the value, below */
	}
}

/* Lines of these keys are missing if the file does not set them: then they have no value. */
static bool has_no_default(const struct config_key *key)
{
	return key->type == CONFIG_KEY_ALLOW || key->type == CONFIG_KEY_SOURCES ||
	       key->type == CONFIG_KEY_ADDRESS || key->type == CONFIG_KEY_FILE ||
	       key->type == CONFIG_KEY_PEER;
}

static const void *base_of(const struct config *config, bool global)
{
	return global ? (const void *)config : &config->services[0];
}

static char *values_of_file(const struct config *config)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	config_print(config, out);
	fclose(out);
	return text;
}

static void expect_line(const char *line)
{
	char *text = values_of_file(fixture.config);

	ck_assert_msg(strstr(text, line) != NULL, "%s", text);
	free(text);
}

/* Keys without which a key is an error, if the shape can have it. */
static const char *needed(const struct config_key *key, const char *shape)
{
	static const struct {
		const char *key, *needs;
	} rows[] = {
		{"tls_key_file", "tls_cert_file = \"/tmp/c.pem\"; "},
		{"tls", "tls_cert_file = \"/tmp/c.pem\"; "},
		{"tls_verify_client", "tls_ca_file = \"/tmp/ca.pem\"; "},
		{"tls_client_names",
		 "tls_ca_file = \"/tmp/ca.pem\"; tls_verify_client = \"required\"; "},
	};
	bool listens = strstr(shape, "listen = \"tcp") || strstr(shape, "listen = [ \"tcp");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].key, key->name))
			return listens || (!i && strstr(shape, "tcp://")) ? rows[i].needs : "";
	return "";
}

/* Loads a file with the key, or without it (@value is NULL). */
static const struct config *load(const struct config_key *key, const char *shape, bool global,
				 const char *value)
{
	char setting[TEXT_BYTES + 64] = "", text[2048];
	/* So that what is set is the file's, a key that a service shares with it differs there. */
	const char *file = global ? "" : "register = true; ";

	if (value)
		snprintf(setting, sizeof(setting), "%s = %s; ", key->name, value);
	if (strstr(shape, key->name) == NULL || global)
		snprintf(text, sizeof(text), "%s%sservices = ( { name = \"a\"; %s%s%s } );", file,
			 global ? setting : "", shape, global ? "" : setting,
			 global ? "" : needed(key, shape));
	else
		return NULL; /* the shape sets it */
	ck_assert_msg(config_fixture_load(text) == 0, "%s\n%s", fixture.errors, text);
	return fixture.config;
}

static void check_default(const struct config_key *key, const char *shape, bool global)
{
	const struct config *config = load(key, shape, global, NULL);
	struct said said, again;
	char *without, *with;

	if (!config || (!global && !config_in_scope(&config->services[0], key->scope)))
		return;
	said = said_of(key, config, global);
	ck_assert_msg(said.found != has_no_default(key), "%s in %s", key->name, shape);
	if (!said.found)
		return;
	ck_assert_msg(said.preset, "%s = %s in %s is not marked", key->name, said.value, shape);
	ck_assert_msg(is_done(key, base_of(config, global), said.value), "%s", key->name);
	without = values_of_file(config);
	config = load(key, shape, global, said.value);
	again = said_of(key, config, global);
	ck_assert_str_eq(again.value, said.value);
	ck_assert_msg(again.preset, "%s = %s in %s", key->name, said.value, shape);
	with = values_of_file(config);
	ck_assert_str_eq(with, without);
	free(with);
	free(without);
}

static void check_value(const struct config_key *key, const char *shape, bool global,
			const char *value)
{
	const struct config *config = load(key, shape, global, NULL);
	struct said preset, said;

	if (!config || (!global && !config_in_scope(&config->services[0], key->scope)))
		return;
	preset = said_of(key, config, global);
	config = load(key, shape, global, value);
	said = said_of(key, config, global);
	ck_assert_msg(said.found, "%s", key->name);
	/* workers = 0 stands for a number. */
	if (key->rule != CONFIG_PRESET_CORES || strcmp(value, "0"))
		ck_assert_str_eq(said.value, value);
	ck_assert_msg(is_done(key, base_of(config, global), said.value), "%s = %s in %s", key->name,
		      value, shape);
	ck_assert_msg(said.preset == (preset.found && !strcmp(said.value, preset.value)),
		      "%s = %s in %s%s is marked as the default", key->name, value, shape,
		      said.preset ? "" : " (the default)");
}

static void check_key(const struct config_key *key, bool global)
{
	char values[VALUES_MAX][TEXT_BYTES];
	unsigned n = values_of(key, values);

	ck_assert_msg(n > 1 || listed(key), "%s has no values to try", key->name);
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		check_default(key, shapes[i], global);
		for (unsigned k = 0; k < n; k++)
			check_value(key, shapes[i], global, values[k]);
	}
}

/* Their effect is in the services. */
static bool is_group(const struct config_key *key)
{
	return key->type == CONFIG_KEY_SERVICES || key->type == CONFIG_KEY_DEFAULTS ||
	       key->type == CONFIG_KEY_FOLDER;
}

START_TEST(each_key_of_a_service_is_printed_as_it_is_done)
{
	unsigned count = 0;

	for (const struct config_key *key = config_service_keys; key->name; key++) {
		if (key->mandatory)
			continue;
		check_key(key, false);
		count++;
	}
	ck_assert_uint_gt(count, 30);
}
END_TEST

START_TEST(each_key_outside_the_services_is_printed_as_it_is_done)
{
	for (const struct config_key *key = config_keys; key->name; key++)
		if (!is_group(key))
			check_key(key, true);
}
END_TEST

/* The default of a service is what the file says. */
START_TEST(a_key_of_both_tables_has_the_default_of_the_file)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{"register = true; " SERVICE(TO_RDMA), "register = true; # the default\n"},
		{"register = true; " SERVICE(TO_RDMA "register = false; "), "register = false;\n"},
		{SERVICE(TO_RDMA), "register = false; # the default\n"},
		{SERVICE(TO_RDMA "register = true; "), "register = true;\n"},
	};
	char line[TEXT_BYTES];

	ck_assert_int_eq(config_fixture_load(rows[_i].text), 0);
	snprintf(line, sizeof(line), "\n    %s", rows[_i].said);
	expect_line(line);
}
END_TEST

/* ---- where the daemon does something else than the value ---- */

START_TEST(the_effective_value_is_reported_if_it_differs)
{
	ck_assert_int_eq(config_fixture_load("memory_limit_mib = 64; " SERVICE(TO_RDMA)), 0);
	expect_line("    max_message_bytes = 67174400; # the default; ");
	expect_line(" fit into memory_limit_mib\n");
	fixture.config->host = (struct host_limits){.descriptors = 1000};
	fixture.config->workers = 1;
	config_limits_resolve(fixture.config);
	expect_line(
		"    max_connections = \"auto\"; # the default; 440, by the limit of descriptors "
		"(LimitNOFILE= in the unit)\n");
	expect_line("\nio_flusher = true; # the default\n");
	fixture.config->io_flusher_denied = true;
	expect_line("\nio_flusher = true; # the default; off: CAP_SYS_RESOURCE is missing\n");
	expect_line("\nlog_level = \"info\"; # the default\n");
	log_set_level(LOG_LEVEL_WARNING);
	expect_line("\nlog_level = \"info\"; # the default; now \"warning\" (log, or -v)\n");
	log_set_level(LOG_LEVEL_INFO);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_truth");
	TCase *tc = tcase_create("config_truth");

	tcase_add_checked_fixture(tc, config_fixture_setup, config_fixture_teardown);
	tcase_add_test(tc, each_key_of_a_service_is_printed_as_it_is_done);
	tcase_add_test(tc, each_key_outside_the_services_is_printed_as_it_is_done);
	tcase_add_loop_test(tc, a_key_of_both_tables_has_the_default_of_the_file, 0, 4);
	tcase_add_test(tc, the_effective_value_is_reported_if_it_differs);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
