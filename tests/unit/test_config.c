// SPDX-License-Identifier: BSD-3-Clause
/* Tests the configuration file: its meaning, and the warnings about it. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_memory.h"
#include "daemon/config/config_value.h"
#include "tests/lib/test.h"
#include "tests/unit/config_fixture.h"

START_TEST(everything_has_a_default)
{
	const struct service_config *s = config_fixture_service(SERVICE(TO_RDMA));

	ck_assert_str_eq(fixture.config->control, "/run/rpcrdma-proxy/control.sock");
	ck_assert_uint_ge(fixture.config->workers, 1);
	ck_assert_uint_eq(fixture.config->memory_limit_mib, 1024);
	ck_assert_str_eq(s->name, "a");
	ck_assert_int_eq(s->line, 2);
	ck_assert(!s->has_allow);
	ck_assert_uint_eq(s->credits, 64);
	ck_assert_uint_eq(s->inline_threshold_bytes, 8192);
	ck_assert_uint_eq(s->max_message_bytes, 67174400);
	ck_assert(s->auto_connections);
	ck_assert(s->require_privileged_port);
	ck_assert_int_eq(s->source_port, SOURCE_PORT_AUTO);
	ck_assert_uint_eq(s->stall_timeout_s, 60);
	ck_assert_uint_eq(s->half_closed_timeout_s, 30);
	ck_assert_uint_eq(s->keepalive_s, 30);
	ck_assert(s->mpa_crc);
	ck_assert_int_eq(s->fpdu_max, IWARP_FPDU_AUTO);
	ck_assert_int_eq(s->ddp, DDP_NONE);
	ck_assert_int_eq(s->peer, PEER_AUTO);
	ck_assert_uint_eq(s->listen_version, 2);
	ck_assert_uint_eq(s->connect_version, 1);
	ck_assert_uint_eq(s->receive_max_bytes, 65536);
	ck_assert(s->characteristics);
	ck_assert(!s->reverse_chunks);
	ck_assert(s->strict_chunks);
	ck_assert_int_eq(s->listen_compat, DIALECT_RFC8166);
	ck_assert_int_eq(s->connect_compat, DIALECT_RFC8166);
	ck_assert(!s->config_protocol);
	ck_assert_uint_eq(s->config_program, 100417);
	ck_assert_uint_eq(s->done_timeout_s, 30);
	ck_assert_int_eq(s->done_policy, DONE_POLICY_CLOSE);
	ck_assert_uint_eq(s->padding_align_bytes, 0);
	ck_assert_uint_eq(s->padding_threshold_bytes, 1024);
	ck_assert_uint_eq(s->reverse_timeout_s, 30);
	ck_assert_uint_eq(s->slow_log_ms, 0);
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
	const struct service_config *s = config_fixture_service(
		"control = \"/tmp/x.sock\"; workers = 3; memory_limit_mib = 77;\n" SERVICE(
			"listen = \"tcp://127.0.0.1:2049\"; connect = \"iwarp://filer\";"
			"allow = [ \"10.0.0.0/8\", \"::1\" ]; credits = 17;"
			"inline_threshold_bytes = 16384; max_message_bytes = 300000;"
			"max_connections = 5; require_privileged_port = false;"
			"stall_timeout_s = 7; keepalive_s = 11; mpa_crc = false; fpdu_max = \"64k\"; ddp = \"nfs\";"
			"peer = \"chimera\";"));

	ck_assert_str_eq(fixture.config->control, "/tmp/x.sock");
	ck_assert_uint_eq(fixture.config->workers, 3);
	ck_assert_uint_eq(fixture.config->memory_limit_mib, 77);
	ck_assert_uint_eq(s->nallow, 2);
	ck_assert_uint_eq(s->credits, 17);
	ck_assert_uint_eq(s->inline_threshold_bytes, 16384);
	ck_assert_uint_eq(s->max_message_bytes, 300000);
	ck_assert_uint_eq(s->max_connections, 5);
	ck_assert(!s->require_privileged_port);
	ck_assert_uint_eq(s->stall_timeout_s, 7);
	ck_assert_uint_eq(s->keepalive_s, 11);
	ck_assert(!s->mpa_crc);
	ck_assert_int_eq(s->fpdu_max, IWARP_FPDU_64K);
	ck_assert_int_eq(s->ddp, DDP_NFS);
	ck_assert_int_eq(s->peer, PEER_CHIMERA);
	s = config_fixture_service(
		SERVICE("listen = \"rdma://[::]\"; connect = \"tcp://localhost:2049\";"
			"busy_poll_us = 50; rnr_retry = 6; rdma_ack_timeout = 16; rdma_tos = 106;"
			"memory_windows = \"off\"; rdma_domain = \"connection\";"));
	ck_assert_uint_eq(s->busy_poll_us, 50);
	ck_assert_uint_eq(s->rdma_ack_timeout, 16);
	ck_assert_uint_eq(s->rdma_tos, 106);
	ck_assert_int_eq(s->memory_windows, MEMORY_WINDOWS_OFF);
	ck_assert_int_eq(s->rdma_domain, VERBS_PD_CONNECTION);
	ck_assert_uint_eq(s->rnr_retry, 6);
	s = config_fixture_service(SERVICE(TO_TCP "source_port = \"reserved\";"));
	ck_assert_int_eq(s->source_port, SOURCE_PORT_RESERVED);
}
END_TEST

START_TEST(every_key_of_versions_is_read)
{
	const struct service_config *s = config_fixture_service(
		SERVICE(RDMA_TO_RDMA "listen_version = 1; connect_version = 2;"
				     "receive_max_bytes = 262144; characteristics = false;"
				     "reverse_chunks = true; strict_chunks = false;"));

	ck_assert_uint_eq(s->listen_version, 1);
	ck_assert_uint_eq(s->connect_version, 2);
	ck_assert_uint_eq(s->receive_max_bytes, 262144);
	ck_assert(!s->characteristics);
	ck_assert(s->reverse_chunks);
	ck_assert(!s->strict_chunks);
	/* Reverse Calls of a server are judged, too. */
	ck_assert(config_fixture_service(SERVICE(TO_RDMA "strict_chunks = true;"))->strict_chunks);
}
END_TEST

