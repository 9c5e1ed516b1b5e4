/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one thread with its own event loop, buffers and bridges.
 *
 * On the data path workers share only the memory budget, from which each account of a worker leases
 * bytes. Other threads post functions to the worker's loop: for a new connection, a snapshot, or
 * the stop. They kick the loop when the budget has granted a claim, a DNS lookup has finished, or
 * bridges must be evicted. Only the worker's thread uses the members, unless a comment says
 * otherwise.
 */
#ifndef DAEMON_PROXY_WORKER_H
#define DAEMON_PROXY_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/budget_account.h"
#include "base/compiler.h"
#include "base/freelist.h"
#include "base/loop.h"
#include "daemon/config/config_cidr.h"
#include "daemon/proxy/accept_queue.h"
#include "daemon/service/listener.h"
#include "daemon/service/service.h"
#include "daemon/service/worker_service.h"
#include "fabric/buf_pool.h"

struct job_threads;
struct reserved_ports;
struct worker;

/* Shortest interval of a load measurement. */
#define WORKER_LOAD_US 100000u
/* Load is measured in quarters; less than one quarter counts as idle. */
#define WORKER_LOAD_PARTS 4u

/* The load of a worker: the recent CPU time of its thread. */
struct worker_load {
	uint64_t at_us;  /* time of the last measurement; 0: none yet */
	uint64_t cpu_us; /* CPU time of the thread until then */
	unsigned busy;   /* 0 to WORKER_LOAD_PARTS */
};

/* The instance of a service on one worker: its bridges, its memory account and its accept queue. */
struct service_shard {
	TAILQ_ENTRY(service_shard) entry; /* in worker->shards */
	struct worker *worker;
	struct worker_service service;
	struct budget_account account;
	struct accept_queue_service queue;
};
TAILQ_HEAD(service_shard_list, service_shard);

/** service_shard_of - Returns the service_shard that contains @ws. */
static inline struct service_shard *service_shard_of(struct worker_service *ws)
{
	return (struct service_shard *)(void *)((char *)ws -
						offsetof(struct service_shard, service));
}

struct worker {
	unsigned index;
	pthread_t thread;
	struct loop *loop; /* event_loop_post() from any thread */
	struct buf_pool *pool;
	struct freelists freelists;
	struct worker_env env; /* the above, for its services */
	struct accept_queue accept_queue;
	struct service_shard_list shards;
	void (*on_drained)(void *arg); /* a removed service may have lost its last connection */
	void *arg;
	atomic_uint connections; /* read by any thread */
	struct worker_load load; /* main thread only */
	bool stopping;
	/* For worker_join(): the thread has left its loop. */
	pthread_mutex_t end_lock;
	pthread_cond_t end_signal;
	bool has_ended;
};

/* Limits of the unused memory that a worker's pool keeps mapped. */
struct worker_memory {
	size_t reserve_bytes;
	size_t kept_bytes; /* of memory registered with a device and used recently */
};

/* What the workers of the process share; outlives them. */
struct worker_shared {
	struct reserved_ports *reserved_ports;
	struct job_threads *jobs; /* for TLS handshakes */
};

/**
 * worker_new - Creates a worker without services, and starts its thread.
 * @index:      for the thread name and logs
 * @shared:     copied
 * @memory:     unused memory that its pool keeps mapped
 * @on_drained: called with @arg on the worker's thread when a removed service may be ready for
 *              worker_remove_service()
 *
 * Returns NULL without memory or threads.
 */
struct worker *worker_new(unsigned index, const struct worker_shared *shared,
			  const struct worker_memory *memory, void (*on_drained)(void *arg),
			  void *arg);

/**
 * worker_add_service - Adds a service to a worker. Waits for one iteration of the worker's loop.
 * @service: with its share of the budget; outlives the service_shard
 *
 * Returns 0 or -ENOMEM.
 */
int worker_add_service(struct worker *worker, struct service *service,
		       struct service_shard **service_shard) MUST_CHECK;
/** worker_remove_service - Removes a service without connections; waits like worker_add_service(). Accepts NULL. */
void worker_remove_service(struct worker *worker, struct service_shard *service_shard);

/**
 * worker_add_connection - Hands a connection to a worker. Any thread.
 * @in: the worker owns it and its connection slot from now on, even after an error
 *
 * Returns 0 or -ENOMEM.
 */
int worker_add_connection(struct service_shard *service_shard, const struct accepted_conn *in,
			  uint64_t id) MUST_CHECK;

/**
 * worker_drain - Drains the connections of a service: closes each once no Call is in flight. Any
 * thread.
 */
void worker_drain(struct service_shard *service_shard);
/** worker_close_connections - Closes the connections of a service now. Any thread. */
void worker_close_connections(struct service_shard *service_shard);

/* Selects a connection by number, or the connections of some client addresses. */
struct worker_conn_selector {
	bool by_address;
	uint64_t id;
	struct config_cidr addresses;
};

/**
 * worker_conn_selector_parse - Parses the number of a connection, or ADDRESS[/BITS]. Returns false
 * if @text is neither.
 */
bool worker_conn_selector_parse(const char *text, struct worker_conn_selector *selector) MUST_CHECK;

/**
 * worker_disconnect - Closes the selected connections now; waits like worker_add_service(). Returns
 * their number.
 */
unsigned worker_disconnect(struct worker *worker, const struct worker_conn_selector *choice);

/** worker_stop - Starts closing all connections in order. Any thread except the worker's own. */
void worker_stop(struct worker *worker);
/**
 * worker_join - Waits for the end of the thread, after worker_stop(). It ends once its connections
 * have closed.
 * @until: deadline on CLOCK_MONOTONIC
 *
 * Returns 0, or -ETIMEDOUT; after a timeout the thread still uses all its memory.
 */
int worker_join(struct worker *worker, const struct timespec *until) MUST_CHECK;
/** worker_free - Frees a worker after worker_join() returned 0, and its shards. Accepts NULL. */
void worker_free(struct worker *worker);

/** worker_load_update - Measures the load. @cpu_us: CPU time of the worker until @now_us */
void worker_load_update(struct worker_load *load, uint64_t now_us, uint64_t cpu_us);

#endif
