// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_keys.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/compiler.h"
#include "daemon/base/edit_distance.h"
#include "daemon/base/paths.h"
#include "daemon/config/config.h"
#include "daemon/config/config_limits.h"
#include "rpcrdma/private_data.h"

#define KIB                1024u
#define DAY_S              86400u
#define HOUR_S             3600u

#define AT(member)         offsetof(struct config, member)
#define IN_SERVICE(member) offsetof(struct service_config, member)

/* A key of the file, or of a service; the struct's member has the same name. */
#define KEY(member, kind) .name = #member, .type = CONFIG_KEY_##kind, .offset = AT(member)
#define SERVICE_KEY(member, kind)                                                                  \
	.name = #member, .type = CONFIG_KEY_##kind, .offset = IN_SERVICE(member)
/* A key of struct config_tls, whose members have shorter names. */
#define TLS_KEY(key, member, kind)                                                                 \
	.name = #key, .type = CONFIG_KEY_##kind, .offset = IN_SERVICE(tls.member)
/* The default of a number or a bool, also as in the manual. */
#define PRESET(number) .preset = #number, .value = (number)
/* The words of a CONFIG_KEY_CHOICE, in the order of its enum. */
#define CHOICES(...)                                                                               \
	.choices = (const char *const[])                                                           \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static const char *const compat_choices[] = {
	[DIALECT_RFC8166] = "rfc8166",
	[DIALECT_DRAFT03] = "draft03",
	NULL,
};

static const char *const register_choices[] = {
	[REGISTER_NONE] = "false",
	[REGISTER_NFS] = "true",
	[REGISTER_MOUNT] = "mount",
	NULL,
};

static const char *const peer_choices[] = {
#define PEER_CHOICE(name, text) [PEER_##name] = (text),
	PEER_PROFILES(PEER_CHOICE)
#undef PEER_CHOICE
		NULL,
};

const struct config_key config_keys[] = {
	{KEY(control, PATH), .fixed = true, .preset = CONTROL_DEFAULT_SOCKET},
	{KEY(workers, NUMBER), .fixed = true, PRESET(0), .rule = CONFIG_PRESET_CORES, .max = 256},
	{KEY(memory_limit_mib, NUMBER), .fixed = true, PRESET(1024), .min = 1, .max = 1048576,
	 .unit = "MiB"},
	{KEY(drain_timeout_s, NUMBER), PRESET(30), .max = HOUR_S, .unit = "s"},
	{KEY(io_flusher, BOOL), .fixed = true, PRESET(true)},
	{KEY(lock_memory, BOOL), .fixed = true, PRESET(false)},
	{KEY(log_level, CHOICE), .preset = "info", .value = LOG_LEVEL_INFO,
	 CHOICES([LOG_LEVEL_ERROR] = "error", [LOG_LEVEL_WARNING] = "warning",
		 [LOG_LEVEL_INFO] = "info", [LOG_LEVEL_DEBUG] = "debug")},
	{.name = "register",
	 .type = CONFIG_KEY_REGISTER,
	 .offset = AT(registered),
	 .preset = "false",
	 .value = REGISTER_NONE,
	 .choices = register_choices},
	{KEY(http_listen, ADDRESS)},
	{KEY(http_allow, PREFIXES), .preset = "[ \"127.0.0.0/8\", \"::1/128\" ]"},
	{KEY(http_hosts, HOSTS), .preset = "[ ]"},
	{KEY(include_dir, FOLDER)},
	{.name = "defaults", .type = CONFIG_KEY_DEFAULTS},
	{KEY(services, SERVICES)},
	{0},
};