START_TEST(every_key_of_the_draft_is_read)
{
	const struct service_config *s = config_fixture_service(
		SERVICE(RDMA_TO_RDMA "listen_compat = \"draft03\"; connect_compat = \"draft03\";"
				     "config_protocol = true; config_program = 200000;"
				     "done_timeout_s = 5; done_policy = \"withdraw\";"
				     "padding_align_bytes = 64; padding_threshold_bytes = 2000;"
				     "reverse_timeout_s = 7;"));

	ck_assert_int_eq(s->listen_compat, DIALECT_DRAFT03);
	ck_assert_int_eq(s->connect_compat, DIALECT_DRAFT03);
	ck_assert(s->config_protocol);
	ck_assert_uint_eq(s->config_program, 200000);
	ck_assert_uint_eq(s->done_timeout_s, 5);
	ck_assert_int_eq(s->done_policy, DONE_POLICY_WITHDRAW);
	ck_assert_uint_eq(s->padding_align_bytes, 64);
	ck_assert_uint_eq(s->padding_threshold_bytes, 2000);
	ck_assert_uint_eq(s->reverse_timeout_s, 7);
}
END_TEST

START_TEST(privileged_ports_are_asked_only_where_rdma_hides_them)
{
	ck_assert(config_fixture_service(SERVICE(TO_RDMA))->require_privileged_port);
	ck_assert(!config_fixture_service(SERVICE(TO_TCP))->require_privileged_port);
	ck_assert(!config_fixture_service(SERVICE(TCP_TO_TCP))->require_privileged_port);
	ck_assert(config_fixture_service(SERVICE(TCP_TO_TCP "require_privileged_port = true;"))
			  ->require_privileged_port);
}
END_TEST

START_TEST(disabled_settings_can_be_disabled_in_any_service)
{
	ck_assert(!config_fixture_service(SERVICE(TO_TCP "require_privileged_port = false;"))
			   ->require_privileged_port);
	ck_assert(!config_fixture_service(SERVICE(TCP_TO_TCP "mpa_crc = false;"))->mpa_crc);
	ck_assert(!config_fixture_service(SERVICE(TCP_TO_TCP "characteristics = false;"))
			   ->characteristics);
	ck_assert(!config_fixture_service(SERVICE(RDMA_TO_RDMA
						  "tls = \"off\"; tls_connect = \"off\"; "
						  "tls_client_names = [ ];"))
			   ->tls.accept);
	/* There it is no default. */
	ck_assert_int_eq(config_fixture_load(SERVICE(TCP_TO_TCP "memory_windows = \"off\";")),
			 -EINVAL);
}
END_TEST

static const struct config_tls *tls_of(const char *name)
{
	for (size_t i = 0; i < fixture.config->nservices; i++)
		if (!strcmp(fixture.config->services[i].name, name))
			return &fixture.config->services[i].tls;
	ck_abort_msg("%s", name);
	return NULL;
}

START_TEST(keys_of_tls_can_be_defaults)
{
	ck_assert_int_eq(
		config_fixture_load(
			"defaults = { tls = \"required\"; tls_cert_file = \"/c\"; tls_ca_file = \"/ca\"; "
			"tls_client_names = [ \"a\", \"b\" ]; tls_verify_client = \"required\"; };\n"
			"services = ( { name = \"a\"; " TO_RDMA " },\n"
			"{ name = \"b\"; " TCP_TO_TCP
			"tls = \"allowed\"; tls_cert_file = \"/own\"; "
			"tls_verify_client = \"optional\"; tls_client_names = [ \"c\" ]; "
			"tls_connect = \"required\"; tls_server_name = \"filer\"; },\n"
			"{ name = \"c\"; listen = \"rdma://:1\"; connect = \"rdma://filer\"; } );"),
		0);
	ck_assert_int_eq(tls_of("a")->accept, CONFIG_TLS_REQUIRED);
	ck_assert_int_eq(tls_of("a")->connect, CONFIG_TLS_CONNECT_OFF);
	ck_assert_str_eq(tls_of("a")->cert_file, "/c");
	ck_assert_ptr_null(tls_of("a")->key_file);
	ck_assert_str_eq(tls_of("a")->ca_file, "/ca");
	ck_assert_int_eq(tls_of("a")->verify_client, TLS_VERIFY_REQUIRED);
	ck_assert_uint_eq(tls_of("a")->client_names.count, 2);
	ck_assert_int_eq(tls_of("b")->accept, CONFIG_TLS_ALLOWED);
	ck_assert_int_eq(tls_of("b")->connect, CONFIG_TLS_CONNECT_REQUIRED);
	ck_assert_str_eq(tls_of("b")->cert_file, "/own");
	ck_assert_int_eq(tls_of("b")->verify_client, TLS_VERIFY_OPTIONAL);
	ck_assert_uint_eq(tls_of("b")->client_names.count, 1);
	ck_assert_str_eq(tls_of("b")->client_names.names[0], "c");
	ck_assert_str_eq(tls_of("b")->server_name, "filer");
	ck_assert_int_eq(tls_of("c")->accept, CONFIG_TLS_OFF);
	ck_assert_ptr_null(tls_of("c")->cert_file);
}
END_TEST

