// SPDX-License-Identifier: BSD-3-Clause
/* The configuration file: what it means, what each mistake in it is answered with. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config/config.h"
#include "daemon/config/config_descriptors.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_load.h"
#include "daemon/config/config_value.h"
#include "tests/lib/test.h"

#define SERVICE(text) "services = (\n{ name = \"a\"; " text " }\n);\n"
#define TO_RDMA       "listen = \"tcp://127.0.0.1:2049\"; connect = \"rdma://filer:20049\"; "
#define TO_TCP        "listen = \"rdma://[::]:20049\"; connect = \"tcp://127.0.0.1:2049\"; "
#define FEW           "max_connections = 359; "
#define TCP_TO_TCP    "listen = \"tcp://127.0.0.1:111\"; connect = \"tcp://filer:111\"; "

static char dir[] = "/tmp/test-config-XXXXXX";
static char path[64], other[64];
static char *errors;
static struct config *config;

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static int load(const char *text)
{
	size_t len;
	FILE *out;
	int err;

	free(errors);
	config_free(config);
	config = NULL;
	write_file(path, text);
	out = open_memstream(&errors, &len);
	err = config_load(path, out, &config);
	fclose(out);
	return err;
}

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/conf", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
}

static void teardown(void)
{
	config_free(config);
	config = NULL;
	free(errors);
	errors = NULL;
	unlink(path);
	unlink(other);
	rmdir(dir);
}

static const struct service_config *only_service(const char *text)
{
	int err = load(text);

	ck_assert_msg(err == 0, "%s", errors);
	ck_assert_uint_eq(config->nservices, 1);
	return config->services;
}

START_TEST(everything_has_a_default)
{
	const struct service_config *s = only_service(SERVICE(TO_RDMA));

	ck_assert_str_eq(config->control, "/run/rpcrdma-proxy/control.sock");
	ck_assert_uint_ge(config->workers, 1);
	ck_assert_uint_eq(config->memory_limit_mib, 1024);
	ck_assert_str_eq(s->name, "a");
	ck_assert_int_eq(s->line, 2);
	ck_assert(!s->has_allow);
	ck_assert_uint_eq(s->credits, 64);
	ck_assert_uint_eq(s->inline_threshold_bytes, 4096);
	ck_assert_uint_eq(s->max_message_bytes, 67174400);
	ck_assert_uint_eq(s->max_connections, 1024);
	ck_assert(s->require_privileged_port);
	ck_assert_int_eq(s->source_port, SOURCE_PORT_AUTO);
	ck_assert_uint_eq(s->stall_timeout_s, 60);
	ck_assert_uint_eq(s->keepalive_s, 30);
	ck_assert(s->mpa_crc);
	ck_assert_int_eq(s->fpdu_max, FPDU_MAX_MSS);
	ck_assert_int_eq(s->ddp, DDP_NONE);
	ck_assert_int_eq(s->peer, PEER_AUTO);
}
END_TEST

START_TEST(printed_defaults_are_the_defaults)
{
	const struct config_key *const tables[] = {config_keys, config_service_keys};
	char text[16];

	for (size_t i = 0; i < 2; i++) {
		for (const struct config_key *key = tables[i]; key->name; key++) {
			if (key->type == CONFIG_KEY_NUMBER) {
				snprintf(text, sizeof(text), "%u", key->value);
				ck_assert_str_eq(key->preset, text);
				ck_assert_uint_ge(key->value, key->min);
				ck_assert_uint_le(key->value, key->max);
			} else if (key->type == CONFIG_KEY_CHOICE) {
				ck_assert_str_eq(key->preset, key->choices[key->value]);
			}
		}
	}
}
END_TEST

START_TEST(every_key_is_read)
{
	const struct service_config *s = only_service(
		"control = \"/tmp/x.sock\"; workers = 3; memory_limit_mib = 77;\n" SERVICE(
			"listen = \"tcp://127.0.0.1:2049\"; connect = \"iwarp://filer\";"
			"allow = [ \"10.0.0.0/8\", \"::1\" ]; credits = 17;"
			"inline_threshold_bytes = 8192; max_message_bytes = 300000;"
			"max_connections = 5; require_privileged_port = false;"
			"stall_timeout_s = 7; keepalive_s = 11; mpa_crc = false; fpdu_max = \"64k\"; ddp = \"nfs\";"
			"peer = \"chimera\";"));

	ck_assert_str_eq(config->control, "/tmp/x.sock");
	ck_assert_uint_eq(config->workers, 3);
	ck_assert_uint_eq(config->memory_limit_mib, 77);
	ck_assert_uint_eq(s->nallow, 2);
	ck_assert_uint_eq(s->credits, 17);
	ck_assert_uint_eq(s->inline_threshold_bytes, 8192);
	ck_assert_uint_eq(s->max_message_bytes, 300000);
	ck_assert_uint_eq(s->max_connections, 5);
	ck_assert(!s->require_privileged_port);
	ck_assert_uint_eq(s->stall_timeout_s, 7);
	ck_assert_uint_eq(s->keepalive_s, 11);
	ck_assert(!s->mpa_crc);
	ck_assert_int_eq(s->fpdu_max, FPDU_MAX_64K);
	ck_assert_int_eq(s->ddp, DDP_NFS);
	ck_assert_int_eq(s->peer, PEER_CHIMERA);
	s = only_service(SERVICE("listen = \"rdma://[::]\"; connect = \"tcp://localhost:2049\";"
				 "busy_poll_us = 50; rnr_retry = 6;"));
	ck_assert_uint_eq(s->busy_poll_us, 50);
	ck_assert_uint_eq(s->rnr_retry, 6);
	s = only_service(SERVICE(TO_TCP "source_port = \"reserved\";"));
	ck_assert_int_eq(s->source_port, SOURCE_PORT_RESERVED);
}
END_TEST

START_TEST(privileged_ports_are_asked_only_where_rdma_hides_them)
{
	ck_assert(only_service(SERVICE(TO_RDMA))->require_privileged_port);
	ck_assert(!only_service(SERVICE(TO_TCP))->require_privileged_port);
	ck_assert(!only_service(SERVICE(TCP_TO_TCP))->require_privileged_port);
	ck_assert(only_service(SERVICE(TCP_TO_TCP "require_privileged_port = true;"))
			  ->require_privileged_port);
}
END_TEST

START_TEST(what_is_off_may_be_off_in_any_service)
{
	ck_assert(!only_service(SERVICE(TO_TCP "require_privileged_port = false;"))
			   ->require_privileged_port);
	ck_assert(!only_service(SERVICE(TCP_TO_TCP "mpa_crc = false;"))->mpa_crc);
}
END_TEST

START_TEST(a_file_without_services_is_legal)
{
	ck_assert_int_eq(load(""), 0);
	ck_assert_uint_eq(config->nservices, 0);
	ck_assert_int_eq(load("services = ();"), 0);
	ck_assert_int_eq(load("services = [];"), 0);
}
END_TEST

static const struct {
	const char *text, *error; /* the error after "FILE:" */
} mistakes[] = {
	{"workers = 2;\nmemory_limit_mib = \n", "3: syntax error"},
	{"workers = 2;\nworkers = 3;\n", "2: duplicate setting name"},
	{"wrokers = 2;\n", "1: unknown key wrokers: is workers meant?"},
	{"memory_limit = 2;\n", "1: unknown key memory_limit: is memory_limit_mib meant?"},
	{"colour = 2;\n", "1: unknown key colour"},
	{"credits = 2;\n", "1: credits belongs into a service"},
	{SERVICE(TO_RDMA "workers = 1;"), "2: workers belongs at the top, outside the services"},
	{SERVICE(TO_RDMA "credit = 1;"), "2: unknown key credit: is credits meant?"},
	{SERVICE(TO_RDMA "\nAllow = 1;"), "3: unknown key Allow: is allow meant?"},
	{SERVICE(TO_RDMA "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1;"),
	 "2: unknown key aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
	{"workers = \"two\";", "1: workers must be a whole number, not a string"},
	{"workers = 1.5;", "1: workers must be a whole number, not a fraction"},
	{"workers = -1;", "1: workers is -1, but must be from 0 to 256"},
	{"workers = 257;", "1: workers is 257, but must be from 0 to 256"},
	{"workers = 4294967298L;", "1: workers is 4294967298, but must be from 0 to 256"},
	{"workers = 4294967298;", "1: 4294967298 is too large a number"},
	{"# 4294967298\ncontrol = \"/\\\"4294967298\"; // \"9999999999\n/* 9999999999\n"
	 " */ workers = 0x2; memory_limit_mib = 4294967396;",
	 "4: 4294967396 is too large a number"},
	{"memory_limit_mib = 0;", "1: memory_limit_mib is 0, but must be from 1 to 1048576 MiB"},
	{"control = 5;", "1: control must be a string in quotes, not a number"},
	{"control = \"run/sock\";", "1: control must be an absolute path"},
	{"control = \"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	 "aaaaaaaaaaaaaaaaaaaaaaaaaaa\";",
	 "1: control must have at most 107 bytes, the length of a socket's address"},
	{"services = { };",
	 "1: services must be a list of groups: ( { ... }, { ... } ), not a group { }"},
	{"services = ( 5 );", "1: a service must be a group { }, not a number"},
	{"services = (\n{ listen = \"tcp://127.0.0.1\"; connect = \"rdma://filer\"; }\n);",
	 "2: name is missing in this service"},
	{"services = (\n{ name = \"a\"; connect = \"rdma://filer\"; }\n);",
	 "2: listen is missing in this service"},
	{"services = (\n{ name = \"a\"; listen = \"tcp://127.0.0.1\"; }\n);",
	 "2: connect is missing in this service"},
	{"services = ( { name = \"\"; " TO_RDMA "} );", "1: name must have from 1 to 64 letters"},
	{"services = ( { name = \"a b\"; " TO_RDMA "} );",
	 "1: name may have letters, digits, '.', '_' and '-' only"},
	{"services = ( { name = \"a\"; " TO_RDMA "},\n{ name = \"a\"; " TCP_TO_TCP "} );",
	 "2: name \"a\" is taken by the service of line 1"},
	{"services = ( { name = \"a\"; " TO_RDMA "},\n{ name = \"b\"; " TO_RDMA "} );",
	 "2: listen: the service of line 1 has that port already"},
	{SERVICE("listen = \"tcp://127.0.0.1:2049\";\nconnect = \"tcp://127.0.0.1:2049\";"),
	 "3: connect: the service of line 2 listens there: the daemon would be its own upstream"},
	{"services = ( { name = \"a\"; " TO_TCP "},\n{ name = \"b\"; " TO_RDMA "} );",
	 "1: connect: the service of line 2 listens there: the daemon would be its own upstream"},
	{SERVICE(TO_RDMA "credits = 0;"), "2: credits is 0, but must be from 1 to 1024"},
	{SERVICE(TO_RDMA "inline_threshold_bytes = 5000;"),
	 "2: inline_threshold_bytes is 5000, but must be a multiple of 1024"},
	{SERVICE(TO_RDMA "inline_threshold_bytes = 512;"),
	 "2: inline_threshold_bytes is 512, but must be from 1024 to 262144 bytes"},
	{SERVICE(TO_RDMA "inline_threshold_bytes = 65536; max_message_bytes = 20000;"),
	 "2: inline_threshold_bytes is above max_message_bytes (20000)"},
	{SERVICE(TO_RDMA "fpdu_max = \"1k\";"),
	 "2: fpdu_max is \"1k\", but must be \"mss\" or \"64k\""},
	{SERVICE("listen = \"tcp://127.0.0.1:2049\"; connect = \"iwarp://filer\"; rnr_retry = 1;"),
	 "2: rnr_retry is for services with an rdma:// or verbs:// side"},
	{SERVICE(TO_RDMA "rnr_retry = 7;"), "2: rnr_retry is 7, but must be from 0 to 6"},
	{SERVICE(TO_RDMA "busy_poll_us = 1001;"),
	 "2: busy_poll_us is 1001, but must be from 0 to 1000 us"},
	{SERVICE(TO_RDMA "fpdu_max = 64;"), "2: fpdu_max must be \"mss\" or \"64k\", not a number"},
	{SERVICE(TO_RDMA "mpa_crc = 1;"), "2: mpa_crc must be true or false, not a number"},
	{SERVICE(TO_RDMA "source_port = \"any\";"),
	 "2: source_port is for services that connect to tcp://"},
	{SERVICE(TO_TCP "require_privileged_port = true;"),
	 "2: require_privileged_port is for services that listen on tcp://"},
	{SERVICE(TO_TCP "peer = \"linux\";"),
	 "2: peer is for services that connect to an RDMA server"},
	{SERVICE(TO_RDMA "peer = \"knfsd\";"),
	 "2: peer is \"knfsd\", but must be \"auto\", \"linux\", \"ganesha\", \"chimera\", "
	 "\"solaris\" or \"strict\""},
	{SERVICE(TO_TCP "ddp = \"nfs\";"), "2: ddp is for services that connect to an RDMA server"},
	{SERVICE(TCP_TO_TCP "credits = 5;"), "2: credits is for services with an RDMA side"},
	{SERVICE(TCP_TO_TCP "mpa_crc = true;"),
	 "2: mpa_crc is for services with an rdma:// or iwarp:// side"},
	{SERVICE(TO_RDMA "allow = \"10.0.0.0/8\";"),
	 "2: allow must be an array of strings: [ \"10.0.0.0/8\" ], not a string"},
	{SERVICE(TO_RDMA "allow = [ 10 ];"), "2: allow must be an array of strings, not a number"},
	{SERVICE(TO_RDMA "allow = [\n\"10.0.0.0/33\" ];"),
	 "3: allow: prefix length \"33\" is not a number from 0 to 32"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.0/\" ];"),
	 "2: allow: prefix length \"\" is not a number from 0 to 32"},
	{SERVICE(TO_RDMA "allow = [ \"::/129\" ];"),
	 "2: allow: prefix length \"129\" is not a number from 0 to 128"},
	{SERVICE(TO_RDMA "allow = [ \"filer\" ];"),
	 "2: allow: \"filer\" is not an IPv4 or IPv6 address"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.1/8\" ];"),
	 "2: allow: \"10.0.0.1/8\" has bits behind its prefix: 10.0.0.0/8 is meant, or 10.0.0.1 alone?"},
	{SERVICE(TO_RDMA "allow = [ \"2001:db8::1/33\" ];"),
	 "2: allow: \"2001:db8::1/33\" has bits behind its prefix: 2001:db8::/33 is meant, or "
	 "2001:db8::1 alone?"},
	{"workers = 64;\nmemory_limit_mib = 2;\n" SERVICE(TO_RDMA),
	 "2: memory_limit_mib is 2, but must be at least 3: each service (1 in all) has 2.1 MiB of "
	 "it for itself"},
	{SERVICE(TO_RDMA "max_message_bytes = 268435457;"),
	 "2: max_message_bytes is 268435457, but must be from 16384 to 268435456 bytes"},
	{"@include \"missing\"\n", "1: cannot open include file"},
};