const struct config_key config_service_keys[] = {
	{SERVICE_KEY(name, NAME), .mandatory = true},
	{SERVICE_KEY(listen, LISTEN), .mandatory = true},
	{SERVICE_KEY(connect, CONNECT), .mandatory = true},
	{SERVICE_KEY(mount, MOUNT), .preset = "connect", .value = MOUNT_CONNECT},
	{SERVICE_KEY(balance, CHOICE), .preset = "standby", .value = BALANCE_STANDBY,
	 CHOICES([BALANCE_STANDBY] = "standby", [BALANCE_SOURCE] = "source")},
	{SERVICE_KEY(probe_interval_s, NUMBER), PRESET(0), .max = DAY_S, .unit = "s"},
	{SERVICE_KEY(connect_timeout_s, NUMBER), PRESET(2), .min = 1, .max = 10, .unit = "s"},
	{SERVICE_KEY(allow, ALLOW)},
	{SERVICE_KEY(accept_proxy_from, PREFIXES), .preset = "[ ]",
	 .scope = CONFIG_SCOPE_LISTEN_SOCKET},
	{SERVICE_KEY(trusted_proxies, PREFIXES), .preset = "[ ]",
	 .scope = CONFIG_SCOPE_LISTEN_IWARP},
	{SERVICE_KEY(send_proxy, BOOL), PRESET(false), .scope = CONFIG_SCOPE_CONNECT_SOCKET},
	{SERVICE_KEY(credits, NUMBER), PRESET(64), .min = 1, .max = 1024,
	 .scope = CONFIG_SCOPE_ANY_RDMA},
	{SERVICE_KEY(inline_threshold_bytes, NUMBER), PRESET(8192), .min = RPCRDMA_INLINE_MIN,
	 .max = RPCRDMA_INLINE_MAX, .multiple = 1024, .unit = "bytes",
	 .scope = CONFIG_SCOPE_ANY_RDMA},
	{SERVICE_KEY(max_message_bytes, NUMBER), PRESET(67174400), .min = 16 * KIB,
	 .max = CONFIG_MESSAGE_MAX_BYTES, .unit = "bytes"},
	{SERVICE_KEY(max_connections, AUTO), .preset = "auto", .min = 1,
	 .max = CONFIG_CONNECTIONS_MAX},
	{SERVICE_KEY(max_connections_per_client, NUMBER), PRESET(0), .max = 1000000},
	{SERVICE_KEY(half_closed_timeout_s, NUMBER), PRESET(30), .min = 1, .max = DAY_S,
	 .unit = "s", .scope = CONFIG_SCOPE_LISTEN_TCP},
	{SERVICE_KEY(require_privileged_port, BOOL), .preset = "true if connect is not tcp",
	 .rule = CONFIG_PRESET_PRIVILEGED, .scope = CONFIG_SCOPE_LISTEN_TCP},
	{.name = "register",
	 .type = CONFIG_KEY_REGISTER,
	 .offset = IN_SERVICE(registered),
	 .preset = "that of the file",
	 .rule = CONFIG_PRESET_OF_FILE,
	 .choices = register_choices},
	{SERVICE_KEY(source, CHOICE), .preset = "proxy", .value = SOURCE_PROXY,
	 CHOICES([SOURCE_PROXY] = "proxy", [SOURCE_CLIENT] = "client"),
	 .scope = CONFIG_SCOPE_CONNECT_SOCKET},
	{.name = "source_address",
	 .type = CONFIG_KEY_SOURCES,
	 .offset = IN_SERVICE(sources),
	 .scope = CONFIG_SCOPE_CONNECT_SOCKET},
	{SERVICE_KEY(source_port, CHOICE), .preset = "auto", .value = SOURCE_PORT_AUTO,
	 CHOICES([SOURCE_PORT_AUTO] = "auto", [SOURCE_PORT_RESERVED] = "reserved",
		 [SOURCE_PORT_ANY] = "any"),
	 .scope = CONFIG_SCOPE_CONNECT_TCP},
	{TLS_KEY(tls, accept, CHOICE), .preset = "off", .value = CONFIG_TLS_OFF,
	 CHOICES([CONFIG_TLS_OFF] = "off", [CONFIG_TLS_ALLOWED] = "allowed",
		 [CONFIG_TLS_REQUIRED] = "required"),
	 .scope = CONFIG_SCOPE_LISTEN_TCP},
	{TLS_KEY(tls_connect, connect, CHOICE), .preset = "off", .value = CONFIG_TLS_CONNECT_OFF,
	 CHOICES([CONFIG_TLS_CONNECT_OFF] = "off", [CONFIG_TLS_CONNECT_REQUIRED] = "required"),
	 .scope = CONFIG_SCOPE_SERVER_TCP},
	{TLS_KEY(tls_cert_file, cert_file, FILE), .scope = CONFIG_SCOPE_ANY_TCP},
	{TLS_KEY(tls_key_file, key_file, FILE), .scope = CONFIG_SCOPE_ANY_TCP},
	{TLS_KEY(tls_ca_file, ca_file, FILE), .scope = CONFIG_SCOPE_ANY_TCP},
	{TLS_KEY(tls_verify_client, verify_client, CHOICE), .preset = "none",
	 .value = TLS_VERIFY_NONE,
	 CHOICES([TLS_VERIFY_NONE] = "none", [TLS_VERIFY_OPTIONAL] = "optional",
		 [TLS_VERIFY_REQUIRED] = "required"),
	 .scope = CONFIG_SCOPE_LISTEN_TCP},
	{TLS_KEY(tls_client_names, client_names, PEERS), .preset = "[ ]",
	 .scope = CONFIG_SCOPE_LISTEN_TCP},
	{TLS_KEY(tls_server_name, server_name, PEER), .scope = CONFIG_SCOPE_SERVER_TCP},
	{SERVICE_KEY(stall_timeout_s, NUMBER), PRESET(60), .min = 1, .max = DAY_S, .unit = "s"},
	{SERVICE_KEY(keepalive_s, NUMBER), PRESET(30), .min = 1, .max = HOUR_S, .unit = "s"},
	{SERVICE_KEY(slow_log_ms, NUMBER), PRESET(0), .max = 3600000, .unit = "ms"},
	{SERVICE_KEY(ddp, CHOICE), .preset = "none", .value = DDP_NONE,
	 CHOICES([DDP_NONE] = "none", [DDP_NFS] = "nfs"), .scope = CONFIG_SCOPE_CONNECT_RDMA},
	{SERVICE_KEY(peer, CHOICE), .preset = "auto", .value = PEER_AUTO, .choices = peer_choices,
	 .scope = CONFIG_SCOPE_CONNECT_RDMA},
	{SERVICE_KEY(mpa_crc, BOOL), PRESET(true), .scope = CONFIG_SCOPE_ANY_IWARP},
	{SERVICE_KEY(fpdu_max, CHOICE), .preset = "auto", .value = IWARP_FPDU_AUTO,
	 CHOICES([IWARP_FPDU_AUTO] = "auto", [IWARP_FPDU_MSS] = "mss", [IWARP_FPDU_64K] = "64k"),
	 .scope = CONFIG_SCOPE_ANY_IWARP},
	{SERVICE_KEY(busy_poll_us, NUMBER), PRESET(0), .max = 1000, .unit = "us",
	 .scope = CONFIG_SCOPE_ANY_VERBS},
	{SERVICE_KEY(rnr_retry, NUMBER), PRESET(0), .max = 6, .scope = CONFIG_SCOPE_ANY_VERBS},
	{SERVICE_KEY(rdma_ack_timeout, NUMBER), PRESET(0), .max = VERBS_ACK_TIMEOUT_MAX,
	 .scope = CONFIG_SCOPE_ANY_VERBS},
	{SERVICE_KEY(rdma_tos, NUMBER), PRESET(0), .max = 255, .scope = CONFIG_SCOPE_ANY_VERBS},
	{SERVICE_KEY(memory_windows, CHOICE), .preset = "auto",
	 CHOICES([MEMORY_WINDOWS_AUTO] = "auto", [MEMORY_WINDOWS_OFF] = "off"),
	 .scope = CONFIG_SCOPE_ANY_VERBS},
	{SERVICE_KEY(rdma_domain, CHOICE), .preset = "auto",
	 CHOICES([VERBS_PD_AUTO] = "auto", [VERBS_PD_CONNECTION] = "connection",
		 [VERBS_PD_PEER] = "peer", [VERBS_PD_WORKER] = "worker"),
	 .scope = CONFIG_SCOPE_ANY_VERBS},
	{SERVICE_KEY(listen_version, NUMBER), PRESET(2), .min = 1, .max = 2,
	 .scope = CONFIG_SCOPE_LISTEN_RDMA},
	{SERVICE_KEY(connect_version, NUMBER), PRESET(1), .min = 1, .max = 2,
	 .scope = CONFIG_SCOPE_CONNECT_RDMA},
	{SERVICE_KEY(receive_max_bytes, NUMBER), PRESET(65536), .min = 4 * KIB,
	 .max = RPCRDMA_INLINE_MAX, .multiple = 1024, .unit = "bytes",
	 .scope = CONFIG_SCOPE_ANY_RDMA},
	{SERVICE_KEY(characteristics, BOOL), PRESET(true), .scope = CONFIG_SCOPE_ANY_RDMA},
	{SERVICE_KEY(reverse_chunks, BOOL), PRESET(false), .scope = CONFIG_SCOPE_ANY_RDMA},
	{SERVICE_KEY(strict_chunks, BOOL), PRESET(true), .scope = CONFIG_SCOPE_ANY_RDMA},
	{SERVICE_KEY(listen_compat, CHOICE), .preset = "rfc8166", .value = DIALECT_RFC8166,
	 .choices = compat_choices, .scope = CONFIG_SCOPE_LISTEN_RDMA},
	{SERVICE_KEY(connect_compat, CHOICE), .preset = "rfc8166", .value = DIALECT_RFC8166,
	 .choices = compat_choices, .scope = CONFIG_SCOPE_CONNECT_RDMA},
	{SERVICE_KEY(config_protocol, BOOL), PRESET(false), .scope = CONFIG_SCOPE_ANY_RDMA},
	{SERVICE_KEY(config_program, NUMBER), PRESET(100417), .min = 1, .max = INT32_MAX,
	 .scope = CONFIG_SCOPE_ANY_RDMA},
	{SERVICE_KEY(done_timeout_s, NUMBER), PRESET(30), .min = 1, .max = HOUR_S, .unit = "s",
	 .scope = CONFIG_SCOPE_LISTEN_RDMA},
	{SERVICE_KEY(done_policy, CHOICE), .preset = "close", .value = DONE_POLICY_CLOSE,
	 CHOICES([DONE_POLICY_CLOSE] = "close", [DONE_POLICY_WITHDRAW] = "withdraw"),
	 .scope = CONFIG_SCOPE_LISTEN_RDMA},
	{SERVICE_KEY(padding_align_bytes, NUMBER), PRESET(0), .max = 4 * KIB, .unit = "bytes",
	 .scope = CONFIG_SCOPE_ANY_RDMA},
	{SERVICE_KEY(padding_threshold_bytes, NUMBER), PRESET(1024), .min = 1024,
	 .max = RPCRDMA_INLINE_MAX, .unit = "bytes", .scope = CONFIG_SCOPE_ANY_RDMA},
	{SERVICE_KEY(reverse_timeout_s, NUMBER), PRESET(30), .min = 1, .max = HOUR_S, .unit = "s",
	 .scope = CONFIG_SCOPE_ANY_RDMA},
	{0},
};