START_TEST(a_file_without_services_is_legal)
{
	ck_assert_int_eq(config_fixture_load(""), 0);
	ck_assert_uint_eq(fixture.config->nservices, 0);
	ck_assert_int_eq(config_fixture_load("services = ();"), 0);
	ck_assert_int_eq(config_fixture_load("services = [];"), 0);
}
END_TEST

START_TEST(every_peer_has_its_name)
{
	for (int id = 0; id < PEER_COUNT; id++) {
		const char *name = peer_profile((enum peer_id)id)->name;
		char text[256];

		snprintf(text, sizeof(text), SERVICE(TO_RDMA "peer = \"%s\";"), name);
		ck_assert_int_eq(config_fixture_service(text)->peer, id);
	}
}
END_TEST

START_TEST(allow_absent_permits_all_clients_and_empty_none)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	const struct sockaddr *addr = (const struct sockaddr *)&in;

	ck_assert(config_allows(config_fixture_service(SERVICE(TO_TCP)), addr));
	ck_assert(!config_allows(config_fixture_service(SERVICE(TO_TCP "allow = [];")), addr));
	in.sin_family = AF_UNIX;
	ck_assert(!config_allows(
		config_fixture_service(SERVICE(TO_TCP "allow = [ \"0.0.0.0/0\" ];")), addr));
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

START_TEST(the_installed_file_has_no_active_service)
{
	char *text = read_shipped();

	ck_assert_msg(config_fixture_load(text) == 0, "%s", fixture.errors);
	ck_assert_uint_eq(fixture.config->nservices, 0);
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
	ck_assert_msg(config_fixture_load(text) == 0, "%s", fixture.errors);
	ck_assert_uint_eq(fixture.config->nservices, 1);
	free(text);
}
END_TEST

START_TEST(each_commented_key_of_the_shipped_file_has_its_default)
{
	char line[200], *text = read_shipped();
	unsigned count = 0;

	for (const struct config_key *key = config_keys; key->name; key++) {
		bool quoted = key->type == CONFIG_KEY_PATH || key->type == CONFIG_KEY_CHOICE;
		const char *quote = quoted ? "\"" : "";

		snprintf(line, sizeof(line), "\n# %s = ", key->name);
		if (!key->preset || !strstr(text, line))
			continue;
		snprintf(line, sizeof(line), "\n# %s = %s%s%s;", key->name, quote, key->preset,
			 quote);
		ck_assert_msg(strstr(text, line) != NULL, "%s", line);
		count++;
	}
	ck_assert_uint_ge(count, 3);
	free(text);
}
END_TEST

START_TEST(verbs_without_devices_is_refused)
{
	char expected[200];

	if (!config_verbs_missing())
		return;
	ck_assert_int_eq(config_fixture_load(
				 SERVICE("listen = \"tcp://127.0.0.1\"; connect = \"verbs://a\";")),
			 -ENODEV);
	snprintf(expected, sizeof(expected), "%s:2: connect: %s\n", fixture.path,
		 config_verbs_missing());
	ck_assert_str_eq(fixture.errors, expected);
	/* With another error the file is wrong, whatever devices come. */
	ck_assert_int_eq(config_fixture_load(SERVICE(
				 "listen = \"tcp://127.0.0.1\"; connect = \"verbs://a\"; x = 1;")),
			 -EINVAL);
}
END_TEST

/* Nothing to warn of yet. */
#define ALLOWED TO_TCP FEW "allow = [ \"10.0.0.0/8\" ]; "

