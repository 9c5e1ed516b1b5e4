// SPDX-License-Identifier: BSD-3-Clause
/* The keys of the configuration file, with their defaults and limits. */
#include "daemon/config/config_keys.h"

#include <limits.h>
#include <string.h>

#include "daemon/base/likeness.h"
#include "daemon/base/paths.h"
#include "daemon/config/config.h"
#include "rpcrdma/private_data.h"

#define KIB    1024u
#define MIB    (1024u * KIB)
#define DAY_S  86400u
#define HOUR_S 3600u

static const char *const source_port_choices[] = {
	[SOURCE_PORT_AUTO] = "auto",
	[SOURCE_PORT_RESERVED] = "reserved",
	[SOURCE_PORT_ANY] = "any",
	NULL,
};

static const char *const ddp_choices[] = {
	[DDP_NONE] = "none",
	[DDP_NFS] = "nfs",
	NULL,
};

static const char *const compat_choices[] = {
	[DIALECT_RFC8166] = "rfc8166",
	[DIALECT_DRAFT03] = "draft03",
	NULL,
};

static const char *const done_policy_choices[] = {
	[DONE_POLICY_CLOSE] = "close",
	[DONE_POLICY_WITHDRAW] = "withdraw",
	NULL,
};

static const char *const peer_choices[] = {
#define PEER_CHOICE(name, text) [PEER_##name] = (text),
	PEER_PROFILES(PEER_CHOICE)
#undef PEER_CHOICE
		NULL,
};

static const char *const fpdu_max_choices[] = {
	[IWARP_FPDU_AUTO] = "auto",
	[IWARP_FPDU_MSS] = "mss",
	[IWARP_FPDU_64K] = "64k",
	NULL,
};

#define AT(member)         offsetof(struct config, member)
#define IN_SERVICE(member) offsetof(struct service_config, member)

const struct config_key config_keys[] = {
	{.name = "control",
	 .type = CONFIG_KEY_PATH,
	 .offset = AT(control),
	 .preset = CONTROL_DEFAULT_SOCKET,
	 .help = "path of the control socket"},
	{.name = "workers",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = AT(workers),
	 .preset = "0",
	 .value = 0,
	 .min = 0,
	 .max = 256,
	 .help = "worker threads; 0: one per core that the daemon may use"},
	{.name = "memory_limit_mib",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = AT(memory_limit_mib),
	 .preset = "1024",
	 .value = 1024,
	 .min = 1,
	 .max = 1048576,
	 .unit = "MiB",
	 .help = "memory for RPC messages in flight, of all services and workers together"},
	{.name = "services",
	 .type = CONFIG_KEY_SERVICES,
	 .offset = AT(services),
	 .help = "list of services: ( { ... }, { ... } )"},
	{0},
};

