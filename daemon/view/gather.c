// SPDX-License-Identifier: BSD-3-Clause
/*
 * One snapshot is in progress at a time. The main thread posts a `struct part` to each worker and gets the parts back;
 * the last part completes the snapshot. A snapshot holds copies only, so it can complete during or after the stop of
 * the proxy.
 */
#include "daemon/view/gather.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

#include "daemon/base/clock.h"
#include "daemon/base/loop.h"
#include "daemon/config/config_memory.h"
#include "daemon/view/snapshot.h"

/* A request that waits for a snapshot. */
struct asker {
	STAILQ_ENTRY(asker) entry;
	void (*done)(void *arg, const struct gathered *gathered);
	void *arg;
};
STAILQ_HEAD(asker_list, asker);

struct gather {
	STAILQ_ENTRY(gather) entry;
	struct gathering *gathering;
	struct loop *loop; /* of the main thread */
	unsigned wants;
	struct asker_list askers;
	size_t waiting;           /* parts not yet returned */
	struct gathered gathered; /* holds a use of its services; NULL: the proxy stops */
};
STAILQ_HEAD(gather_list, gather);

struct gathering {
	struct proxy *proxy;        /* NULL: closed */
	struct gather_list gathers; /* the first one is in progress */
};

struct part {
	struct gather *gather;
	struct worker *worker;
	struct worker_service **services; /* the snapshot's services, as instances of this worker */
	struct memory_use *memory;        /* one per service */
	struct pool_stats pool;
	struct snapshot snapshot;
};

/* ---- on the worker's thread ---- */

static void part_back(void *arg);

static void take_slice(void *arg)
{
	struct part *part = arg;
	struct worker *worker = part->worker;

	/* Continue here if the post fails or the loop ends: then no next iteration comes. */
	while (snapshot_slice(&part->snapshot, part->services, part->gather->gathered.nservices,
			      loop_now_us(worker->loop)))
		if (!worker->stopping && !event_loop_post(worker->loop, take_slice, part))
			return;
	/* Retry if memory ran out: without its part the request would wait for ever. */
	while (event_loop_post(part->gather->loop, part_back, part))
		;
}

static void take_part(void *arg)
{
	struct part *part = arg;

	for (size_t i = 0; i < part->gather->gathered.nservices; i++)
		part->memory[i] = memory_use_of(part->services[i]->account);
	pool_stats_get(part->worker->pool, &part->pool);
	take_slice(part);
}

/* ---- on the main thread ---- */

static void gather_begin(struct gather *gather);

/* Releases the services, which can now be freed. */
static void let_services_go(struct gathered *gathered)
{
	for (size_t i = 0; gathered->services && i < gathered->nservices; i++)
		gathered->services[i]->users--;
	free(gathered->services);
	gathered->services = NULL;
}

static void gather_free(struct gather *gather)
{
	struct gathered *gathered = &gather->gathered;

	let_services_go(gathered);
	json_decref(gathered->connections);
	call_stats_list_free(gathered->calls, gathered->nservices);
	free(gathered->stats);
	free(gathered->loads);
	free(gathered->memory);
	free(gather);
}

static void answer(struct gather *gather, const struct gathered *gathered)
{
	struct asker *asker;

	while ((asker = STAILQ_FIRST(&gather->askers))) {
		STAILQ_REMOVE_HEAD(&gather->askers, entry);
		asker->done(asker->arg, gathered);
		free(asker);
	}
}

/* Completes the first snapshot of the list and starts the next one. */
static void gather_end(struct gather *gather)
{
	struct gathering *gathering = gather->gathering;

	if (gathering->proxy)
		answer(gather, &gather->gathered);
	STAILQ_REMOVE_HEAD(&gathering->gathers, entry);
	gather_free(gather);
	if (!gathering->proxy)
		free(gathering);
	else if (!STAILQ_EMPTY(&gathering->gathers))
		gather_begin(STAILQ_FIRST(&gathering->gathers));
}

