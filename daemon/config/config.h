/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration: typed values, read once from the file and changed by nothing afterwards. */
#ifndef DAEMON_CONFIG_CONFIG_H
#define DAEMON_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/base/log_line.h"
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_value.h"
#include "fabric/iwarp/iwarp_config.h"
#include "fabric/verbs/verbs_config.h"
#include "rpcrdma/rdma_config.h"
#include "stream/stream.h"

#define CONFIG_MESSAGE_MAX_BYTES (256u << 20) /* that max_message_bytes may be */

enum ddp { DDP_NONE, DDP_NFS };
enum balance { BALANCE_STANDBY, BALANCE_SOURCE };

enum memory_windows { MEMORY_WINDOWS_AUTO, MEMORY_WINDOWS_OFF };

enum source { SOURCE_PROXY, SOURCE_CLIENT };

#define CONFIG_MAX_SERVERS   16u /* of one service */
#define CONFIG_MAX_LISTENERS 8u  /* of one service */
#define CONFIG_MAX_SOURCES   64u /* likewise: addresses of this host */

struct service_config {
	char *name;
	const char *file;         /* where it stands: one of the configuration's … */
	int line;                 /* … and the line */
	struct config_uri listen; /* the first of the places where clients come */
	size_t nmore_listen;
	struct config_uri *more_listen; /* the others, by any transport */
	struct config_uri connect;      /* the first of its servers */
	size_t nmore;
	struct config_uri *more; /* the others, by the same transport */
	struct config_mount mount;
	enum balance balance;
	uint32_t
		probe_interval_s; /* between two questions to a server that no client uses; 0: none */
	uint32_t connect_timeout_s; /* several servers: for an attempt to reach one */
	bool has_allow;
	size_t nallow;
	struct config_cidr *allow;
	struct config_cidrs accept_proxy_from; /* whose connections begin with a PROXY header */
	struct config_cidrs
		trusted_proxies; /* iwarp: whose clients are privileged, whatever port it has */
	bool send_proxy;         /* a PROXY header tells the server who the client is */
	uint32_t credits;
	uint32_t inline_threshold_bytes;
	uint32_t max_message_bytes;
	uint32_t message_bytes; /* of that, what memory_limit_mib allows */
	uint32_t max_connections;
	uint32_t max_connections_per_client; /* 0: no limit but the one above */
	uint32_t half_closed_timeout_s;      /* tcp clients that have ended their sending side */
	bool require_privileged_port;
	bool registered,
		has_register; /* rpcbind is told of the listeners; the service says so itself */
	enum source source;   /* whose address the server sees … */
	size_t nsources;      /* … and of this host's which; 0: as the routes choose */
	struct sockaddr_storage *sources; /* without ports; IPv4 never as v4-mapped */
	enum source_port source_port;
	uint32_t stall_timeout_s;
	uint32_t slow_log_ms; /* Calls that take so long are told in the log; 0: none */
	uint32_t keepalive_s;
	enum ddp ddp;             /* rdma server: what may move outside of the message */
	enum peer_id peer;        /* rdma server: its quirks */
	bool mpa_crc;             /* iwarp: ask for CRC32C */
	enum iwarp_fpdu fpdu_max; /* iwarp: longest FPDU to send */
	uint32_t busy_poll_us;    /* verbs: before waiting for an event */
	uint32_t rnr_retry;       /* verbs: tries of a Send, of either end, that found no receive */
	enum memory_windows memory_windows;
	enum verbs_domain_of rdma_domain; /* where memory windows make none safe */
	uint32_t rdma_ack_timeout; /* RoCE, InfiniBand: 4.096 us << that; 0: see verbs_config.h */
	uint32_t rdma_tos;         /* verbs: DSCP and ECN of packets; 0: the host's default */
	uint32_t listen_version;   /* rdma clients: the highest version of RPC-over-RDMA to serve */
	uint32_t connect_version;  /* rdma server: the highest one to try */
	uint32_t receive_max_bytes; /* version two: what the receive size may be raised to */
	bool characteristics;       /* version two: they are told and understood */
	bool reverse_chunks;        /* version two: reverse Calls may have chunks */
	bool strict_chunks; /* Calls with read chunks where no data may be moved are refused */
	enum dialect_id listen_compat, connect_compat; /* what version one is taken for */
	bool config_protocol;    /* rdma: sizes are told and asked by the configuration program */
	uint32_t config_program; /* … which has this number */
	uint32_t done_timeout_s; /* draft-03, rdma clients: to read a Reply that is lent */
	enum done_policy done_policy;
	uint32_t
		padding_align_bytes; /* draft-03: what long opaques are aligned to; 0: they are not */
	uint32_t padding_threshold_bytes; /* … from this length on */
	uint32_t
		reverse_timeout_s; /* where a side is rdma: for a client to answer a reverse Call */
};

