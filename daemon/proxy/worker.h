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
#include "daemon/proxy/gauge.h"
#include "daemon/proxy/intake.h"
#include "daemon/service/listener.h"
#include "daemon/service/service.h"
#include "daemon/service/worker_service.h"
#include "fabric/pool.h"

struct worker {
	unsigned index;
	pthread_t thread;
	struct loop *loop; /* event_loop_post() from any thread */
	struct pool *pool;
	struct spares spares;
	struct worker_ground ground; /* what its services stand on: the above */
	struct intake intake;
	size_t nservices;
	struct worker_service *services;
	struct budget_account *accounts; /* of memory, one a service */
	atomic_uint connections;         /* any thread reads */
	struct gauge gauge;              /* the main thread's */
	bool stopping;
};

/**
 * worker_new - make a worker and start its thread
 * @index:        for thread name and logs
 * @services:     the daemon's services, each with its part of the budget; they outlive the worker
 * @ports:        of the process; they outlive it too
 * @pool_reserve_bytes: what its pool keeps mapped of memory that nobody uses
 *
 * Returns NULL without memory or threads.
 */
struct worker *worker_new(unsigned index, struct service *services, size_t nservices,
			  struct ports *ports, size_t pool_reserve_bytes);

/**
 * worker_adopt - hand a connection to a worker; any thread
 * @service: index of the service
 * @in:      taken with its guest, also on failure
 *
 * Returns 0 or -ENOMEM.
 */
int worker_adopt(struct worker *worker, size_t service, const struct incoming *in,
		 uint64_t id) MUST_CHECK;

/** worker_stop - begin to close the worker's connections in good order; any thread but its own. */
void worker_stop(struct worker *worker);
/** worker_join - after worker_stop(): wait for the thread, which ends once its connections have closed. */
void worker_join(struct worker *worker);
/** worker_free - free a worker whose thread has been joined, or never started; accepts NULL. */
void worker_free(struct worker *worker);

#endif
