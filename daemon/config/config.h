/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration as typed values: read once from the file, constant afterwards. */
#ifndef DAEMON_CONFIG_CONFIG_H
#define DAEMON_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/base/host_limits.h"
#include "daemon/base/log_format.h"
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_value.h"
#include "fabric/iwarp/iwarp_config.h"
#include "fabric/verbs/verbs_config.h"
#include "rpcrdma/rdma_config.h"
#include "stream/stream.h"
#include "tls/tls_context.h"

#define CONFIG_MESSAGE_MAX_BYTES (256u << 20) /* upper limit of max_message_bytes */

enum ddp { DDP_NONE, DDP_NFS };
enum balance { BALANCE_STANDBY, BALANCE_SOURCE };

enum memory_windows { MEMORY_WINDOWS_AUTO, MEMORY_WINDOWS_OFF };

enum source { SOURCE_PROXY, SOURCE_CLIENT };

/* What max_connections is from. */
enum config_limit {
	CONFIG_LIMIT_FILE,
	CONFIG_LIMIT_PORTS,
	CONFIG_LIMIT_DESCRIPTORS,
	CONFIG_LIMIT_MEMORY,
};

/* The programs that rpcbind gets for a service. */
enum config_register { REGISTER_NONE, REGISTER_NFS, REGISTER_MOUNT /* MOUNT and NFS */ };

#define CONFIG_MAX_SERVERS   16u /* per service */
#define CONFIG_MAX_LISTENERS 8u  /* per service */
#define CONFIG_MAX_SOURCES   64u /* per service: addresses of this host */

/* TLS with clients (tcp listeners), and with servers. */
enum config_tls_accept { CONFIG_TLS_OFF, CONFIG_TLS_ALLOWED, CONFIG_TLS_REQUIRED };
enum config_tls_connect { CONFIG_TLS_CONNECT_OFF, CONFIG_TLS_CONNECT_REQUIRED };

/* TLS of the TCP connections of a service, with its clients and its servers. */
struct config_tls {
	enum config_tls_accept accept;        /* `tls` */
	enum config_tls_connect connect;      /* `tls_connect` */
	char *cert_file, *key_file, *ca_file; /* NULL: the key is not set */
	enum tls_verify verify_client;
	struct config_hosts client_names; /* also IP addresses, wildcards, fingerprints */
	char *server_name;                /* NULL: the host of the server's URI */
	/* a key of this service without effect, and why; NULL: none */
	const char *idle_key, *idle_why;
	/*
	 * From config_tls_load() to config_tls_forget(); NULL: no TLS. A running service has its
	 * own: daemon/service/service_tls.h.
	 */
	struct tls_context *context;
};