START_TEST(every_peer_has_its_name)
{
	for (int id = 0; id < PEER_COUNT; id++) {
		const char *name = peer_profile((enum peer_id)id)->name;
		char text[256];

		snprintf(text, sizeof(text), SERVICE(TO_RDMA "peer = \"%s\";"), name);
		ck_assert_int_eq(only_service(text)->peer, id);
	}
}
END_TEST

START_TEST(each_mistake_is_named_with_its_line)
{
	char expected[600];

	ck_assert_int_eq(load(mistakes[_i].text), -EINVAL);
	ck_assert_ptr_null(config);
	snprintf(expected, sizeof(expected), "%s:%s\n", path, mistakes[_i].error);
	ck_assert_str_eq(errors, expected);
}
END_TEST

START_TEST(allow_absent_is_everyone_and_empty_is_nobody)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	const struct sockaddr *addr = (const struct sockaddr *)&in;

	ck_assert(config_allows(only_service(SERVICE(TO_TCP)), addr));
	ck_assert(!config_allows(only_service(SERVICE(TO_TCP "allow = [];")), addr));
	in.sin_family = AF_UNIX;
	ck_assert(!config_allows(only_service(SERVICE(TO_TCP "allow = [ \"0.0.0.0/0\" ];")), addr));
}
END_TEST

