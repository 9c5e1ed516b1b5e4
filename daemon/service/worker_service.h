/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One service on one worker: what the bridges of that service share on that thread.
 *
 * A worker creates one for each service. Its list contains the bridges of the service; a bridge
 * notifies the worker by a callback when it is freed. This module is a layer below bridges and
 * workers.
 */
#ifndef DAEMON_SERVICE_WORKER_SERVICE_H
#define DAEMON_SERVICE_WORKER_SERVICE_H

#include <stdint.h>
#include <sys/queue.h>

#include "base/budget_account.h"
#include "base/compiler.h"
#include "daemon/service/backend.h"
#include "daemon/service/call_stats.h"
#include "daemon/service/close_reason_text.h"
#include "daemon/service/service.h"
#include "daemon/service/service_net.h"
#include "leg/leg.h"

struct bridge;
TAILQ_HEAD(bridge_list, bridge);

/* An iteration over the bridges of a service (daemon/bridge/bridge_iter.h). */
struct bridge_iter {
	struct bridge *next; /* a bridge that is freed advances it */
	uint64_t last_id;    /* the last bridge to visit */
};

/* The scan for Calls that wait long (daemon/bridge/late_call_scan.h). */
struct late_call_scan {
	struct loop_timer *timer; /* NULL: no bridges */
	struct bridge_iter iter;
	bool walking;
	struct late_scan found; /* results of this scan so far */
	struct late_worker thread;
};

struct delivery_block;
struct delivery_wait;
#define REPLY_DELIVERY_INTERVALS 5u

/* Replies that TCP clients have not acknowledged yet (daemon/bridge/reply_delivery.h). */
struct reply_delivery {
	struct loop_timer *timer;                            /* NULL: not needed so far */
	uint64_t due_us;                                     /* when it expires; 0: not set */
	struct bridge_list queues[REPLY_DELIVERY_INTERVALS]; /* bridges to check, by interval */
	struct delivery_wait *free_waits;
	struct delivery_block *blocks;
	unsigned nblocks;
};

struct worker_service {
	const struct worker_env *env;
	struct service *service;
	struct budget_account *account; /* memory account */
	struct service_net net;         /* of its legs */
	struct backend servers;         /* NFS servers of the service */
	struct backend mount_servers;   /* its MOUNT servers */
	/* number of the orders for servers that bridge_limits_close_disabled() has applied */
	unsigned orders;
	struct conn_limits_thread thread;        /* of the service's connection limits */
	struct tls_worker_limits tls_handshakes; /* of clients */
	struct bridge_list bridges;
	struct bridge_iter snapshot_iter; /* iteration of the control socket */
	struct late_call_scan late_scan;
	struct reply_delivery reply_delivery;
	struct call_stats calls;
	uint64_t closes[CLOSE_BY_COUNT][LEG_CLOSE_COUNT]; /* closed bridges, by side and reason */
};

/**
 * worker_service_init - Initializes a service without bridges, on the fabrics of this host
 * @env: outlives it, like @service and @account
 *
 * worker_service_fini() is due even on failure. Returns 0 or -ENOMEM.
 */
int worker_service_init(struct worker_service *ws, const struct worker_env *env,
			struct service *service, struct budget_account *account) MUST_CHECK;
/** worker_service_names_woken - Calls backend_woken() for both lists of servers. */
void worker_service_names_woken(struct worker_service *ws);
/**
 * worker_service_add_backends - Initializes only `servers` and `mount_servers`
 *
 * For callers that set the other members themselves. Call worker_service_free_backends() even after
 * a failure. Returns 0 or -ENOMEM.
 */
int worker_service_add_backends(struct worker_service *ws) MUST_CHECK;
/** worker_service_free_backends - Frees `servers` and `mount_servers`; no connection may wait. */
void worker_service_free_backends(struct worker_service *ws);
/** worker_service_closed - Returns how many bridges closed for @why, whichever side caused it. */
static inline uint64_t worker_service_closed(const struct worker_service *ws, enum leg_close why)
{
	uint64_t sum = 0;

	for (unsigned by = 0; by < CLOSE_BY_COUNT; by++)
		sum += ws->closes[by][why];
	return sum;
}
/** worker_service_fini - Frees it; no bridge may be left. Accepts all zero. */
void worker_service_fini(struct worker_service *ws);

#endif