static void part_free(struct part *part)
{
	json_decref(part->snapshot.connections);
	call_stats_list_free(part->snapshot.calls, part->gather->gathered.nservices);
	free(part->snapshot.ages_us);
	free(part->snapshot.stats);
	free(part->snapshot.loads);
	free(part->services);
	free(part->memory);
	free(part);
}

static void part_back(void *arg)
{
	struct part *part = arg;
	struct gather *gather = part->gather;
	struct gathered *gathered = &gather->gathered;

	for (size_t i = 0; i < gathered->nservices; i++)
		memory_use_add(&gathered->memory[i], &part->memory[i]);
	gathered->pool.slab_bytes += part->pool.slab_bytes;
	gathered->pool.in_use_bytes += part->pool.in_use_bytes;
	if (part->snapshot.connections)
		json_array_extend(gathered->connections, part->snapshot.connections);
	for (size_t i = 0; part->snapshot.stats && i < gathered->nservices; i++)
		stats_merge(&gathered->stats[i], &part->snapshot.stats[i]);
	for (size_t i = 0; part->snapshot.calls && i < gathered->nservices; i++)
		call_stats_merge(&gathered->calls[i], &part->snapshot.calls[i]);
	for (size_t i = 0; part->snapshot.loads && i < gathered->nservices; i++)
		load_merge(&gathered->loads[i], &part->snapshot.loads[i]);
	part_free(part);
	if (--gather->waiting == 0)
		gather_end(gather);
}

/* The loop's time does not advance within an iteration. */
static uint64_t slice_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

static struct part *part_new(struct gather *gather, struct worker *worker)
{
	const struct gathered *gathered = &gather->gathered;
	size_t most = gathered->nservices + 1; /* never zero */
	struct part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->gather = gather;
	part->memory = calloc(most, sizeof(*part->memory));
	part->services = calloc(most, sizeof(struct worker_service *));
	if (!part->memory || !part->services) {
		part_free(part);
		return NULL;
	}
	for (size_t i = 0; i < gathered->nservices; i++)
		part->services[i] = &gathered->services[i]->stations[worker->index]->service;
	part->worker = worker;
	part->snapshot.worker = worker->index;
	part->snapshot.clock_us = slice_us;
	if (gather->wants & GATHER_CONNECTIONS)
		part->snapshot.connections = json_array();
	if (gather->wants & GATHER_OLDEST) {
		part->snapshot.ages_us = calloc(GATHER_OLDEST_MOST, sizeof(uint64_t));
		part->snapshot.connections = part->snapshot.ages_us ? json_array() : NULL;
		part->snapshot.most = GATHER_OLDEST_MOST;
	}
	if (gather->wants & GATHER_STATS)
		part->snapshot.stats = calloc(most, sizeof(struct stats));
	if (gather->wants & GATHER_CALLS)
		part->snapshot.calls = calloc(most, sizeof(struct call_stats));
	if (gather->wants & GATHER_LOAD)
		part->snapshot.loads = calloc(most, sizeof(struct load));
	return part;
}

static uint64_t beside_bytes(const struct gathered *gathered)
{
	const struct proxy *proxy = gathered->proxy;
	uint64_t sum = config_memory_unused_bytes(proxy->config) +
		       config_memory_staging_bytes(proxy->config);

	for (size_t i = 0; i < gathered->nservices; i++)
		sum += config_memory_beside_bytes(gathered->services[i]->service.config) *
		       atomic_load(&gathered->services[i]->service.connections);
	return sum;
}

static void gather_begin(struct gather *gather)
{
	struct proxy *proxy = gather->gathering->proxy;

	budget_stats_get(&proxy->budget, &gather->gathered.budget);
	gather->gathered.beside_bytes = beside_bytes(&gather->gathered);
	gather->waiting = 1; /* held by this function */
	for (size_t i = 0; i < proxy->nworkers; i++) {
		struct part *part = part_new(gather, proxy->workers[i]);

		if (!part)
			continue;
		if (event_loop_post(proxy->workers[i]->loop, take_part, part))
			part_free(part);
		else
			gather->waiting++;
	}
	if (--gather->waiting == 0)
		gather_end(gather);
}