const struct config_key config_service_keys[] = {
	{.name = "name",
	 .type = CONFIG_KEY_NAME,
	 .offset = IN_SERVICE(name),
	 .mandatory = true,
	 .help = "name of the service in logs and statistics"},
	{.name = "listen",
	 .type = CONFIG_KEY_LISTEN,
	 .offset = IN_SERVICE(listen),
	 .mandatory = true,
	 .help = "where clients connect"},
	{.name = "connect",
	 .type = CONFIG_KEY_CONNECT,
	 .offset = IN_SERVICE(connect),
	 .mandatory = true,
	 .help = "where the server is"},
	{.name = "allow",
	 .type = CONFIG_KEY_ALLOW,
	 .offset = IN_SERVICE(allow),
	 .help = "addresses and prefixes of the clients that may connect; everyone without it"},
	{.name = "credits",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(credits),
	 .preset = "64",
	 .value = 64,
	 .min = 1,
	 .max = 1024,
	 .scope = CONFIG_SCOPE_ANY_RDMA,
	 .help = "RPCs in flight on one RDMA connection: granted to clients, asked of servers"},
	{.name = "inline_threshold_bytes",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(inline_threshold_bytes),
	 .preset = "8192",
	 .value = 8192,
	 .min = RPCRDMA_INLINE_MIN,
	 .max = RPCRDMA_INLINE_MAX,
	 .multiple = 1024,
	 .unit = "bytes",
	 .scope = CONFIG_SCOPE_ANY_RDMA,
	 .help = "largest RDMA Send offered to the peer, a multiple of 1024"},
	{.name = "max_message_bytes",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(max_message_bytes),
	 .preset = "67174400",
	 .value = 64 * MIB + 64 * KIB,
	 .min = 16 * KIB,
	 .max = 256 * MIB,
	 .unit = "bytes",
	 .help = "largest RPC message, either way; the default is 64 MiB and 64 KiB"},
	{.name = "max_connections",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(max_connections),
	 .preset = "1024",
	 .value = 1024,
	 .min = 1,
	 .max = 1000000,
	 .help = "clients connected at once"},
	{.name = "max_connections_per_client",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(max_connections_per_client),
	 .preset = "0",
	 .value = 0,
	 .min = 0,
	 .max = 1000000,
	 .help = "connections at once from one address; 0: as many as there are"},
	{.name = "require_privileged_port",
	 .type = CONFIG_KEY_BOOL,
	 .offset = IN_SERVICE(require_privileged_port),
	 .preset = "true if connect is not tcp",
	 .scope = CONFIG_SCOPE_LISTEN_TCP,
	 .help = "refuse TCP clients whose source port is 1024 or above"},
	{.name = "source_port",
	 .type = CONFIG_KEY_CHOICE,
	 .offset = IN_SERVICE(source_port),
	 .preset = "auto",
	 .value = SOURCE_PORT_AUTO,
	 .choices = source_port_choices,
	 .scope = CONFIG_SCOPE_CONNECT_TCP,
	 .help = "source port towards a TCP server: below 1024 if the daemon may, always, or any"},
	{.name = "stall_timeout_s",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(stall_timeout_s),
	 .preset = "60",
	 .value = 60,
	 .min = 1,
	 .max = DAY_S,
	 .unit = "s",
	 .help = "how long a peer may make no progress with what it is to send or to take"},
	{.name = "keepalive_s",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(keepalive_s),
	 .preset = "30",
	 .value = 30,
	 .min = 1,
	 .max = HOUR_S,
	 .unit = "s",
	 .help = "after how long a silence a peer is asked whether it is still there"},
	{.name = "ddp",
	 .type = CONFIG_KEY_CHOICE,
	 .offset = IN_SERVICE(ddp),
	 .preset = "none",
	 .value = DDP_NONE,
	 .choices = ddp_choices,
	 .scope = CONFIG_SCOPE_CONNECT_RDMA,
	 .help = "towards an RDMA server: whole messages only, or NFS payloads as chunks of their own"},
	{.name = "peer",
	 .type = CONFIG_KEY_CHOICE,
	 .offset = IN_SERVICE(peer),
	 .preset = "auto",
	 .value = PEER_AUTO,
	 .choices = peer_choices,
	 .scope = CONFIG_SCOPE_CONNECT_RDMA,
	 .help = "what the RDMA server is, whose quirks are allowed for; auto: found out"},
	{.name = "mpa_crc",
	 .type = CONFIG_KEY_BOOL,
	 .offset = IN_SERVICE(mpa_crc),
	 .preset = "true",
	 .value = true,
	 .scope = CONFIG_SCOPE_ANY_IWARP,
	 .help = "iWARP: ask for CRC32C; it is used if either end asks"},
	{.name = "fpdu_max",
	 .type = CONFIG_KEY_CHOICE,
	 .offset = IN_SERVICE(fpdu_max),
	 .preset = "auto",
	 .value = IWARP_FPDU_AUTO,
	 .choices = fpdu_max_choices,
	 .scope = CONFIG_SCOPE_ANY_IWARP,
	 .help = "iWARP: longest FPDU to send: as the TCP segment size allows, or 64 KiB; auto: as the path is"},
	{.name = "busy_poll_us",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(busy_poll_us),
	 .preset = "0",
	 .min = 0,
	 .max = 1000,
	 .unit = "us",
	 .scope = CONFIG_SCOPE_ANY_VERBS,
	 .help = "verbs: poll for so long after a completion before waiting for an event"},
	{.name = "rnr_retry",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(rnr_retry),
	 .preset = "0",
	 .min = 0,
	 .max = 6,
	 .scope = CONFIG_SCOPE_ANY_VERBS,
	 .help = "verbs: how often either end tries a Send again that found no receive"},
	{.name = "listen_version",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(listen_version),
	 .preset = "2",
	 .value = 2,
	 .min = 1,
	 .max = 2,
	 .scope = CONFIG_SCOPE_LISTEN_RDMA,
	 .help = "highest version of RPC-over-RDMA in which clients are served"},
	{.name = "connect_version",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(connect_version),
	 .preset = "1",
	 .value = 1,
	 .min = 1,
	 .max = 2,
	 .scope = CONFIG_SCOPE_CONNECT_RDMA,
	 .help = "highest version of RPC-over-RDMA that is tried with the server"},
	{.name = "receive_max_bytes",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(receive_max_bytes),
	 .preset = "65536",
	 .value = 64 * KIB,
	 .min = 4 * KIB,
	 .max = RPCRDMA_INLINE_MAX,
	 .multiple = 1024,
	 .unit = "bytes",
	 .scope = CONFIG_SCOPE_ANY_RDMA,
	 .help = "version two: what the size of receives may be raised to"},
	{.name = "characteristics",
	 .type = CONFIG_KEY_BOOL,
	 .offset = IN_SERVICE(characteristics),
	 .preset = "true",
	 .value = true,
	 .scope = CONFIG_SCOPE_ANY_RDMA,
	 .help = "version two: tell the peer what this end can, and go by what it tells"},
	{.name = "reverse_chunks",
	 .type = CONFIG_KEY_BOOL,
	 .offset = IN_SERVICE(reverse_chunks),
	 .preset = "false",
	 .value = false,
	 .scope = CONFIG_SCOPE_ANY_RDMA,
	 .help = "version two: reverse Calls and their Replies may have chunks"},
	{.name = "listen_compat",
	 .type = CONFIG_KEY_CHOICE,
	 .offset = IN_SERVICE(listen_compat),
	 .preset = "rfc8166",
	 .value = DIALECT_RFC8166,
	 .choices = compat_choices,
	 .scope = CONFIG_SCOPE_LISTEN_RDMA,
	 .help = "version one towards clients: as it became a standard, or all that its draft had"},
	{.name = "connect_compat",
	 .type = CONFIG_KEY_CHOICE,
	 .offset = IN_SERVICE(connect_compat),
	 .preset = "rfc8166",
	 .value = DIALECT_RFC8166,
	 .choices = compat_choices,
	 .scope = CONFIG_SCOPE_CONNECT_RDMA,
	 .help = "version one towards the server: as it became a standard, or all that its draft had"},
	{.name = "config_protocol",
	 .type = CONFIG_KEY_BOOL,
	 .offset = IN_SERVICE(config_protocol),
	 .preset = "false",
	 .value = false,
	 .scope = CONFIG_SCOPE_ANY_RDMA,
	 .help = "version one: tell clients sizes, and ask servers for theirs, by a program of its own"},
	{.name = "config_program",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(config_program),
	 .preset = "100417",
	 .value = 100417,
	 .min = 1,
	 .max = INT32_MAX,
	 .scope = CONFIG_SCOPE_ANY_RDMA,
	 .help = "number of that program; Calls to it never reach a server behind"},
	{.name = "done_timeout_s",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(done_timeout_s),
	 .preset = "30",
	 .value = 30,
	 .min = 1,
	 .max = HOUR_S,
	 .unit = "s",
	 .scope = CONFIG_SCOPE_LISTEN_RDMA,
	 .help = "draft03: how long a client may take to read a Reply and say that it is done"},
	{.name = "done_policy",
	 .type = CONFIG_KEY_CHOICE,
	 .offset = IN_SERVICE(done_policy),
	 .preset = "close",
	 .value = DONE_POLICY_CLOSE,
	 .choices = done_policy_choices,
	 .scope = CONFIG_SCOPE_LISTEN_RDMA,
	 .help = "draft03: after that time, close the connection, or withdraw the Reply's memory"},
	{.name = "padding_align_bytes",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(padding_align_bytes),
	 .preset = "0",
	 .value = 0,
	 .min = 0,
	 .max = 4 * KIB,
	 .unit = "bytes",
	 .scope = CONFIG_SCOPE_ANY_RDMA,
	 .help = "draft03: send long inline data at a multiple of that in their message; 0: never"},
	{.name = "padding_threshold_bytes",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(padding_threshold_bytes),
	 .preset = "1024",
	 .value = 1024,
	 .min = 1024,
	 .max = RPCRDMA_INLINE_MAX,
	 .unit = "bytes",
	 .scope = CONFIG_SCOPE_ANY_RDMA,
	 .help = "draft03: of data of this length or longer"},
	{.name = "reverse_timeout_s",
	 .type = CONFIG_KEY_NUMBER,
	 .offset = IN_SERVICE(reverse_timeout_s),
	 .preset = "30",
	 .value = 30,
	 .min = 1,
	 .max = HOUR_S,
	 .unit = "s",
	 .scope = CONFIG_SCOPE_LISTEN_RDMA,
	 .help = "how long an RDMA client may take to answer a server's Call"},
	{0},
};