static const struct {
	const char *text, *warning; /* the one warning after "FILE:"; NULL: none */
} warnings[] = {
	{"", NULL},
	{SERVICE(TO_RDMA), NULL},
	{SERVICE(TO_TCP FEW "allow = [ \"10.0.0.0/8\" ];"), NULL},
	{SERVICE(TO_TCP FEW),
	 "2: warning: service a listens beyond loopback without allow: every host that can reach it is served, and the server sees the proxy's address only"},
	{SERVICE(TO_TCP FEW "allow = [ \"::/0\", \"0.0.0.0/0\" ];"),
	 "2: warning: service a allows every address"},
	{SERVICE(TO_TCP FEW "allow = [ \"::/0\", \"10.0.0.0/8\" ];"),
	 "2: warning: service a allows every IPv6 address"},
	{SERVICE(TO_TCP FEW "allow = [ \"::/0\", \"::ffff:0:0/96\" ];"),
	 "2: warning: service a allows every address"},
	{SERVICE(TO_TCP FEW "allow = [ \"0.0.0.0/0\" ];"),
	 "2: warning: service a allows every IPv4 address"},
	{SERVICE(TO_TCP FEW "allow = [ \"::/0\" ];"),
	 "2: warning: service a: allow has \"::/0\" but no IPv4 prefix: IPv4 clients are refused; "
	 "add \"0.0.0.0/0\""},
	{SERVICE(TO_RDMA "allow = [ \"::/0\" ];"),
	 "2: warning: service a: allow has \"::/0\" but no IPv4 prefix: IPv4 clients are refused; "
	 "add \"0.0.0.0/0\""},
	{SERVICE("listen = \"tcp://[::1]:2049\"; connect = \"rdma://filer\"; allow = [ \"::/0\" ];"),
	 NULL},
	{SERVICE("listen = \"tcp://[2001:db8::1]:2049\"; connect = \"rdma://filer\"; allow = [ "
		 "\"::/0\" ];"),
	 "2: warning: service a allows every IPv6 address"},
	{SERVICE(TO_RDMA "register = \"mount\";"), NULL},
	{SERVICE(TO_RDMA "register = \"mount\"; mount = \"off\";"),
	 "2: warning: service a has register = \"mount\" and mount = \"off\": MOUNT is not registered"},
	{SERVICE("listen = \"rdma://127.0.0.1\"; connect = \"rdma://filer\"; register = \"mount\";"),
	 "2: warning: service a has register = \"mount\" and no tcp:// listener, where clients would "
	 "ask for MOUNT: MOUNT is not registered"},
	{"register = \"mount\";\n" SERVICE(TO_RDMA "mount = \"off\";"), NULL},
	{SERVICE("listen = \"tcp://127.0.0.1:2049\"; connect = \"rdma://0.0.0.0\";"),
	 "2: warning: service a connects to 0.0.0.0, which means this host itself: write the "
	 "server's name or address"},
	{SERVICE("listen = \"tcp://127.0.0.1:2049\"; connect = \"rdma://[::]\";"),
	 "2: warning: service a connects to ::, which means this host itself: write the server's "
	 "name or address"},
	{SERVICE(TO_TCP FEW "allow = [];"),
	 "2: warning: service a has an empty allow: no client can connect"},
	{SERVICE(TO_RDMA "require_privileged_port = false;"),
	 "2: warning: service a accepts clients from any source port, but the RDMA server will trust them as privileged (root) clients"},
	{SERVICE(TO_IWARP "require_privileged_port = false;"), NULL},
	{SERVICE(TO_TCP FEW "send_proxy = true;"),
	 "2: warning: service a listens beyond loopback without allow: every host that can reach it is served"},
	{SERVICE(TO_IWARP "accept_proxy_from = [ \"127.0.0.1\" ];"),
	 "2: warning: service a has accept_proxy_from without allow: every client of those proxies is served"},
	{SERVICE(TO_IWARP "accept_proxy_from = [ \"127.0.0.1\" ]; allow = [ \"10.0.0.0/8\" ];"),
	 NULL},
	{SERVICE(TO_IWARP "accept_proxy_from = [ ];"), NULL},
	{SERVICE(TO_RDMA "accept_proxy_from = [ \"::/0\" ]; allow = [ \"10.0.0.0/8\" ];"),
	 "2: warning: service a has every address in accept_proxy_from: any host can impersonate any client"},
	{SERVICE(ALLOWED "trusted_proxies = [ \"10.0.0.1\" ]; source_port = \"any\";"),
	 "2: warning: service a: trusted_proxies has no effect with source_port = \"any\""},
	{SERVICE(ALLOWED "trusted_proxies = [ \"10.0.0.1\" ]; source_port = \"reserved\";"),
	 "2: warning: service a: trusted_proxies has no effect with source_port = \"reserved\""},
	{SERVICE(ALLOWED "trusted_proxies = [ \"10.0.0.1\" ];"), NULL},
	{SERVICE(ALLOWED "trusted_proxies = [ \"0.0.0.0/0\" ];"),
	 "2: warning: service a: trusted_proxies has every address: any iWARP client gets ports below "
	 "1024"},
	{SERVICE(ALLOWED "trusted_proxies = [ \"::/0\" ];"),
	 "2: warning: service a: trusted_proxies has every address: any iWARP client gets ports below "
	 "1024"},
	{"http_hosts = [ \"a.example\" ]; " SERVICE(TO_RDMA),
	 "1: warning: http_hosts has no effect without http_listen"},
	{"http_hosts = [ \"a.example\" ]; http_listen = \"127.0.0.1:9180\"; " SERVICE(TO_RDMA),
	 NULL},
	/* "auto" is as many as there can be. */
	{SERVICE(TCP_TO_TCP), NULL},
	{SERVICE(TCP_TO_TCP "max_connections_per_client = 1000000;"), NULL},
	{SERVICE(TCP_TO_TCP "max_connections = 1024;"),
	 "2: warning: service a has max_connections = 1024, but only the first 359 connections can use a source port below 1024: later ones will be refused by exports without \"insecure\": lower max_connections, or export with \"insecure\" and set source_port = \"any\""},
	{SERVICE(TCP_TO_TCP "max_connections = 360; source_port = \"reserved\";"),
	 "2: warning: service a has max_connections = 360, but only the first 359 connections can use a source port below 1024: later ones are refused (source_port = \"reserved\")"},
	{SERVICE(TCP_TO_TCP "max_connections = 360; source_port = \"any\";"), NULL},
	{SERVICE(TCP_TO_TCP FEW), NULL},
	{SERVICE(TO_RDMA "max_connections = 5; max_connections_per_client = 6;"),
	 "2: warning: service a has a max_connections_per_client (6) above its max_connections (5)"},
	{SERVICE(TO_RDMA "receive_max_bytes = 131072;"),
	 "2: warning: service a has receive_max_bytes = 131072, which does nothing: neither side speaks "
	 "version two"},
	{SERVICE(ALLOWED "listen_version = 1; receive_max_bytes = 131072;"),
	 "2: warning: service a has receive_max_bytes = 131072, which does nothing: neither side speaks "
	 "version two"},
	{SERVICE(ALLOWED "receive_max_bytes = 131072;"), NULL},
	{SERVICE(TO_RDMA "receive_max_bytes = 131072; connect_version = 2;"), NULL},
	{SERVICE(TO_RDMA
		 "receive_max_bytes = 131072; connect_version = 2; characteristics = false;"),
	 "2: warning: service a has receive_max_bytes = 131072, which does nothing: receive sizes are "
	 "characteristics, which are off"},
	{SERVICE(TO_RDMA "padding_align_bytes = 64;"),
	 "2: warning: service a has padding_align_bytes = 64, which does nothing: it needs listen_compat or "
	 "connect_compat = \"draft03\""},
	{SERVICE(TO_RDMA "padding_align_bytes = 64; connect_compat = \"draft03\";"), NULL},
	{SERVICE(TO_RDMA "padding_threshold_bytes = 2048; connect_compat = \"draft03\";"),
	 "2: warning: service a has padding_threshold_bytes = 2048, which does nothing without "
	 "padding_align_bytes"},
	{SERVICE(TO_RDMA "padding_align_bytes = 64; padding_threshold_bytes = 8192;"
			 "connect_compat = \"draft03\";"),
	 "2: warning: service a has padding_threshold_bytes = 8192, which no message reaches: "
	 "inline_threshold_bytes is not above it"},
	{SERVICE(TO_RDMA "padding_align_bytes = 64; padding_threshold_bytes = 8191;"
			 "connect_compat = \"draft03\";"),
	 NULL},
	{SERVICE(TO_RDMA "rdma_domain = \"worker\";"),
	 "2: warning: service a has rdma_domain = \"worker\": on RDMA devices without memory windows, and on iWARP devices, a peer that guesses a key can access memory exposed to other peers"},
	{SERVICE(TO_RDMA "rdma_domain = \"peer\";"), NULL},
	{SERVICE(TO_RDMA "rdma_tos = 107;"),
	 "2: warning: service a has rdma_tos = 107, whose lowest two bits mark each packet as having met congestion: use 106 to let switches mark packets"},
	{SERVICE(TO_RDMA "rdma_tos = 106;"), NULL},
	{SERVICE(ALLOWED "done_policy = \"withdraw\";"),
	 "2: warning: service a has done_policy = \"withdraw\", which does nothing without listen_compat = "
	 "\"draft03\""},
	{SERVICE(ALLOWED "done_timeout_s = 7;"),
	 "2: warning: service a has done_timeout_s = 7, which does nothing without listen_compat = "
	 "\"draft03\""},
	{SERVICE(ALLOWED "done_timeout_s = 7; listen_compat = \"draft03\";"), NULL},
	{SERVICE(TO_RDMA "receive_max_bytes = 8192; connect_version = 2;"),
	 "2: warning: service a has receive_max_bytes = 8192, so receives never grow: they start with 8192 bytes"},
	{SERVICE(TO_RDMA "receive_max_bytes = 4096; connect_version = 2;"
			 "inline_threshold_bytes = 1024;"),
	 "2: warning: service a has receive_max_bytes = 4096, so receives never grow: they start with 4096 bytes"},
	{SERVICE(TO_RDMA "receive_max_bytes = 9216; connect_version = 2;"), NULL},
	{SERVICE(TO_IWARP "connect_version = 2; inline_threshold_bytes = 262144;"), NULL},
	{SERVICE(TO_RDMA "inline_threshold_bytes = 262144;"), NULL},
	{SERVICE(TO_RDMA "inline_threshold_bytes = 262144; max_connections = 1024;"),
	 "2: warning: service a has inline_threshold_bytes = 262144: with credits = 64 the receives of a "
	 "connection take up to 22.0 MiB, those of all 1024 of max_connections up to 22528 MiB, in addition to memory_limit_mib (1024)"},
	{SERVICE(TO_RDMA "inline_threshold_bytes = 262144; credits = 8; max_connections = 100;"),
	 NULL},
	{SERVICE(TO_RDMA "inline_threshold_bytes = 8192; credits = 1024;"), NULL},
	{SERVICE(TO_RDMA "reverse_chunks = true;"),
	 "2: warning: service a has reverse_chunks = true, which does nothing: neither side speaks "
	 "version two"},
	{SERVICE(ALLOWED "reverse_chunks = true; characteristics = false;"),
	 "2: warning: service a has reverse_chunks = true, which does nothing: the peer learns of it by "
	 "characteristics, which are off"},
	{SERVICE(ALLOWED "reverse_chunks = true;"), NULL},
	{SERVICE(TO_RDMA "reverse_chunks = true; connect_version = 2;"), NULL},
	/* Ports that everybody knows for the other transport. */
	{SERVICE("listen = \"tcp://127.0.0.1:2049\"; connect = \"rdma://filer:2049\";"),
	 "2: warning: service a: connect: rdma://filer:2049 has the port of NFS over TCP: did you mean "
	 "tcp://filer:2049 or rdma://filer:20049?"},
	{SERVICE("listen = \"rdma://127.0.0.1\"; connect = [ \"tcp://filer\", \"tcp://b:20049\" ];"),
	 "2: warning: service a: connect: tcp://b:20049 has the port of NFS over RDMA: did you mean "
	 "rdma://b:20049 or tcp://b:2049?"},
	{SERVICE("listen = \"rdma://127.0.0.1:2049\"; connect = \"tcp://filer\";"),
	 "2: warning: service a: listen: rdma://127.0.0.1:2049 has the port of NFS over TCP: did you "
	 "mean tcp://127.0.0.1:2049 or rdma://127.0.0.1:20049?"},
	{SERVICE("listen = \"tcp://[::1]:20049\"; connect = \"rdma://filer\";"),
	 "2: warning: service a: listen: tcp://[::1]:20049 has the port of NFS over RDMA: did you mean "
	 "rdma://[::1]:20049 or tcp://[::1]:2049?"},
	{SERVICE("listen = \"tcp://127.0.0.1\"; connect = \"iwarp://filer:2049\";"),
	 "2: warning: service a: connect: iwarp://filer:2049 has the port of NFS over TCP: did you mean "
	 "tcp://filer:2049 or iwarp://filer:20049?"},
	{SERVICE("listen = [ \"tcp://127.0.0.1\", \"iwarp://127.0.0.1:2049\" ]; "
		 "connect = \"rdma://filer\";"),
	 NULL},
	{SERVICE("listen = \"tcp://127.0.0.1:111\"; connect = \"rdma://filer:3049\";"), NULL},
	/* Link-local addresses. */
	{SERVICE("listen = \"tcp://127.0.0.1\"; connect = \"rdma://[fe80::1]\";"),
	 "2: warning: service a: connect: fe80::1 is a link-local address, which needs its interface: "
	 "write [fe80::1%eth0] with the name of the interface"},
	{SERVICE("listen = \"tcp://127.0.0.1\"; connect = \"rdma://[febf::1%lo]\";"), NULL},
	{SERVICE("listen = \"tcp://127.0.0.1\"; connect = \"rdma://[fec0::1]\";"), NULL},
	{SERVICE("listen = \"tcp://127.0.0.1\"; connect = \"rdma://filer\"; "
		 "mount = \"tcp://[fe80::2]:635\";"),
	 "2: warning: service a: mount: fe80::2 is a link-local address, which needs its interface: "
	 "write [fe80::2%eth0] with the name of the interface"},
	{SERVICE("listen = \"tcp://[fe80::3]\"; connect = \"rdma://filer\"; allow = [ \"::1\" ];"),
	 "2: warning: service a: listen: fe80::3 is a link-local address, which needs its interface: "
	 "write [fe80::3%eth0] with the name of the interface"},
	{"http_listen = \"[fe80::4]:9180\"; http_allow = [ \"fe80::/10\" ]; " SERVICE(TO_RDMA),
	 "1: warning: http_listen is a link-local address, which needs its interface: write "
	 "[fe80::1%eth0]:9180 with the name of the interface"},
};