struct config_key;

/* A key that the file's defaults have. */
struct config_default {
	const struct config_key *key;
	char *place; /* where it stands, as "FILE:LINE" */
};

struct config {
	unsigned refs; /* besides the first one */
	char *file;
	char *include_dir; /* of further files with services; NULL: none */
	size_t nfiles;     /* of that folder … */
	char **files;      /* … their paths */
	char *control;     /* path of the control socket */
	uint32_t workers;  /* resolved: never 0 */
	uint32_t memory_limit_mib;
	uint32_t drain_timeout_s;
	bool io_flusher;  /* allocate without waiting for writeback, if the daemon may */
	bool lock_memory; /* keep all of it in memory */
	enum log_level log_level;
	bool registered;                     /* services that do not say are */
	struct sockaddr_storage http_listen; /* of no family: nowhere */
	struct config_cidrs http_allow;
	struct config_hosts
		http_hosts; /* names that HTTP may be asked for, beside those of this host */
	size_t ndefaults;
	struct config_default *defaults;
	size_t nservices;
	struct service_config *services;
};

/**
 * config_load - read and check a file
 * @path:   the file
 * @errors: gets each error as "FILE:LINE: what", one a line; all of them, not the first only, but none that
 *           follows from another. A syntax error has a second such line, with what stands in that line.
 * @config: set on success; to be freed with config_free()
 *
 * Returns 0, -EINVAL if the file has errors, -ENODEV if they are but devices that are not here, -EFBIG if it is over
 * 1 MiB, or the errno of opening or reading it.
 */
int config_load(const char *path, FILE *errors, struct config **config) MUST_CHECK;

/** config_warn - say on @out what is legal but unwise, as start-up warnings. */
void config_warn(const struct config *config, FILE *out);
/**
 * config_ports_print - a line for each way by which clients come to a service with a TCP server. For -t.
 *
 * Which clients are taken for privileged on their hosts, so that connections for them come to the server from ports below
 * 1024 (daemon/service/incoming.h).
 */
void config_ports_print(const struct config *config, FILE *out);

/** config_ref - one more reference to it, on the same thread; returns @config. */
static inline struct config *config_ref(struct config *config)
{
	config->refs++;
	return config;
}

/** config_free - let go of a reference; the last one frees it; accepts NULL. */
void config_free(struct config *config);
/** config_nservers - how many servers a service has. */
static inline unsigned config_nservers(const struct service_config *service)
{
	return 1 + (unsigned)service->nmore;
}
/** config_server - one of them, in the order of the file. */
static inline const struct config_uri *config_server(const struct service_config *service,
						     unsigned i)
{
	return i ? &service->more[i - 1] : &service->connect;
}
/** config_nlisteners - in how many places a service listens. */
static inline unsigned config_nlisteners(const struct service_config *service)
{
	return 1 + (unsigned)service->nmore_listen;
}
/** config_listener - one of them, in the order of the file. */
static inline const struct config_uri *config_listener(const struct service_config *service,
						       unsigned i)
{
	return i ? &service->more_listen[i - 1] : &service->listen;
}
#define CONFIG_LISTEN_TEXT_BYTES (CONFIG_MAX_LISTENERS * (CONFIG_URI_TEXT_BYTES + 2))

/** config_listen_text - all of them, with commas between. Returns @text. */
const char *config_listen_text(const struct service_config *service,
			       char text[static CONFIG_LISTEN_TEXT_BYTES]);
/** config_listens_on - whether the service listens by that transport. */
bool config_listens_on(const struct service_config *service, enum transport transport);
/** config_asks_mount - whether Calls of MOUNT have a server of their own. */
static inline bool config_asks_mount(const struct service_config *service)
{
	return service->mount.way == MOUNT_RPCBIND || service->mount.way == MOUNT_AT;
}
/** config_listens_tcp - whether TCP clients come to it. */
static inline bool config_listens_tcp(const struct service_config *service)
{
	return config_listens_on(service, TRANSPORT_TCP);
}
/** config_listens_rdma - whether RDMA clients come to it, on whatever fabric. */
bool config_listens_rdma(const struct service_config *service);
/** config_listens_beyond - whether other hosts reach one of the places where it listens. */
bool config_listens_beyond(const struct service_config *service);
/** config_keeps_ports - whether connections to the server come from the address and port of their TCP clients. */
static inline bool config_keeps_ports(const struct service_config *service)
{
	return service->source == SOURCE_CLIENT && config_listens_tcp(service);
}
/** config_allows - whether the service takes connections from this address. */
bool config_allows(const struct service_config *service, const struct sockaddr *addr);

#endif