const struct config_key *config_key_find(const struct config_key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (!strcmp(keys->name, name))
			return keys;
	return NULL;
}

/* Names of these keys in other proxies and in servers, in lower case and with '_'. */
static const struct {
	const char *name, *key;
} foreign_names[] = {
	{"acl", "allow"},
	{"address", "listen"},
	{"allow_from", "allow"},
	{"allowed_clients", "allow"},
	{"backend", "connect"},
	{"backends", "connect"},
	{"balancing", "balance"},
	{"bind", "listen"},
	{"bind_address", "listen"},
	{"ca", "tls_ca_file"},
	{"ca_file", "tls_ca_file"},
	{"cafile", "tls_ca_file"},
	{"cert", "tls_cert_file"},
	{"certificate", "tls_cert_file"},
	{"check_host", "tls_server_name"},
	{"check_interval", "probe_interval_s"},
	{"checkhost", "tls_server_name"},
	{"client_max_body_size", "max_message_bytes"},
	{"client_tls_ca_file", "tls_ca_file"},
	{"client_tls_cert_file", "tls_cert_file"},
	{"client_tls_key_file", "tls_key_file"},
	{"client_tls_sslmode", "tls"},
	{"connect_timeout", "connect_timeout_s"},
	{"connections", "max_connections"},
	{"crt", "tls_cert_file"},
	{"daemon_threads", "workers"},
	{"debug", "log_level"},
	{"destination", "connect"},
	{"fd_limit", "max_connections"},
	{"forward", "connect"},
	{"frontend", "listen"},
	{"graceful_timeout", "drain_timeout_s"},
	{"hard_stop_after", "drain_timeout_s"},
	{"health_check", "probe_interval_s"},
	{"hosts_allow", "allow"},
	{"include", "include_dir"},
	{"inter", "probe_interval_s"},
	{"key", "tls_key_file"},
	{"limit_conn", "max_connections_per_client"},
	{"listen_on", "listen"},
	{"log", "log_level"},
	{"loglevel", "log_level"},
	{"max_client_conn", "max_connections"},
	{"max_clients", "max_connections"},
	{"max_conn", "max_connections"},
	{"max_conns", "max_connections"},
	{"maxconn", "max_connections"},
	{"mlock", "lock_memory"},
	{"mlockall", "lock_memory"},
	{"mountd", "mount"},
	{"nbproc", "workers"},
	{"nbthread", "workers"},
	{"private_key", "tls_key_file"},
	{"proxy_pass", "connect"},
	{"proxy_protocol", "send_proxy"},
	{"proxy_ssl", "tls_connect"},
	{"proxy_ssl_certificate", "tls_cert_file"},
	{"proxy_ssl_certificate_key", "tls_key_file"},
	{"proxy_ssl_name", "tls_server_name"},
	{"proxy_ssl_trusted_certificate", "tls_ca_file"},
	{"real_ip_from", "accept_proxy_from"},
	{"remote", "connect"},
	{"send_proxy_v2", "send_proxy"},
	{"server", "connect"},
	{"server_tls_ca_file", "tls_ca_file"},
	{"server_tls_cert_file", "tls_cert_file"},
	{"server_tls_key_file", "tls_key_file"},
	{"server_tls_sslmode", "tls_connect"},
	{"servers", "connect"},
	{"set_real_ip_from", "accept_proxy_from"},
	{"slow_log", "slow_log_ms"},
	{"sni", "tls_server_name"},
	{"socket", "control"},
	{"source_ip", "source_address"},
	{"ssl", "tls"},
	{"ssl_certificate", "tls_cert_file"},
	{"ssl_certificate_key", "tls_key_file"},
	{"ssl_client_certificate", "tls_ca_file"},
	{"ssl_trusted_certificate", "tls_ca_file"},
	{"ssl_verify_client", "tls_verify_client"},
	{"starttls", "tls"},
	{"stats", "http_listen"},
	{"stats_socket", "control"},
	{"target", "connect"},
	{"targets", "connect"},
	{"tcp_keepalive", "keepalive_s"},
	{"threads", "workers"},
	{"tls_certificate", "tls_cert_file"},
	{"tos", "rdma_tos"},
	{"transparent", "source"},
	{"truststore", "tls_ca_file"},
	{"upstream", "connect"},
	{"upstreams", "connect"},
	{"usesrc", "source"},
	{"verify", "tls_verify_client"},
	{"verifyhost", "tls_server_name"},
	{"whitelist", "allow"},
	{"worker_connections", "max_connections"},
	{"worker_processes", "workers"},
	{"worker_threads", "workers"},
	{"xprtsec", "tls"},
};

