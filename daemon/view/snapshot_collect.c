// SPDX-License-Identifier: BSD-3-Clause
/*
 * One snapshot is in progress at a time. The main thread posts a `struct snapshot_part` to each
 * worker and gets the parts back; the last part completes the snapshot. A snapshot holds copies
 * only, so it can complete during or after the stop of the proxy.
 */
#include "daemon/view/snapshot_collect.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

#include "daemon/base/clock.h"
#include "daemon/base/loop.h"
#include "daemon/config/config_memory.h"
#include "daemon/view/snapshot.h"

/* A request that waits for a snapshot. */
struct waiter {
	STAILQ_ENTRY(waiter) entry;
	void (*done)(void *arg, const struct collected *collected);
	void *arg;
};
STAILQ_HEAD(waiter_list, waiter);

struct collection {
	STAILQ_ENTRY(collection) entry;
	struct snapshot_collector *snapshot_collector;
	struct loop *loop; /* of the main thread */
	unsigned wants;
	struct waiter_list waiters;
	size_t waiting;             /* parts not yet returned */
	struct collected collected; /* holds a use of its services; NULL: the proxy stops */
};
STAILQ_HEAD(collection_list, collection);

struct snapshot_collector {
	struct proxy *proxy;                /* NULL: closed */
	struct collection_list collections; /* the first one is in progress */
};

struct snapshot_part {
	struct collection *collection;
	struct worker *worker;
	struct worker_service **services; /* the snapshot's services, as instances of this worker */
	struct memory_use *memory;        /* one per service */
	struct buf_pool_stats pool;
	struct snapshot snapshot;
};

/* ---- on the worker's thread ---- */

static void part_returned(void *arg);

static void collect_slice(void *arg)
{
	struct snapshot_part *part = arg;
	struct worker *worker = part->worker;

	/* Continue here if the post fails or the loop ends: then no next iteration comes. */
	while (snapshot_slice(&part->snapshot, part->services,
			      part->collection->collected.nservices, loop_now_us(worker->loop)))
		if (!worker->stopping && !event_loop_post(worker->loop, collect_slice, part))
			return;
	/* Retry if memory ran out: without its part the request would wait for ever. */
	while (event_loop_post(part->collection->loop, part_returned, part))
		;
}

static void collect_part(void *arg)
{
	struct snapshot_part *part = arg;

	for (size_t i = 0; i < part->collection->collected.nservices; i++)
		part->memory[i] = memory_use_of(part->services[i]->account);
	buf_pool_stats_get(part->worker->pool, &part->pool);
	collect_slice(part);
}

/* ---- on the main thread ---- */

static void collection_start(struct collection *collection);

/* Releases the services, which can now be freed. */
static void release_services(struct collected *collected)
{
	for (size_t i = 0; collected->services && i < collected->nservices; i++)
		collected->services[i]->users--;
	free(collected->services);
	collected->services = NULL;
}

static void collection_free(struct collection *collection)
{
	struct collected *collected = &collection->collected;

	release_services(collected);
	json_decref(collected->connections);
	call_stats_list_free(collected->calls, collected->nservices);
	free(collected->stats);
	free(collected->loads);
	free(collected->memory);
	free(collection);
}

static void answer_waiters(struct collection *collection, const struct collected *collected)
{
	struct waiter *waiter;

	while ((waiter = STAILQ_FIRST(&collection->waiters))) {
		STAILQ_REMOVE_HEAD(&collection->waiters, entry);
		waiter->done(waiter->arg, collected);
		free(waiter);
	}
}

/* Completes the first snapshot of the list and starts the next one. */
static void collection_done(struct collection *collection)
{
	struct snapshot_collector *snapshot_collector = collection->snapshot_collector;

	if (snapshot_collector->proxy)
		answer_waiters(collection, &collection->collected);
	STAILQ_REMOVE_HEAD(&snapshot_collector->collections, entry);
	collection_free(collection);
	if (!snapshot_collector->proxy)
		free(snapshot_collector);
	else if (!STAILQ_EMPTY(&snapshot_collector->collections))
		collection_start(STAILQ_FIRST(&snapshot_collector->collections));
}