struct service_config {
	char *name;
	const char *file; /* location in the configuration: its file, owned by the config */
	int line;
	struct config_uri listen; /* first listener */
	size_t nmore_listen;
	struct config_uri *more_listen; /* further listeners, of any transport */
	struct config_uri connect;      /* first server */
	size_t nmore_servers;
	struct config_uri *more_servers; /* further servers, of the same transport */
	struct config_mount mount;
	enum balance balance;
	uint32_t probe_interval_s;  /* of health checks of servers without clients; 0: none */
	uint32_t connect_timeout_s; /* with several servers: time limit of an attempt to connect */
	bool has_allow;
	size_t nallow;
	struct config_cidr *allow;
	struct config_cidrs accept_proxy_from; /* peers that send a PROXY header */
	struct config_cidrs trusted_proxies;   /* iwarp: peers with privileged clients */
	bool send_proxy; /* send the client's address to the server in a PROXY header */
	uint32_t credits;
	uint32_t inline_threshold_bytes;
	uint32_t max_message_bytes;
	uint32_t message_bytes;   /* max_message_bytes, or less if memory_limit_mib requires */
	uint32_t max_connections; /* a number also for "auto": see config_limits.h */
	bool auto_connections;    /* the key is "auto" … */
	enum config_limit limit;  /* … and this is what the number is from */
	uint32_t max_connections_per_client; /* 0: no limit except max_connections */
	uint32_t half_closed_timeout_s;      /* of tcp clients that ended their sending side */
	bool require_privileged_port;
	enum config_register registered;      /* register the listeners with rpcbind */
	enum config_register file_registered; /* the key outside the services */
	bool has_register;                    /* the service sets the key */
	enum source source;                   /* source address of connections to the server */
	size_t nsources;                      /* addresses of this host to use; 0: by route */
	struct sockaddr_storage *sources;     /* without ports; IPv4 never v4-mapped */
	enum source_port source_port;
	uint32_t stall_timeout_s;
	uint32_t slow_log_ms; /* log Calls that take longer; 0: none */
	uint32_t keepalive_s;
	enum ddp ddp;             /* rdma server: data that can move by chunks */
	enum peer_id peer;        /* rdma server: its quirks */
	bool mpa_crc;             /* iwarp: request CRC32C */
	enum iwarp_fpdu fpdu_max; /* iwarp: longest FPDU to send */
	uint32_t busy_poll_us;    /* verbs: polling time before waiting for an event */
	uint32_t rnr_retry; /* verbs: retries of a Send without a posted receive, by either end */
	enum memory_windows memory_windows;
	enum verbs_pd_scope rdma_domain; /* used if memory windows do not separate peers */
	uint32_t rdma_ack_timeout;  /* RoCE, InfiniBand: 4.096 us << value; 0: see verbs_config.h */
	uint32_t rdma_tos;          /* verbs: DSCP and ECN of packets; 0: host default */
	uint32_t listen_version;    /* rdma clients: highest RPC-over-RDMA version */
	uint32_t connect_version;   /* rdma server: highest version to try */
	uint32_t receive_max_bytes; /* version two: limit of the receive size */
	bool characteristics;       /* version two: exchange characteristics */
	bool reverse_chunks;        /* version two: reverse Calls can have chunks */
	bool strict_chunks;         /* reject Calls with Read chunks that are not DDP-eligible */
	enum dialect_id listen_compat, connect_compat; /* dialect of version one */
	bool config_protocol;    /* rdma: negotiate sizes by the configuration program */
	uint32_t config_program; /* number of that program */
	uint32_t done_timeout_s; /* draft-03, rdma clients: time to read a Reply by Read chunk */
	enum done_policy done_policy;
	uint32_t padding_align_bytes;     /* draft-03: alignment of long opaques; 0: none */
	uint32_t padding_threshold_bytes; /* minimum length of aligned opaques */
	uint32_t reverse_timeout_s;       /* time for a client to answer a reverse Call (RDMA) */
	struct config_tls tls;
};

struct config_key;

/* A key in the file's defaults. */
struct config_default {
	const struct config_key *key;
	char *place; /* location, "FILE:LINE" */
};

struct config {
	unsigned refs; /* in addition to the first one */
	char *file;
	char *include_dir; /* directory of further files with services; NULL: none */
	size_t nfiles;     /* files in include_dir */
	char **files;      /* their paths */
	char *include_stray; /* without such files: the name of one that is left out; NULL: none … */
	char *include_place;     /* … and the location of include_dir, "FILE:LINE" */
	struct host_limits host; /* at the start of the daemon, or of -t */
	char *control;           /* path of the control socket */
	uint32_t workers;        /* resolved: never 0 */
	uint32_t memory_limit_mib;
	uint32_t drain_timeout_s;
	bool io_flusher;        /* allocate without waiting for writeback, if permitted */
	bool io_flusher_denied; /* not permitted; set by the daemon, not by the file */
	bool lock_memory;       /* lock all memory of the daemon */
	enum log_level log_level;
	enum config_register registered;     /* default of services without the key */
	struct sockaddr_storage http_listen; /* AF_UNSPEC: none */
	struct config_cidrs http_allow;
	struct config_hosts http_hosts; /* further host names served over HTTP */
	size_t ndefaults;
	struct config_default *defaults;
	size_t nservices;
	struct service_config *services;
};

