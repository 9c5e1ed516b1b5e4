/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service as one worker sees it: what the bridges of that service share on that worker's thread.
 *
 * It stands below bridges and workers. A worker makes one for each service; bridges take from it what
 * they stand on, enter its list while they live, and tell the worker by a callback when they have gone.
 */
#ifndef DAEMON_SERVICE_WORKER_SERVICE_H
#define DAEMON_SERVICE_WORKER_SERVICE_H

#include <stdint.h>
#include <sys/queue.h>

#include "base/account.h"
#include "base/compiler.h"
#include "daemon/service/backend.h"
#include "daemon/service/call_stats.h"
#include "daemon/service/close_text.h"
#include "daemon/service/service.h"
#include "daemon/service/service_net.h"
#include "leg/leg.h"

struct bridge;
TAILQ_HEAD(bridge_list, bridge);

/* Going through the bridges of a service (daemon/bridge/bridge_walk.h). */
struct bridge_walk {
	struct bridge *next; /* a bridge that goes moves it on */
	uint64_t last_id;    /* the last one that it comes to */
};

/* Looking for Calls that wait long (daemon/bridge/call_watch.h). */
struct call_watch {
	struct loop_timer *timer; /* NULL: there are no bridges */
	struct bridge_walk walk;
	bool walking;
	struct late_found found; /* so far, by this walk */
	struct late_side side;
};

struct taking_block;
struct taking_end;
#define TAKING_INTERVALS 5u

/* Replies that TCP clients have not taken yet (daemon/bridge/taking.h). */
struct taking {
	struct loop_timer *timer;                    /* NULL: there were none so far */
	uint64_t due_us;                             /* when it goes off; 0: it is not set */
	struct bridge_list queues[TAKING_INTERVALS]; /* bridges to be asked for, by interval */
	struct taking_end *spare;
	struct taking_block *blocks;
	unsigned nblocks;
};

struct worker_service {
	const struct worker_ground *ground;
	struct service *service;
	struct budget_account *account; /* of memory */
	struct service_net net;         /* of its legs */
	struct backend servers;         /* of the service */
	struct backend mount_servers;   /* those of MOUNT */
	unsigned orders; /* of the service's targets: those that bridges_end_ordered() has seen */
	struct door_side side; /* of the service's door */
	struct bridge_list bridges;
	struct bridge_walk shown; /* by the control socket */
	struct call_watch watch;
	struct taking taking;
	struct call_stats calls;
	uint64_t closes[CLOSE_BY_COUNT][LEG_CLOSE_COUNT]; /* bridges, by the one reason */
};

/**
 * worker_service_init - a service without bridges, on the fabrics of this host
 * @ground: outlives it, as do @service and @account
 *
 * To be undone by worker_service_fini(), also on failure. Returns 0 or -ENOMEM.
 */
int worker_service_init(struct worker_service *ws, const struct worker_ground *ground,
			struct service *service, struct budget_account *account) MUST_CHECK;
/** worker_service_names_woken - backend_woken() of both. */
void worker_service_names_woken(struct worker_service *ws);
/**
 * worker_service_add_backends - the part of worker_service_init() that makes `servers` and `mount_servers`
 *
 * For who makes the others himself. To be undone by worker_service_free_backends(), also on failure. Returns 0 or
 * -ENOMEM.
 */
int worker_service_add_backends(struct worker_service *ws) MUST_CHECK;
/** worker_service_free_backends - nobody may wait. */
void worker_service_free_backends(struct worker_service *ws);
/** worker_service_closed - how many bridges closed for @why, on whosever account. */
static inline uint64_t worker_service_closed(const struct worker_service *ws, enum leg_close why)
{
	uint64_t sum = 0;

	for (unsigned by = 0; by < CLOSE_BY_COUNT; by++)
		sum += ws->closes[by][why];
	return sum;
}
/** worker_service_fini - free what that took; no bridge may be left. Accepts one that is all zero. */
void worker_service_fini(struct worker_service *ws);

#endif