static void snapshot_part_free(struct snapshot_part *part)
{
	json_decref(part->snapshot.connections);
	call_stats_list_free(part->snapshot.calls, part->collection->collected.nservices);
	free(part->snapshot.ages_us);
	free(part->snapshot.stats);
	free(part->snapshot.loads);
	free(part->services);
	free(part->memory);
	free(part);
}

static void part_returned(void *arg)
{
	struct snapshot_part *part = arg;
	struct collection *collection = part->collection;
	struct collected *collected = &collection->collected;

	for (size_t i = 0; i < collected->nservices; i++)
		memory_use_add(&collected->memory[i], &part->memory[i]);
	collected->pool.slab_bytes += part->pool.slab_bytes;
	collected->pool.in_use_bytes += part->pool.in_use_bytes;
	if (part->snapshot.connections)
		json_array_extend(collected->connections, part->snapshot.connections);
	for (size_t i = 0; part->snapshot.stats && i < collected->nservices; i++)
		stats_merge(&collected->stats[i], &part->snapshot.stats[i]);
	for (size_t i = 0; part->snapshot.calls && i < collected->nservices; i++)
		call_stats_merge(&collected->calls[i], &part->snapshot.calls[i]);
	for (size_t i = 0; part->snapshot.loads && i < collected->nservices; i++)
		conn_load_merge(&collected->loads[i], &part->snapshot.loads[i]);
	snapshot_part_free(part);
	if (--collection->waiting == 0)
		collection_done(collection);
}

/* The loop's time does not advance within an iteration. */
static uint64_t slice_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

static struct snapshot_part *snapshot_part_new(struct collection *collection, struct worker *worker)
{
	const struct collected *collected = &collection->collected;
	size_t most = collected->nservices + 1; /* never zero */
	struct snapshot_part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->collection = collection;
	part->memory = calloc(most, sizeof(*part->memory));
	part->services = calloc(most, sizeof(struct worker_service *));
	if (!part->memory || !part->services) {
		snapshot_part_free(part);
		return NULL;
	}
	for (size_t i = 0; i < collected->nservices; i++)
		part->services[i] = &collected->services[i]->shards[worker->index]->service;
	part->worker = worker;
	part->snapshot.worker = worker->index;
	part->snapshot.clock_us = slice_us;
	if (collection->wants & COLLECT_CONNECTIONS)
		part->snapshot.connections = json_array();
	if (collection->wants & COLLECT_OLDEST) {
		part->snapshot.ages_us = calloc(COLLECT_OLDEST_MAX, sizeof(uint64_t));
		part->snapshot.connections = part->snapshot.ages_us ? json_array() : NULL;
		part->snapshot.max_connections = COLLECT_OLDEST_MAX;
	}
	if (collection->wants & COLLECT_STATS)
		part->snapshot.stats = calloc(most, sizeof(struct stats));
	if (collection->wants & COLLECT_CALLS)
		part->snapshot.calls = calloc(most, sizeof(struct call_stats));
	if (collection->wants & COLLECT_LOAD)
		part->snapshot.loads = calloc(most, sizeof(struct conn_load));
	return part;
}

static uint64_t uncharged_bytes(const struct collected *collected)
{
	const struct proxy *proxy = collected->proxy;
	uint64_t sum = config_memory_unused_bytes(proxy->config) +
		       config_memory_staging_bytes(proxy->config);

	for (size_t i = 0; i < collected->nservices; i++)
		sum += config_memory_uncharged_bytes(collected->services[i]->service.config) *
		       atomic_load(&collected->services[i]->service.connections);
	return sum;
}

static void collection_start(struct collection *collection)
{
	struct proxy *proxy = collection->snapshot_collector->proxy;

	budget_stats_get(&proxy->budget, &collection->collected.budget);
	collection->collected.uncharged_bytes = uncharged_bytes(&collection->collected);
	collection->waiting = 1; /* held by this function */
	for (size_t i = 0; i < proxy->nworkers; i++) {
		struct snapshot_part *part = snapshot_part_new(collection, proxy->workers[i]);

		if (!part)
			continue;
		if (event_loop_post(proxy->workers[i]->loop, collect_part, part))
			snapshot_part_free(part);
		else
			collection->waiting++;
	}
	if (--collection->waiting == 0)
		collection_done(collection);
}