START_TEST(all_mistakes_are_reported)
{
	char expected[600];

	ck_assert_int_eq(load("workers = -1;\nfoo = 1;\nservices = ( { listen = 5; } );\n"),
			 -EINVAL);
	snprintf(expected, sizeof(expected),
		 "%s:1: workers is -1, but must be from 0 to 256\n"
		 "%s:2: unknown key foo\n"
		 "%s:3: listen must be a string in quotes, not a number\n"
		 "%s:3: name is missing in this service\n"
		 "%s:3: connect is missing in this service\n",
		 path, path, path, path, path);
	ck_assert_str_eq(errors, expected);
}
END_TEST

START_TEST(mistakes_in_an_included_file_name_that_file)
{
	write_file(other, "\nworkers = -1;\n");
	ck_assert_int_eq(load("@include \"other\"\n"), -EINVAL);
	ck_assert_str_eq(errors, "other:2: workers is -1, but must be from 0 to 256\n");
	write_file(other, "\nworkers = ;\n");
	ck_assert_int_eq(load("@include \"other\"\n"), -EINVAL);
	ck_assert_str_eq(errors, "other:2: syntax error\n");
}
END_TEST

static char *read_shipped(void)
{
	const char *srcdir = getenv("srcdir");
	char name[512], *text = calloc(1, 65536);
	FILE *file;

	snprintf(name, sizeof(name), "%s/conf/rpcrdma-proxy.conf", srcdir ? srcdir : ".");
	file = fopen(name, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_gt(fread(text, 1, 65535, file), 0);
	fclose(file);
	return text;
}

START_TEST(the_shipped_file_serves_nobody_yet)
{
	char *text = read_shipped();

	ck_assert_msg(load(text) == 0, "%s", errors);
	ck_assert_uint_eq(config->nservices, 0);
	free(text);
}
END_TEST

START_TEST(each_example_of_the_shipped_file_is_valid)
{
	char *text = read_shipped(), *at = text;

	for (int i = 0; i <= _i; i++) {
		at = strstr(at, "\n#  {");
		ck_assert_ptr_nonnull(at);
		at += 4;
	}
	at[-3] = ' ';
	for (at = strchr(at, '\n') + 1; *at == '#' && at[1] == ' '; at = strchr(at, '\n') + 1)
		*at = ' ';
	ck_assert_msg(load(text) == 0, "%s", errors);
	ck_assert_uint_eq(config->nservices, 1);
	free(text);
}
END_TEST

START_TEST(the_shipped_file_names_the_defaults)
{
	const struct config_key *const tables[] = {config_keys, config_service_keys};
	char line[200], *text = read_shipped();

	for (size_t i = 0; i < 2; i++) {
		for (const struct config_key *key = tables[i]; key->name; key++) {
			bool quoted =
				key->type == CONFIG_KEY_PATH || key->type == CONFIG_KEY_CHOICE;
			const char *quote = quoted ? "\"" : "";

			if (key->preset && !strchr(key->preset, ' '))
				snprintf(line, sizeof(line), "\n# %s = %s%s%s;", key->name, quote,
					 key->preset, quote);
			else
				snprintf(line, sizeof(line), "%s ", key->name);
			ck_assert_msg(strstr(text, line) != NULL, "%s", line);
		}
	}
	free(text);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_says_why)
{
	FILE *out = tmpfile();

	ck_assert_int_eq(config_load(other, out, &config), -ENOENT);
	ck_assert_int_eq(config_load(dir, out, &config), -EISDIR);
	ck_assert_int_eq(config_load("/dev/zero", out, &config), -EFBIG);
	write_file(other, "workers = 2;");
	ck_assert_int_eq(truncate(other, 13), 0);
	ck_assert_int_eq(config_load(other, out, &config), -EILSEQ);
	ck_assert_ptr_null(config);
	fclose(out);
}
END_TEST

START_TEST(verbs_without_devices_is_refused)
{
	char expected[200];

	if (!config_verbs_missing())
		return;
	ck_assert_int_eq(load(SERVICE("listen = \"tcp://127.0.0.1\"; connect = \"verbs://a\";")),
			 -ENODEV);
	snprintf(expected, sizeof(expected), "%s:2: connect: %s\n", path, config_verbs_missing());
	ck_assert_str_eq(errors, expected);
	/* With another error the file is wrong, whatever devices come. */
	ck_assert_int_eq(
		load(SERVICE("listen = \"tcp://127.0.0.1\"; connect = \"verbs://a\"; x = 1;")),
		-EINVAL);
}
END_TEST

static const struct {
	const char *text, *warning; /* the one warning after "FILE:"; NULL: none */
} warnings[] = {
	{"", "1: warning: no services: there is nothing to do"},
	{SERVICE(TO_RDMA), NULL},
	{SERVICE(TO_TCP FEW "allow = [ \"10.0.0.0/8\" ];"), NULL},
	{SERVICE(TO_TCP FEW),
	 "2: warning: service a listens beyond loopback without allow: every host that "
	 "reaches it is served, and the server sees the proxy's address only"},
	{SERVICE(TO_TCP FEW "allow = [ \"::/0\" ];"), "2: warning: service a allows every address"},
	{SERVICE(TO_TCP FEW "allow = [];"),
	 "2: warning: service a has an empty allow: nobody can connect"},
	{SERVICE(TO_RDMA "require_privileged_port = false;"),
	 "2: warning: service a takes unprivileged source ports, yet the RDMA server takes every client for "
	 "a privileged one"},
	{SERVICE(TCP_TO_TCP),
	 "2: warning: service a has max_connections = 1024, but there are only 359 reserved source ports: "
	 "connections past these come from unprivileged ports, which NFS exports refuse unless they are "
	 "\"insecure\""},
	{SERVICE(TCP_TO_TCP "max_connections = 360; source_port = \"reserved\";"),
	 "2: warning: service a has max_connections = 360, but there are only 359 reserved source ports: "
	 "connections past these are refused (source_port = \"reserved\")"},
	{SERVICE(TCP_TO_TCP "max_connections = 360; source_port = \"any\";"), NULL},
	{SERVICE(TCP_TO_TCP FEW), NULL},
	{SERVICE(TO_RDMA "max_connections = 5; max_connections_per_client = 6;"),
	 "2: warning: service a has a max_connections_per_client (6) above its max_connections (5)"},
};

START_TEST(unwise_configurations_are_warned_of)
{
	char expected[400] = "";
	char *said;
	size_t len;
	FILE *out;

	ck_assert_int_eq(load(warnings[_i].text), 0);
	out = open_memstream(&said, &len);
	config_warn(config, out);
	fclose(out);
	if (warnings[_i].warning)
		snprintf(expected, sizeof(expected), "%s:%s\n", path, warnings[_i].warning);
	ck_assert_str_eq(said, expected);
	free(said);
}
END_TEST

/* ---- descriptors ---- */

static void load_services(unsigned workers, unsigned services, const char *to)
{
	char text[16384];
	size_t len = (size_t)snprintf(text, sizeof(text), "workers = %u;\nservices = (", workers);

	for (unsigned i = 0; i < services; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s\n{ name = \"s%u\"; listen = \"tcp://127.0.0.1:%u\"; "
					"connect = \"%s://filer:1\"; }",
					i ? "," : "", i, 10000 + i, to);
	snprintf(text + len, sizeof(text) - len, "\n);\n");
	ck_assert_int_eq(load(text), 0);
}

/* What the manual says. */
START_TEST(descriptors_are_enough_for_all_connections)
{
	load_services(2, 1, "tcp");
	ck_assert_uint_eq(config_connections(config), 1024);
	ck_assert_uint_eq(config_descriptors(config), 2 * 1024 + 5 * 2 + 528 + 101);
	load_services(64, 3, "rdma");
	ck_assert_uint_eq(config_connections(config), 3 * 1024);
	ck_assert_uint_eq(config_descriptors(config),
			  2 * 3 * 1024 + 5 * 64 + 4 * 64 * 3 + 528 * 3 + 101);
}
END_TEST

static const char *descriptor_warning(uint64_t limit)
{
	static char text[512];
	FILE *out = fmemopen(text, sizeof(text), "w");

	text[0] = '\0';
	config_descriptors_warn(config, limit, out);
	fclose(out);
	return text;
}

/* The LimitNOFILE of the unit. */
START_TEST(the_units_limit_fits_the_defaults)
{
	load_services(2, 25, "rdma");
	ck_assert_str_eq(descriptor_warning(65536), "");
	load_services(64, 22, "rdma");
	ck_assert_str_eq(descriptor_warning(65536), "");
	load_services(64, 23, "rdma");
	ck_assert_ptr_nonnull(strstr(descriptor_warning(65536), "warning: as many connections"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config");
	TCase *tc = tcase_create("config");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, everything_has_a_default);
	tcase_add_test(tc, printed_defaults_are_the_defaults);
	tcase_add_test(tc, every_key_is_read);
	tcase_add_test(tc, every_peer_has_its_name);
	tcase_add_test(tc, privileged_ports_are_asked_only_where_rdma_hides_them);
	tcase_add_test(tc, what_is_off_may_be_off_in_any_service);
	tcase_add_test(tc, a_file_without_services_is_legal);
	tcase_add_loop_test(tc, each_mistake_is_named_with_its_line, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tc, allow_absent_is_everyone_and_empty_is_nobody);
	tcase_add_test(tc, all_mistakes_are_reported);
	tcase_add_test(tc, mistakes_in_an_included_file_name_that_file);
	tcase_add_test(tc, the_shipped_file_serves_nobody_yet);
	tcase_add_loop_test(tc, each_example_of_the_shipped_file_is_valid, 0, 2);
	tcase_add_test(tc, the_shipped_file_names_the_defaults);
	tcase_add_test(tc, a_file_that_cannot_be_read_says_why);
	tcase_add_test(tc, verbs_without_devices_is_refused);
	tcase_add_loop_test(tc, unwise_configurations_are_warned_of, 0, ARRAY_SIZE(warnings));
	tcase_add_test(tc, descriptors_are_enough_for_all_connections);
	tcase_add_test(tc, the_units_limit_fits_the_defaults);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
