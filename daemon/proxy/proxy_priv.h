/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The private structures of the daemon on the main thread: struct proxy and struct proxy_service.
 */
#ifndef DAEMON_PROXY_PROXY_PRIV_H
#define DAEMON_PROXY_PROXY_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "base/budget.h"
#include "base/loop.h"
#include "daemon/base/log.h"
#include "daemon/base/socket_activation.h"
#include "daemon/config/config.h"
#include "daemon/config/self_connect.h"
#include "daemon/proxy/worker.h"
#include "daemon/service/service.h"
#include "daemon/service/tarpit.h"
#include "leg/leg.h"

struct check;
struct job_threads;
struct listen_names;
struct listener;
struct proxy;
struct reader;
struct rpcb_client;
struct reload_queue;
struct watchdog;

#define RELOAD_FAILURE_BYTES 320u

/* Health checks of unused and of doubtful servers (daemon/proxy/health_timer.h). */
struct health_timer {
	struct proxy_service *ps;
	struct servers *targets;  /* the servers to check */
	bool checks_mount;        /* these are the MOUNT servers */
	struct loop_timer *timer; /* NULL: unused servers are not checked */
	struct check *check;      /* NULL: no check is running */
	uint32_t doubtful;        /* bit per doubtful server in `check`; 0: it checks unused ones */
	uint64_t doubtful_us;     /* earliest time of the next check of doubtful servers */
	void (*on_drained)(void *arg); /* the last check has finished; NULL: checks go on */
	void *arg;
};

struct proxy_service {
	TAILQ_ENTRY(proxy_service) entry;
	struct proxy *proxy;
	struct config *config; /* holds service.config; a reference */
	struct service service;
	struct service_shard **shards; /* one per worker */
	struct listener *listener;     /* NULL: drained or removed */
	struct tarpit tarpit;          /* rejected connections */
	unsigned users;                /* snapshots that refer to it */
	/* when drain_timeout_s expires, in the main loop's time; 0: not draining */
	uint64_t drain_deadline_us;
	bool rejecting; /* drained, but systemd keeps the socket open: every client is rejected */
	bool out_of_descriptors;    /* out of descriptors, and the warning is logged */
	uint64_t problems_logged;   /* logged problems (daemon/proxy/problems.h), as bits */
	struct log_limit shortages; /* of the warning about descriptors */
	struct health_timer health_timer;
	struct health_timer mount_health_timer; /* of its MOUNT servers */
};
TAILQ_HEAD(proxy_service_list, proxy_service);

/* Why the last reload failed. */
struct reload_failure {
	uint64_t us;     /* when, in the main loop's time */
	unsigned errors; /* their number */
	char first[RELOAD_FAILURE_BYTES];
};

/* A module above the proxy that also applies reloads of the configuration. */
struct reload_participant {
	/*
	 * Prepares for @config; writes lines to @errors. Returns 0, or a negative errno without a
	 * change.
	 */
	int (*prepare)(void *arg, const struct config *config, FILE *errors);
	/*
	 * @committed: applies what prepare() has made, after proxy->config was replaced. Otherwise
	 *             discards it.
	 */
	void (*finish)(void *arg, bool committed);
	void *arg;
};

struct proxy {
	struct config *config; /* the current one; a reference */
	struct loop *loop;     /* of the main thread */
	size_t nservices;
	struct proxy_service_list services; /* in the order of the file */
	struct proxy_service_list removed;  /* removed services that still drain */
	size_t nworkers;
	struct worker **workers;
	struct budget budget; /* memory; shared with the workers */
	/* own listen addresses; complete before the first client */
	struct self_connect listen_addrs;
	struct reserved_ports *reserved_ports; /* reserved source ports; shared with the workers */
	struct job_threads *jobs;              /* for TLS handshakes; shared with the workers */
	struct socket_activation inherited;    /* sockets inherited from systemd */
	uint64_t next_id, start_us;
	struct health *health; /* runs health checks */
	struct watchdog *watchdog;
	unsigned max_connections;        /* that the descriptors allow */
	struct loop_timer *housekeeping; /* periodic work, on_housekeeping() */
	struct loop_timer *drain_timer;  /* the next expiry of a drain_timeout_s */
	/* when a stop ends the loop even with connections; 0: not set */
	uint64_t end_us;
	struct rpcb_client *rpcb;              /* NULL until a service is registered */
	uint64_t records_missed;               /* trace records that slow control clients missed */
	struct reload_participant participant; /* all zero: none */
	struct listen_names *names;    /* listen addresses of the services, as last resolved */
	struct reload_queue *reloads;  /* pending requests */
	struct reader *names_resolver; /* only resolves names, for the command resume */
	bool reload_failed;            /* the last reload failed … */
	struct reload_failure reload_failure; /* … and why */
	time_t config_s;                      /* when the current one was read, Unix time */
	uint64_t log_dropped;                 /* log lines dropped so far … */
	uint64_t log_dropped_us;              /* … and when that number was last seen to grow */
	uint64_t problems_logged; /* its logged problems (daemon/proxy/problems.h), as bits */
	bool stopping;            /* the loop stops when the last connection has closed */
};

/* proxy_list_connections - Returns the connections of one list. For proxy_connections(). */
static inline unsigned proxy_list_connections(const struct proxy_service_list *list)
{
	const struct proxy_service *ps;
	unsigned sum = 0;

	TAILQ_FOREACH(ps, list, entry)
		sum += atomic_load(&ps->service.connections);
	return sum;
}

/** proxy_connections - Returns the current connections of all services. */
static inline unsigned proxy_connections(const struct proxy *proxy)
{
	return proxy_list_connections(&proxy->services) + proxy_list_connections(&proxy->removed);
}

/**
 * proxy_service_find - Returns the service of that name, or NULL; a removed service is not found.
 */
static inline struct proxy_service *proxy_service_find(const struct proxy *proxy, const char *name)
{
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry)
		if (!strcmp(ps->service.config->name, name))
			return ps;
	return NULL;
}

#endif