START_TEST(unwise_configurations_are_warned_of)
{
	char expected[400] = "";
	char *said;
	size_t len;
	FILE *out;

	ck_assert_int_eq(config_fixture_load(warnings[_i].text), 0);
	out = open_memstream(&said, &len);
	config_warn(fixture.config, out);
	fclose(out);
	if (warnings[_i].warning)
		snprintf(expected, sizeof(expected), "%s:%s\n", fixture.path, warnings[_i].warning);
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
	ck_assert_int_eq(config_fixture_load(text), 0);
	/* Whatever host the test runs on. */
	fixture.config->host = (struct host_limits){.descriptors = 65536};
	config_limits_resolve(fixture.config);
}

/* What the manual says. */
START_TEST(descriptors_are_enough_for_all_connections)
{
	load_services(2, 1, "tcp");
	ck_assert_uint_eq(config_connections(fixture.config), 1024);
	ck_assert_uint_eq(config_descriptors(fixture.config), 2 * 1024 + 5 * 2 + 530 + 180);
	load_services(64, 3, "rdma");
	ck_assert_uint_eq(config_connections(fixture.config), 3 * 1024);
	ck_assert_uint_eq(config_descriptors(fixture.config),
			  2 * 3 * 1024 + 5 * 64 + 4 * 64 * 3 + 530 * 3 + 180);
	ck_assert_int_eq(config_fixture_load("workers = 2;\n" SERVICE(
				 "listen = [ \"tcp://127.0.0.1\", \"iwarp://[::1]\" ]; "
				 "connect = [ \"tcp://a\", \"tcp://b\" ]; "
				 "mount = \"rpcbind\"; max_connections = 100;")),
			 0);
	ck_assert_uint_eq(config_descriptors(fixture.config),
			  2 * 100 + 5 * 2 + 2 * 2 + 2 * 16 + 514 + 180);
}
END_TEST

