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
#include "base/loop.h"
#include "daemon/base/resolver.h"
#include "daemon/service/call_stats.h"
#include "daemon/service/close_text.h"
#include "daemon/service/mount_desk.h"
#include "daemon/service/service.h"
#include "daemon/tap/tap.h"
#include "fabric/fabric.h"
#include "fabric/pool.h"
#include "leg/leg.h"
#include "rpcrdma/rdma_leg.h"
#include "rpctcp/tcp_leg.h"
#include "stream/socket.h"

struct bridge;
struct leg_maker;
struct worker_service;

/* What all services of a worker stand on; the tests have a fake loop and legs of their own here. */
struct worker_ground {
	unsigned worker; /* its number, for the log */
	struct loop *loop;
	struct pool *pool;
	struct spares *spares;
	const struct resolver *resolver;
	const struct leg_maker *legs;                                     /* daemon/bridge/legs.h */
	int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg); /* event_loop_post() */
	struct tap_seats taps; /* that are open (daemon/tap/tap.h) */
	struct ports *ports;   /* of the process; may be NULL with other legs than legs_system */
	/* A bridge of @ws has been freed. */
	void (*bridge_gone)(void *arg, struct worker_service *ws);
	/*
	 * From any thread: worker_service_names_woken(), bridges_end_expelled() and bridges_end_ordered() are due for
	 * its services.
	 */
	void (*wake)(void *arg);
	void *arg;
};

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
	struct name_desk *names;        /* where bridges wait for the server's: one a target */
	struct name_desk *mount_names;  /* the same of those of MOUNT */
	struct mount_desk
		*mount_desks; /* where rpcbind says that they listen; NULL: it is not asked */
	unsigned orders; /* of the service's targets: those that bridges_end_ordered() has seen */
	struct door_side side; /* of the service's door */
	struct fabric *iwarp;
	struct fabric *verbs;            /* NULL: not asked for, or no device here */
	uint64_t verbs_avoided_until_us; /* rdma:// connects by iwarp until then: verbs failed */
	struct bridge_list bridges;
	struct bridge_walk shown; /* by the control socket */
	struct call_watch watch;
	struct taking taking;
	struct call_stats calls;
	struct socket_net sockets; /* of its TCP legs */
	/* Of clients' legs; those that connect count apart. */
	struct tcp_worker tcp;
	struct rdma_leg_counters rdma;
	struct tcp_leg_counters tcp_upstream;
	struct rdma_leg_counters rdma_upstream;
	uint64_t fabric_fallbacks; /* connections that went by iwarp since verbs had failed */
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
/** worker_service_names_woken - name_desk_woken() of each target. */
void worker_service_names_woken(struct worker_service *ws);
/**
 * worker_service_add_desks - the part of worker_service_init() that makes `names`
 *
 * For who makes the others himself. To be undone by worker_service_free_desks(), also on failure. Returns 0 or -ENOMEM.
 */
int worker_service_add_desks(struct worker_service *ws) MUST_CHECK;
/** worker_service_free_desks - nobody may wait. */
void worker_service_free_desks(struct worker_service *ws);
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