static size_t count_services(const struct proxy_service_list *list)
{
	const struct proxy_service *ps;
	size_t n = 0;

	TAILQ_FOREACH(ps, list, entry)
		n++;
	return n;
}

static void add_services(struct collected *collected, const struct proxy_service_list *list)
{
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, list, entry) {
		collected->services[collected->nservices++] = ps;
		ps->users++;
	}
}

static struct collection *collection_new(struct snapshot_collector *snapshot_collector,
					 unsigned wants)
{
	struct proxy *proxy = snapshot_collector->proxy;
	size_t most = count_services(&proxy->services) + count_services(&proxy->removed) + 1;
	struct collection *collection = calloc(1, sizeof(*collection));
	struct collected *collected;

	if (!collection)
		return NULL;
	*collection = (struct collection){
		.snapshot_collector = snapshot_collector, .loop = proxy->loop, .wants = wants};
	STAILQ_INIT(&collection->waiters);
	collected = &collection->collected;
	collected->proxy = proxy;
	collected->services = calloc(most, sizeof(struct proxy_service *));
	collected->stats = calloc(most, sizeof(*collected->stats));
	collected->calls = calloc(most, sizeof(*collected->calls));
	collected->loads = calloc(most, sizeof(*collected->loads));
	collected->memory = calloc(most, sizeof(*collected->memory));
	collected->connections = json_array();
	if (!collected->services || !collected->stats || !collected->calls || !collected->loads ||
	    !collected->memory || !collected->connections) {
		collection_free(collection);
		return NULL;
	}
	add_services(collected, &proxy->services);
	if (wants & COLLECT_LEAVING)
		add_services(collected, &proxy->removed);
	return collection;
}

/*
 * A snapshot that has not started shows the state after this call, so requests for the same data
 * share it. The snapshot in progress may have passed that data already.
 */
static struct collection *collection_pending(struct snapshot_collector *snapshot_collector,
					     unsigned wants)
{
	struct collection *collection;

	STAILQ_FOREACH(collection, &snapshot_collector->collections, entry)
		if (collection != STAILQ_FIRST(&snapshot_collector->collections) &&
		    collection->wants == wants)
			return collection;
	collection = collection_new(snapshot_collector, wants);
	if (collection)
		STAILQ_INSERT_TAIL(&snapshot_collector->collections, collection, entry);
	return collection;
}

void snapshot_collect(struct snapshot_collector *snapshot_collector, unsigned wants,
		      void (*done)(void *arg, const struct collected *collected), void *arg)
{
	struct waiter *waiter = malloc(sizeof(*waiter));
	struct collection *collection =
		waiter ? collection_pending(snapshot_collector, wants) : NULL;

	if (!collection) {
		free(waiter);
		done(arg, NULL);
		return;
	}
	*waiter = (struct waiter){.done = done, .arg = arg};
	STAILQ_INSERT_TAIL(&collection->waiters, waiter, entry);
	if (collection == STAILQ_FIRST(&snapshot_collector->collections))
		collection_start(collection);
}

struct snapshot_collector *snapshot_collector_new(struct proxy *proxy)
{
	struct snapshot_collector *snapshot_collector = calloc(1, sizeof(*snapshot_collector));

	if (snapshot_collector) {
		snapshot_collector->proxy = proxy;
		STAILQ_INIT(&snapshot_collector->collections);
	}
	return snapshot_collector;
}

void snapshot_collector_close(struct snapshot_collector *snapshot_collector)
{
	struct collection *under_way, *collection;

	if (!snapshot_collector)
		return;
	snapshot_collector->proxy = NULL;
	STAILQ_FOREACH(collection, &snapshot_collector->collections, entry)
		answer_waiters(collection, NULL);
	under_way = STAILQ_FIRST(&snapshot_collector->collections);
	if (!under_way) {
		free(snapshot_collector);
		return;
	}
	release_services(&under_way->collected);
	while ((collection = STAILQ_NEXT(under_way, entry))) {
		STAILQ_REMOVE(&snapshot_collector->collections, collection, collection, entry);
		collection_free(collection);
	}
}
