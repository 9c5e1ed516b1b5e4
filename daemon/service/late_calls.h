/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs Calls of a service that wait long for the server, on all workers together.
 *
 * A Call is late once it has waited LATE_CALL_WARN_US: the log warns, and `status` shows it
 * (daemon/service/service_condition.h, daemon/proxy/problems.h). The last line follows when no Call
 * waits any more. In between, a warning follows when the number of clients that wait so long has doubled:
 * one Call that never gets a Reply must not hide that the server hangs for all clients.
 *
 * Calls are counted from LATE_CALL_US on, so every worker has reported before the first warning.
 *
 * Threads: any; a worker with late Calls takes the lock once in LATE_CALLS_SCAN_US.
 */
#ifndef DAEMON_SERVICE_LATE_CALLS_H
#define DAEMON_SERVICE_LATE_CALLS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#define LATE_CALLS_SCAN_US 5000000u                            /* interval of the scans */
#define LATE_CALL_US       10000000u                           /* a Call counts after this … */
#define LATE_CALL_WARN_US  (LATE_CALL_US + LATE_CALLS_SCAN_US) /* … and is late after this */

struct nfs_server;

/* The result of one worker's scan. */
struct late_scan {
	unsigned calls, clients;         /* waiting now */
	unsigned long_clients;           /* those that have waited for LATE_CALL_WARN_US */
	uint64_t oldest_us;              /* longest wait now … */
	uint64_t oldest_start_us;        /* … when it began … */
	struct sockaddr_storage server;  /* … the address of its server … */
	const struct nfs_server *target; /* … and that server */
	uint64_t longest_us;             /* longest wait that ended since the last report */
	bool answered;                   /* the server replied to at least one of them */
};

/* A worker's last report. */
struct late_worker {
	TAILQ_ENTRY(late_worker) entry; /* in the list while `calls` is not 0 */
	unsigned calls, clients, long_clients;
	uint64_t oldest_start_us;
	const struct nfs_server *target;
};
TAILQ_HEAD(late_worker_list, late_worker);

struct late_calls {
	pthread_mutex_t lock;
	const char *service;
	struct late_worker_list workers; /* those that have late Calls */
	unsigned calls, clients, long_clients;
	/* lowest number of clients since the last warning; 0: no warning yet */
	unsigned logged_clients;
	uint64_t longest_us; /* since no Call waited */
	bool answered;
};

/* The late Calls of a service now. */
struct late_calls_info {
	unsigned calls, clients;
	uint64_t oldest_start_us;        /* when the wait of the oldest began … */
	const struct nfs_server *target; /* … and its server; NULL: no Call is late */
};

/** late_calls_are_long - Returns whether the oldest Call has waited LATE_CALL_WARN_US. */
static inline bool late_calls_are_long(const struct late_calls_info *late, uint64_t now_us)
{
	return late->target && now_us >= late->oldest_start_us + LATE_CALL_WARN_US;
}

/** late_calls_init - Initializes it without late Calls; @service: its name, which outlives this. */
void late_calls_init(struct late_calls *late, const char *service);
/** late_calls_fini - Frees it. */
void late_calls_fini(struct late_calls *late);
/** late_calls_get - Returns the Calls that have waited for LATE_CALL_US. */
struct late_calls_info late_calls_get(struct late_calls *late);
/** late_calls_report - Replaces the worker's last report by @found, and logs what is due. */
void late_calls_report(struct late_calls *late, struct late_worker *thread,
		       const struct late_scan *found);

#endif