const struct config_key *config_key_find(const struct config_key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (!strcmp(keys->name, name))
			return keys;
	return NULL;
}

const struct config_key *config_key_nearest(const struct config_key *keys, const char *name)
{
	const struct config_key *nearest = NULL, *part = NULL;
	unsigned best = UINT_MAX;

	for (; keys->name; keys++) {
		unsigned edits = likeness_edits(name, keys->name);

		if (edits < best) {
			best = edits;
			nearest = keys;
		}
		/* "memory_limit" without its unit, "crc" without its prefix. */
		if (!part && strlen(name) >= 3 && strstr(keys->name, name))
			part = keys;
	}
	return nearest ? nearest : part;
}

const char *config_scope_text(enum config_key_scope scope)
{
	static const char *const texts[] = {
		[CONFIG_SCOPE_ALWAYS] = "is for every service",
		[CONFIG_SCOPE_ANY_RDMA] = "is for services with an RDMA side",
		[CONFIG_SCOPE_ANY_IWARP] = "is for services with an rdma:// or iwarp:// side",
		[CONFIG_SCOPE_ANY_VERBS] = "is for services with an rdma:// or verbs:// side",
		[CONFIG_SCOPE_LISTEN_TCP] = "is for services that listen on tcp://",
		[CONFIG_SCOPE_LISTEN_RDMA] = "is for services that listen for RDMA clients",
		[CONFIG_SCOPE_CONNECT_TCP] = "is for services that connect to tcp://",
		[CONFIG_SCOPE_CONNECT_RDMA] = "is for services that connect to an RDMA server",
	};

	return texts[scope];
}