static const char *descriptor_warning(uint64_t limit)
{
	static char text[512];
	FILE *out = fmemopen(text, sizeof(text), "w");

	text[0] = '\0';
	config_descriptors_warn(fixture.config, limit, out);
	fclose(out);
	return text;
}

/* The LimitNOFILE of the unit. */
START_TEST(the_defaults_need_no_other_limit)
{
	load_services(2, 25, "rdma");
	ck_assert_uint_le(config_descriptors(fixture.config), 65536);
	load_services(64, 22, "rdma");
	ck_assert_uint_le(config_descriptors(fixture.config), 65536);
	/* With more they have less, as with a lower limit. */
	load_services(64, 40, "rdma");
	ck_assert_uint_gt(config_descriptors(fixture.config), 65536);
	ck_assert_str_eq(descriptor_warning(65536), "");
	ck_assert_str_eq(descriptor_warning(64), "");
}
END_TEST

START_TEST(numbers_above_the_limit_of_descriptors_are_warned_of)
{
	ck_assert_int_eq(
		config_fixture_load("workers = 2;\n" SERVICE(TO_IWARP "max_connections = 1000;")),
		0);
	ck_assert_str_eq(descriptor_warning(config_descriptors(fixture.config)), "");
	ck_assert_ptr_nonnull(
		strstr(descriptor_warning(config_descriptors(fixture.config) - 1),
		       ":1: warning: max_connections needs up to 2720 descriptors, but "
		       "the limit (LimitNOFILE, ulimit -n) is 2719: "));
}
END_TEST