/**
 * config_load - Reads and checks a file.
 * @path:   the file
 * @errors: gets all errors, one per line as "FILE:LINE: text", except consequences of other errors.
 *          After a syntax error a second line quotes the line of the file
 * @config: set on success; free it with config_free()
 *
 * Returns 0, -EINVAL if the file has errors, -ENODEV if its only errors are missing devices or
 * addresses, -EFBIG if it is larger than 1 MiB, -ENOMEM, or the negative errno of opening or
 * reading it.
 */
int config_load(const char *path, FILE *errors, struct config **config) MUST_CHECK;

/** config_warn - Writes warnings to @out about settings that are legal but unwise. */
void config_warn(const struct config *config, FILE *out);
/**
 * config_ports_print - Writes which source ports a TCP server sees, one line per service and kind
 * of client. For -tv.
 *
 * The kinds are TCP, iwarp and verbs clients. They differ in which clients count as privileged,
 * which get a source port below 1024 (daemon/service/accepted_conn.h).
 */
void config_ports_print(const struct config *config, FILE *out);

/** config_ref - Takes a reference, on the same thread. Returns @config. */
static inline struct config *config_ref(struct config *config)
{
	config->refs++;
	return config;
}

/** config_free - Releases a reference; the last one frees the configuration. Accepts NULL. */
void config_free(struct config *config);
/** config_tls_fini - Frees what the keys and the context use. Accepts all zero. */
void config_tls_fini(struct config_tls *tls);
/** config_nservers - Returns the number of servers of a service. */
static inline unsigned config_nservers(const struct service_config *service)
{
	return 1 + (unsigned)service->nmore_servers;
}
/** config_server - Returns server @i, in the order of the file. */
static inline const struct config_uri *config_server(const struct service_config *service,
						     unsigned i)
{
	return i ? &service->more_servers[i - 1] : &service->connect;
}
/** config_nlisteners - Returns the number of listeners of a service. */
static inline unsigned config_nlisteners(const struct service_config *service)
{
	return 1 + (unsigned)service->nmore_listen;
}
/** config_listener - Returns listener @i, in the order of the file. */
static inline const struct config_uri *config_listener(const struct service_config *service,
						       unsigned i)
{
	return i ? &service->more_listen[i - 1] : &service->listen;
}
#define CONFIG_LISTEN_TEXT_BYTES (CONFIG_MAX_LISTENERS * (CONFIG_URI_TEXT_BYTES + 2))

/** config_listen_text - Writes all listeners to @text, separated by commas. Returns @text. */
const char *config_listen_text(const struct service_config *service,
			       char text[static CONFIG_LISTEN_TEXT_BYTES]);
/** config_listens_on - Returns whether the service has a listener of that transport. */
bool config_listens_on(const struct service_config *service, enum transport transport);
/** config_has_mount_server - Returns whether MOUNT Calls go to a separate server. */
static inline bool config_has_mount_server(const struct service_config *service)
{
	return service->mount.way == MOUNT_RPCBIND || service->mount.way == MOUNT_AT;
}
/** config_listens_tcp - Returns whether the service has a TCP listener. */
static inline bool config_listens_tcp(const struct service_config *service)
{
	return config_listens_on(service, TRANSPORT_TCP);
}
/** config_listens_rdma - Returns whether the service has an RDMA listener, of any fabric. */
bool config_listens_rdma(const struct service_config *service);
/** config_listens_nonlocal - Returns whether any listener is not on loopback. */
bool config_listens_nonlocal(const struct service_config *service);
/**
 * config_keeps_client_ports - Returns whether connections to the server use the address and port of
 * their TCP clients.
 */
static inline bool config_keeps_client_ports(const struct service_config *service)
{
	return service->source == SOURCE_CLIENT && config_listens_tcp(service);
}
#define CONFIG_AUTO_SHARE 1024u /* at most, with "auto" */

/** config_share - Returns for how many connections of the service descriptors are reserved. */
static inline uint32_t config_share(const struct service_config *service)
{
	return service->auto_connections && service->max_connections > CONFIG_AUTO_SHARE
		       ? CONFIG_AUTO_SHARE
		       : service->max_connections;
}
/** config_allows - Returns whether the service accepts connections from @addr. */
bool config_allows(const struct service_config *service, const struct sockaddr *addr);

#endif
