/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one thread with a loop and buffers of its own, and the bridges pinned to it.
 *
 * Nothing on the path of a byte is shared between workers but the budget, of which each has some on loan for
 * each service. What crosses threads is posted to a worker's loop: connections to adopt, requests for
 * snapshots, the order to stop; and a kick tells it that it was lent what it waited for, that a server's name was
 * looked up, or that bridges have to go for others. Everything else here belongs to the worker's thread, except
 * where a member says otherwise.
 */
#ifndef DAEMON_PROXY_WORKER_H
#define DAEMON_PROXY_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/account.h"
#include "base/compiler.h"
#include "base/loop.h"
#include "base/spares.h"
#include "daemon/config/config_cidr.h"
#include "daemon/proxy/intake.h"
#include "daemon/service/listener.h"
#include "daemon/service/service.h"
#include "daemon/service/worker_service.h"
#include "fabric/pool.h"

struct worker;

/* The least that is looked back. */
#define WORKER_LOAD_US 100000u
/* Busy is told in so many parts of the time; a worker that is so for less than one of them is idle. */
#define WORKER_LOAD_PARTS 4u

/* How busy a worker is, by the processor time that its thread has had of late. */
struct worker_load {
	uint64_t at_us;  /* when it was updated, 0 at first … */
	uint64_t cpu_us; /* … and the processor time that the worker had had by then */
	unsigned busy;   /* 0 to WORKER_LOAD_PARTS */
};

/* A service at one worker: as its bridges there see it, its memory account, and who waits to be taken. */
struct station {
	TAILQ_ENTRY(station) entry; /* the worker's, as is all that follows */
	struct worker *worker;
	struct worker_service service;
	struct budget_account account;
	struct intake_queue queue;
};
TAILQ_HEAD(station_list, station);

/** station_of - the station that @ws is in. */
static inline struct station *station_of(struct worker_service *ws)
{
	return (struct station *)(void *)((char *)ws - offsetof(struct station, service));
}

struct worker {
	unsigned index;
	pthread_t thread;
	struct loop *loop; /* event_loop_post() from any thread */
	struct pool *pool;
	struct spares spares;
	struct worker_ground ground; /* what its services stand on: the above */
	struct intake intake;
	struct station_list stations;
	void (*emptied)(void *arg); /* a service that leaves has no connection any more, perhaps */
	void *arg;
	atomic_uint connections; /* any thread reads */
	struct worker_load load; /* the main thread's */
	bool stopping;
	/* Its thread is at its end. */
	pthread_mutex_t end_lock;
	pthread_cond_t end_signal;
	bool has_ended;
};

/* How much unused memory the pool of a worker keeps mapped. */
struct worker_memory {
	size_t reserve_bytes;
	size_t kept_bytes; /* where a device reaches it and it was in use of late */
};

/**
 * worker_new - make a worker and start its thread; it has no services yet
 * @index:   for thread name and logs
 * @ports:   of the process; they outlive it
 * @memory:  what its pool keeps
 * @emptied: called with @arg, from the worker's thread: it may be time for worker_close() of a service that leaves
 *
 * Returns NULL without memory or threads.
 */
struct worker *worker_new(unsigned index, struct ports *ports, const struct worker_memory *memory,
			  void (*emptied)(void *arg), void *arg);

/**
 * worker_open - let a worker serve a service; waits for its thread, as long as a turn of it takes
 * @service: with its part of the budget; outlives the station
 *
 * Returns 0 or -ENOMEM.
 */
int worker_open(struct worker *worker, struct service *service,
		struct station **station) MUST_CHECK;
/** worker_close - the end of that, once the service has no connection; waits as well. Accepts NULL. */
void worker_close(struct worker *worker, struct station *station);

/**
 * worker_adopt - hand a connection to a worker; any thread
 * @in: taken with its guest, also on failure
 *
 * Returns 0 or -ENOMEM.
 */
int worker_adopt(struct station *station, const struct incoming *in, uint64_t id) MUST_CHECK;

/** worker_drain - have the connections of a service end, each when no Call of it is in flight; any thread. */
void worker_drain(struct station *station);
/** worker_cut - have them end now. */
void worker_cut(struct station *station);

/* Which connections: the one with this number, or those of these addresses. */
struct worker_choice {
	bool by_address;
	uint64_t id;
	struct config_cidr addresses;
};

/** worker_disconnect - close those that are chosen, at once; waits as worker_open() does. Returns how many. */
unsigned worker_disconnect(struct worker *worker, const struct worker_choice *choice);

/** worker_stop - begin to close the worker's connections in good order; any thread but its own. */
void worker_stop(struct worker *worker);
/**
 * worker_join - after worker_stop(): wait for the thread, which ends once its connections have closed
 * @until: the time to wait until, by CLOCK_MONOTONIC
 *
 * Returns 0, or -ETIMEDOUT: then the thread uses all that it has as before.
 */
int worker_join(struct worker *worker, const struct timespec *until) MUST_CHECK;
/** worker_free - free a worker whose thread has been joined, and its stations; accepts NULL. */
void worker_free(struct worker *worker);

/** worker_load_update - the worker has had @cpu_us of processor time by @now_us, since it began. */
void worker_load_update(struct worker_load *load, uint64_t now_us, uint64_t cpu_us);

#endif