/* ---- max_connections = "auto" ---- */

#define MIB ((uint64_t)1024 * 1024)

static const struct {
	const char *keys;
	uint64_t descriptors, memory_mib;
	uint32_t connections;
	enum config_limit limit;
} autos[] = {
	/* 72 are not for clients, nor are those that the daemon has open without any. */
	{TCP_TO_TCP, 65536, 0, (65536 - 72 - 27) / 2, CONFIG_LIMIT_DESCRIPTORS},
	{TCP_TO_TCP "max_connections = \"auto\";", 65536, 0, (65536 - 72 - 27) / 2,
	 CONFIG_LIMIT_DESCRIPTORS},
	{TCP_TO_TCP, 1024, 1048576, (1024 - 72 - 27) / 2, CONFIG_LIMIT_DESCRIPTORS},
	{TCP_TO_TCP, 64, 0, 1, CONFIG_LIMIT_DESCRIPTORS},
	{TCP_TO_TCP, UINT64_MAX, 0, 1000000, CONFIG_LIMIT_DESCRIPTORS},
	/* Half of what the limit of memory, 64 MiB and 0.5 MiB leave; never less than 1024. */
	{TCP_TO_TCP, 65536, 16384, 1519, CONFIG_LIMIT_MEMORY},
	{TCP_TO_TCP, 65536, 8192, 1024, CONFIG_LIMIT_MEMORY},
	{TCP_TO_TCP, 65536, 512, 1024, CONFIG_LIMIT_MEMORY},
	/* Only "reserved" has no other ports. */
	{TCP_TO_TCP "source_port = \"reserved\";", 65536, 0, 359, CONFIG_LIMIT_PORTS},
	{TCP_TO_TCP
	 "source_port = \"reserved\"; source_address = [ \"127.0.0.1\", \"127.0.0.2\" ];",
	 65536, 0, 718, CONFIG_LIMIT_PORTS},
	{TCP_TO_TCP "source_port = \"reserved\";", 300, 0, (300 - 72 - 27) / 2,
	 CONFIG_LIMIT_DESCRIPTORS},
	{TO_IWARP, 65536, 0, (65536 - 72 - 27) / 2, CONFIG_LIMIT_DESCRIPTORS},
	{TCP_TO_TCP "max_connections = 1000000;", 64, 512, 1000000, CONFIG_LIMIT_FILE},
};

START_TEST(auto_is_the_limit_of_the_host)
{
	char text[500];

	snprintf(text, sizeof(text), "workers = 1; services = ( { name = \"a\"; %s } );",
		 autos[_i].keys);
	ck_assert_msg(config_fixture_load(text) == 0, "%s", fixture.errors);
	fixture.config->host = (struct host_limits){.descriptors = autos[_i].descriptors,
						    .memory_bytes = autos[_i].memory_mib * MIB};
	config_limits_resolve(fixture.config);
	ck_assert_uint_eq(fixture.config->services[0].max_connections, autos[_i].connections);
	ck_assert_int_eq(fixture.config->services[0].limit, autos[_i].limit);
}
END_TEST

/* The daemon has counted its free descriptors when it started. */
static void count_connections(uint64_t connections)
{
	fixture.config->host.connections = connections;
	config_limits_resolve(fixture.config);
}