static size_t count(const struct proxy_service_list *list)
{
	const struct proxy_service *ps;
	size_t n = 0;

	TAILQ_FOREACH(ps, list, entry)
		n++;
	return n;
}

static void use(struct gathered *gathered, const struct proxy_service_list *list)
{
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, list, entry) {
		gathered->services[gathered->nservices++] = ps;
		ps->users++;
	}
}

static struct gather *gather_new(struct gathering *gathering, unsigned wants)
{
	struct proxy *proxy = gathering->proxy;
	size_t most = count(&proxy->services) + count(&proxy->leaving) + 1;
	struct gather *gather = calloc(1, sizeof(*gather));
	struct gathered *gathered;

	if (!gather)
		return NULL;
	*gather = (struct gather){.gathering = gathering, .loop = proxy->loop, .wants = wants};
	STAILQ_INIT(&gather->askers);
	gathered = &gather->gathered;
	gathered->proxy = proxy;
	gathered->services = calloc(most, sizeof(struct proxy_service *));
	gathered->stats = calloc(most, sizeof(*gathered->stats));
	gathered->calls = calloc(most, sizeof(*gathered->calls));
	gathered->loads = calloc(most, sizeof(*gathered->loads));
	gathered->memory = calloc(most, sizeof(*gathered->memory));
	gathered->connections = json_array();
	if (!gathered->services || !gathered->stats || !gathered->calls || !gathered->loads ||
	    !gathered->memory || !gathered->connections) {
		gather_free(gather);
		return NULL;
	}
	use(gathered, &proxy->services);
	if (wants & GATHER_LEAVING)
		use(gathered, &proxy->leaving);
	return gather;
}

/*
 * A snapshot that has not started shows the state after this call, so requests for the same data share it. The snapshot
 * in progress may have passed that data already.
 */
static struct gather *gather_to_come(struct gathering *gathering, unsigned wants)
{
	struct gather *gather;

	STAILQ_FOREACH(gather, &gathering->gathers, entry)
		if (gather != STAILQ_FIRST(&gathering->gathers) && gather->wants == wants)
			return gather;
	gather = gather_new(gathering, wants);
	if (gather)
		STAILQ_INSERT_TAIL(&gathering->gathers, gather, entry);
	return gather;
}

void gather_ask(struct gathering *gathering, unsigned wants,
		void (*done)(void *arg, const struct gathered *gathered), void *arg)
{
	struct asker *asker = malloc(sizeof(*asker));
	struct gather *gather = asker ? gather_to_come(gathering, wants) : NULL;

	if (!gather) {
		free(asker);
		done(arg, NULL);
		return;
	}
	*asker = (struct asker){.done = done, .arg = arg};
	STAILQ_INSERT_TAIL(&gather->askers, asker, entry);
	if (gather == STAILQ_FIRST(&gathering->gathers))
		gather_begin(gather);
}

struct gathering *gathering_new(struct proxy *proxy)
{
	struct gathering *gathering = calloc(1, sizeof(*gathering));

	if (gathering) {
		gathering->proxy = proxy;
		STAILQ_INIT(&gathering->gathers);
	}
	return gathering;
}

void gathering_close(struct gathering *gathering)
{
	struct gather *under_way, *gather;

	if (!gathering)
		return;
	gathering->proxy = NULL;
	STAILQ_FOREACH(gather, &gathering->gathers, entry)
		answer(gather, NULL);
	under_way = STAILQ_FIRST(&gathering->gathers);
	if (!under_way) {
		free(gathering);
		return;
	}
	let_services_go(&under_way->gathered);
	while ((gather = STAILQ_NEXT(under_way, entry))) {
		STAILQ_REMOVE(&gathering->gathers, gather, gather, entry);
		gather_free(gather);
	}
}