/* Compares without regard to case, and to '-' or '_'. */
static bool is_same_name(const char *name, const char *other)
{
	for (; *name && *other; name++, other++) {
		char c = *name == '-' ? '_' : (char)tolower((unsigned char)*name);

		if (c != *other)
			return false;
	}
	return *name == *other;
}

const char *config_key_foreign(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign_names); i++)
		if (is_same_name(name, foreign_names[i].name))
			return foreign_names[i].key;
	return NULL;
}

const struct config_key *config_key_nearest(const struct config_key *keys, const char *name)
{
	const struct config_key *nearest = NULL, *part = NULL;
	const char *foreign = config_key_foreign(name);
	unsigned best = UINT_MAX;

	if (foreign && config_key_find(keys, foreign))
		return config_key_find(keys, foreign);
	for (; keys->name; keys++) {
		unsigned edits = edit_distance(name, keys->name);

		if (edits < best) {
			best = edits;
			nearest = keys;
		}
		/* Matches "memory_limit" without its unit, "crc" without its prefix. */
		if (!part && strlen(name) >= 3 && strstr(keys->name, name))
			part = keys;
	}
	return nearest ? nearest : part;
}

const char *config_scope_text(enum config_key_scope scope)
{
	static const char *const texts[] = {
		[CONFIG_SCOPE_ALWAYS] = "is for every service",
		[CONFIG_SCOPE_ANY_TCP] = "is for services with a tcp:// side",
		[CONFIG_SCOPE_ANY_RDMA] = "is for services with an RDMA side",
		[CONFIG_SCOPE_ANY_IWARP] = "is for services with an rdma:// or iwarp:// side",
		[CONFIG_SCOPE_ANY_VERBS] = "is for services with an rdma:// or verbs:// side",
		[CONFIG_SCOPE_LISTEN_TCP] = "is for services that listen on tcp://",
		[CONFIG_SCOPE_LISTEN_RDMA] = "is for services that listen for RDMA clients",
		[CONFIG_SCOPE_CONNECT_TCP] =
			"is for services that connect to tcp://, or whose mount does",
		[CONFIG_SCOPE_SERVER_TCP] = "is for services that connect to tcp://",
		[CONFIG_SCOPE_LISTEN_IWARP] = "is for services that listen on rdma:// or iwarp://",
		[CONFIG_SCOPE_LISTEN_SOCKET] = "is for services that listen on tcp:// or iwarp://",
		[CONFIG_SCOPE_CONNECT_SOCKET] =
			"is for services that connect to tcp:// or iwarp://",
		[CONFIG_SCOPE_CONNECT_RDMA] = "is for services that connect to an RDMA server",
	};

	return texts[scope];
}