/* Others come and go by a reload, which leaves this service as it is. */
START_TEST(auto_does_not_depend_on_other_services)
{
	load_services(2, 1, "tcp");
	count_connections(30000);
	ck_assert_uint_eq(fixture.config->services[0].max_connections, 30000);
	load_services(2, 20, "tcp");
	count_connections(30000);
	ck_assert_uint_eq(fixture.config->services[0].max_connections, 30000);
	ck_assert_uint_eq(config_share(&fixture.config->services[0]), 1024);
}
END_TEST

/* Before that, -tv counts the listeners and loops that the file asks for, and devices. */
START_TEST(without_a_daemon_auto_leaves_descriptors_to_it)
{
	load_services(1, 20, "tcp");
	ck_assert_uint_eq(fixture.config->services[0].max_connections,
			  (65536 - 72 - 20 - 5 - 20 * 2) / 2);
	load_services(4, 2, "rdma");
	ck_assert_uint_eq(fixture.config->services[0].max_connections,
			  (65536 - 72 - 20 - 4 * 5 - 2 * 2 - 2 * 4 * 4 - 16) / 2);
}
END_TEST

static uint32_t auto_by_memory(const char *others)
{
	char text[4096];

	snprintf(text, sizeof(text),
		 "workers = 8;\nservices = ( { name = \"a\"; " TCP_TO_TCP " }%s );", others);
	ck_assert_msg(config_fixture_load(text) == 0, "%s", fixture.errors);
	fixture.config->host =
		(struct host_limits){.descriptors = 1000000, .memory_bytes = 16384 * MIB};
	config_limits_resolve(fixture.config);
	ck_assert_int_eq(fixture.config->services[0].limit, CONFIG_LIMIT_MEMORY);
	ck_assert_uint_gt(fixture.config->services[0].max_connections, 1024);
	return fixture.config->services[0].max_connections;
}

/* Neither their staging buffers nor their devices. */
START_TEST(memory_of_other_services_does_not_change_auto)
{
	uint32_t alone = auto_by_memory("");

	ck_assert_uint_eq(auto_by_memory(", { name = \"b\"; listen = \"tcp://127.0.0.1:3\"; "
					 "connect = \"tcp://b\"; }, { name = \"c\"; listen = "
					 "\"tcp://127.0.0.1:4\"; connect = \"tcp://c\"; }"),
			  alone);
	ck_assert_uint_eq(auto_by_memory(", { name = \"b\"; listen = \"tcp://127.0.0.1:3\"; "
					 "connect = \"rdma://b\"; }"),
			  alone);
}
END_TEST

/* A file for all services, and one that says otherwise. */
START_TEST(auto_can_be_a_default_and_can_be_set_back)
{
	ck_assert_int_eq(config_fixture_load("defaults = { max_connections = 7; }; services = (\n"
					     "{ name = \"a\"; " TCP_TO_TCP " },\n"
					     "{ name = \"b\"; " TO_RDMA
					     "max_connections = \"auto\"; } );"),
			 0);
	ck_assert_uint_eq(fixture.config->services[0].max_connections, 7);
	ck_assert(!fixture.config->services[0].auto_connections);
	ck_assert(fixture.config->services[1].auto_connections);
	ck_assert_uint_gt(fixture.config->services[1].max_connections, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config");
	TCase *tc = tcase_create("config");

	tcase_add_checked_fixture(tc, config_fixture_setup, config_fixture_teardown);
	tcase_add_test(tc, everything_has_a_default);
	tcase_add_test(tc, printed_defaults_are_the_defaults);
	tcase_add_test(tc, every_key_is_read);
	tcase_add_test(tc, every_key_of_versions_is_read);
	tcase_add_test(tc, every_key_of_the_draft_is_read);
	tcase_add_test(tc, every_peer_has_its_name);
	tcase_add_test(tc, privileged_ports_are_asked_only_where_rdma_hides_them);
	tcase_add_test(tc, disabled_settings_can_be_disabled_in_any_service);
	tcase_add_test(tc, keys_of_tls_can_be_defaults);
	tcase_add_test(tc, a_file_without_services_is_legal);
	tcase_add_test(tc, allow_absent_permits_all_clients_and_empty_none);
	tcase_add_test(tc, the_installed_file_has_no_active_service);
	tcase_add_loop_test(tc, each_example_of_the_shipped_file_is_valid, 0, 2);
	tcase_add_test(tc, each_commented_key_of_the_shipped_file_has_its_default);
	tcase_add_test(tc, verbs_without_devices_is_refused);
	tcase_add_loop_test(tc, unwise_configurations_are_warned_of, 0, ARRAY_SIZE(warnings));
	tcase_add_test(tc, descriptors_are_enough_for_all_connections);
	tcase_add_test(tc, the_defaults_need_no_other_limit);
	tcase_add_test(tc, numbers_above_the_limit_of_descriptors_are_warned_of);
	tcase_add_loop_test(tc, auto_is_the_limit_of_the_host, 0, ARRAY_SIZE(autos));
	tcase_add_test(tc, auto_does_not_depend_on_other_services);
	tcase_add_test(tc, without_a_daemon_auto_leaves_descriptors_to_it);
	tcase_add_test(tc, memory_of_other_services_does_not_change_auto);
	tcase_add_test(tc, auto_can_be_a_default_and_can_be_set_back);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
