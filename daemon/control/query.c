// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the control socket shows.
 *
 * A query makes a `struct gather`, or shares one that has not begun. One is under way at a time: it begins with
 * the main thread's share of the answer, posts a `struct part` to each worker, and takes the parts back on the main
 * thread; the last one back completes the answer. A gather holds copies only, so that it may come back while, or
 * after, the proxy is stopped.
 */
#include "daemon/control/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/config/config_memory.h"
#include "daemon/control/actions.h"
#include "daemon/control/check_answer.h"
#include "daemon/control/control_request.h"
#include "daemon/control/latency_answer.h"
#include "daemon/control/memory_use.h"
#include "daemon/control/service_answer.h"
#include "daemon/control/snapshot.h"
#include "daemon/control/stats.h"

/* Who waits for the result of a gather. */
struct asker {
	STAILQ_ENTRY(asker) entry;
	void (*done)(void *done_arg, json_t *result);
	void *done_arg;
	/* What alone is to be shown: of stats a service, of latency one and its operation; "": all. */
	char share[CONTROL_MAX_ARGUMENT_BYTES + 1];
};
STAILQ_HEAD(asker_list, asker);

struct gather {
	STAILQ_ENTRY(gather) entry;
	struct query_control *queries;
	struct loop *loop; /* the main thread's */
	enum control_query query;
	struct asker_list askers;
	json_t *result;
	size_t waiting; /* parts that are still out */
	size_t nservices;
	struct proxy_service **services; /* used, so that they stay; NULL: the proxy stops */
	char **names;
	struct stats *stats;        /* one a service */
	struct call_stats *calls;   /* the same */
	struct memory_use *memory;  /* the same */
	struct budget_stats budget; /* when it began */
	uint64_t beside_bytes;      /* what the connections then can take beside it, at most */
	struct pool_stats pool;
};
STAILQ_HEAD(gather_list, gather);

struct query_control {
	struct proxy *proxy; /* NULL: closed */
	struct control *control;
	struct gather_list gathers; /* the first one is under way */
	struct check_queries checks;
};

struct part {
	struct gather *gather;
	struct worker *worker;
	struct worker_service **services; /* of the gather, as the worker has them */
	struct memory_use *memory;        /* one a service */
	struct pool_stats pool;
	struct snapshot snapshot;
};

/* ---- on the worker's thread ---- */

static void part_back(void *arg);

static void take_slice(void *arg)
{
	struct part *part = arg;
	struct worker *worker = part->worker;

	/* Without memory for the next post, and in a loop that ends, there is no next turn. */
	while (snapshot_slice(&part->snapshot, part->services, part->gather->nservices,
			      loop_now_us(worker->loop)))
		if (!worker->stopping && !event_loop_post(worker->loop, take_slice, part))
			return;
	/* Without memory for the post the part must still come home, or the client waits for ever. */
	while (event_loop_post(part->gather->loop, part_back, part))
		;
}

static void take_part(void *arg)
{
	struct part *part = arg;

	for (size_t i = 0; i < part->gather->nservices; i++)
		part->memory[i] = memory_use_of(part->services[i]->account);
	pool_stats_get(part->worker->pool, &part->pool);
	take_slice(part);
}

/* ---- on the main thread ---- */

static json_t *memory_json(const struct gather *gather)
{
	json_t *memory = json_pack("{s:I, s:I, s:I, s:I, s:I}", "limit_bytes",
				   (json_int_t)gather->budget.limit_bytes, "peak_bytes",
				   (json_int_t)gather->budget.peak_bytes, "mapped_bytes",
				   (json_int_t)gather->pool.slab_bytes, "in_use_bytes",
				   (json_int_t)gather->pool.in_use_bytes, "beside_limit_bytes",
				   (json_int_t)gather->beside_bytes);
	struct memory_use all = {0};

	for (size_t i = 0; i < gather->nservices; i++)
		memory_use_add(&all, &gather->memory[i]);
	memory_use_put(&all, memory);
	return memory;
}

static void add_memory(const struct gather *gather)
{
	json_t *list = json_object_get(gather->result, "services");

	for (size_t i = 0; i < gather->nservices; i++) {
		json_t *memory = json_object();

		memory_use_put(&gather->memory[i], memory);
		json_object_set_new(json_array_get(list, i), "memory", memory);
	}
}

/* They are the same for each service. */
static json_t *counters_result(const struct gather *gather)
{
	return json_pack("{s:o}", "counters",
			 gather->nservices ? stats_help_json(&gather->stats[0]) : json_object());
}

/* What of a result an asker has asked for; a new reference. */
static json_t *share_of(const struct gather *gather, const struct asker *asker, json_t *result)
{
	json_t *stats = json_object_get(json_object_get(result, "services"), asker->share);

	if (!result || !asker->share[0])
		return json_incref(result);
	if (gather->query == CONTROL_LATENCY)
		return latency_only(result, asker->share);
	if (!stats)
		return json_pack("{s:o}", "error",
				 json_sprintf("there is no service %s", asker->share));
	return json_pack("{s:{s:O}}", "services", asker->share, stats);
}

static void gather_begin(struct gather *gather);

/* They may go now. */
static void let_services_go(struct gather *gather)
{
	for (size_t i = 0; gather->services && i < gather->nservices; i++)
		gather->services[i]->users--;
	free(gather->services);
	gather->services = NULL;
}

static void gather_free(struct gather *gather)
{
	let_services_go(gather);
	for (size_t i = 0; gather->names && i < gather->nservices; i++)
		free(gather->names[i]);
	json_decref(gather->result);
	call_stats_list_free(gather->calls, gather->nservices);
	free(gather->stats);
	free(gather->names);
	free(gather->memory);
	free(gather);
}

static void answer(struct gather *gather, json_t *result)
{
	struct asker *asker;

	while ((asker = STAILQ_FIRST(&gather->askers))) {
		STAILQ_REMOVE_HEAD(&gather->askers, entry);
		asker->done(asker->done_arg, share_of(gather, asker, result));
		free(asker);
	}
}

static void set_result(struct gather *gather, json_t *result)
{
	json_decref(gather->result);
	gather->result = result;
}

/* The first of the list; the next one begins. */
static void gather_end(struct gather *gather)
{
	struct query_control *queries = gather->queries;

	if (gather->query == CONTROL_STATUS)
		json_object_set_new(gather->result, "memory", memory_json(gather));
	if (gather->query == CONTROL_SERVICES)
		add_memory(gather);
	if (gather->query == CONTROL_STATS)
		set_result(gather,
			   stats_services_json(gather->names, gather->stats, gather->nservices));
	if (gather->query == CONTROL_LATENCY)
		set_result(gather, latency_json(gather->names, gather->calls, gather->nservices));
	if (gather->query == CONTROL_COUNTERS)
		set_result(gather, counters_result(gather));
	STAILQ_REMOVE_HEAD(&queries->gathers, entry);
	answer(gather, gather->result);
	gather_free(gather);
	if (!queries->proxy)
		free(queries);
	else if (!STAILQ_EMPTY(&queries->gathers))
		gather_begin(STAILQ_FIRST(&queries->gathers));
}

static void part_free(struct part *part)
{
	json_decref(part->snapshot.connections);
	call_stats_list_free(part->snapshot.calls, part->gather->nservices);
	free(part->snapshot.stats);
	free(part->services);
	free(part->memory);
	free(part);
}

static void part_back(void *arg)
{
	struct part *part = arg;
	struct gather *gather = part->gather;

	for (size_t i = 0; i < gather->nservices; i++)
		memory_use_add(&gather->memory[i], &part->memory[i]);
	gather->pool.slab_bytes += part->pool.slab_bytes;
	gather->pool.in_use_bytes += part->pool.in_use_bytes;
	if (part->snapshot.connections)
		json_array_extend(json_object_get(gather->result, "connections"),
				  part->snapshot.connections);
	for (size_t i = 0; part->snapshot.stats && i < gather->nservices; i++)
		stats_merge(&gather->stats[i], &part->snapshot.stats[i]);
	for (size_t i = 0; part->snapshot.calls && i < gather->nservices; i++)
		call_stats_merge(&gather->calls[i], &part->snapshot.calls[i]);
	part_free(part);
	if (--gather->waiting == 0)
		gather_end(gather);
}

static struct part *part_new(struct gather *gather, struct worker *worker)
{
	struct part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->gather = gather;
	part->memory = calloc(gather->nservices + 1, sizeof(*part->memory));
	part->services = calloc(gather->nservices + 1, sizeof(struct worker_service *));
	if (!part->memory || !part->services) {
		part_free(part);
		return NULL;
	}
	for (size_t i = 0; i < gather->nservices; i++)
		part->services[i] = &gather->services[i]->stations[worker->index]->service;
	part->worker = worker;
	part->snapshot.worker = worker->index;
	if (gather->query == CONTROL_CONNECTIONS)
		part->snapshot.connections = json_array();
	if (gather->query == CONTROL_STATS || gather->query == CONTROL_COUNTERS)
		part->snapshot.stats = calloc(gather->nservices, sizeof(struct stats));
	if (gather->query == CONTROL_LATENCY)
		part->snapshot.calls = calloc(gather->nservices, sizeof(struct call_stats));
	return part;
}

static json_t *first_result(const struct gather *gather)
{
	switch (gather->query) {
	case CONTROL_STATUS:
		return status_json(gather->queries->proxy);
	case CONTROL_SERVICES:
		return services_json(gather->queries->proxy, gather->services, gather->nservices);
	case CONTROL_CONNECTIONS:
		return json_pack("{s:[]}", "connections");
	default:
		return json_object();
	}
}

static uint64_t beside_bytes(const struct gather *gather)
{
	const struct proxy *proxy = gather->queries->proxy;
	uint64_t sum = config_memory_reserve_bytes(proxy->config) * proxy->nworkers +
		       config_memory_staging_bytes(proxy->config);

	for (size_t i = 0; i < gather->nservices; i++)
		sum += config_memory_beside_bytes(gather->services[i]->service.config) *
		       atomic_load(&gather->services[i]->service.connections);
	return sum;
}

static void gather_begin(struct gather *gather)
{
	struct proxy *proxy = gather->queries->proxy;

	gather->result = first_result(gather);
	budget_stats_get(&proxy->budget, &gather->budget);
	gather->beside_bytes = beside_bytes(gather);
	gather->waiting = 1; /* this function's */
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

static bool use(struct gather *gather, const struct proxy_service_list *list)
{
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, list, entry) {
		char *name = strdup(ps->service.config->name);

		if (!name)
			return false;
		gather->names[gather->nservices] = name;
		gather->services[gather->nservices++] = ps;
		ps->users++;
	}
	return true;
}

/* Of those that leave, with what they have, connections and memory are shown. */
static bool use_services(struct gather *gather)
{
	const struct proxy *proxy = gather->queries->proxy;

	if (!use(gather, &proxy->services))
		return false;
	return (gather->query != CONTROL_CONNECTIONS && gather->query != CONTROL_STATUS) ||
	       use(gather, &proxy->leaving);
}

static struct gather *gather_new(struct query_control *queries, enum control_query query)
{
	struct proxy *proxy = queries->proxy;
	size_t most = count(&proxy->services) + count(&proxy->leaving) + 1;
	struct gather *gather = calloc(1, sizeof(*gather));

	if (!gather)
		return NULL;
	*gather = (struct gather){.queries = queries, .loop = proxy->loop, .query = query};
	STAILQ_INIT(&gather->askers);
	gather->names = calloc(most, sizeof(*gather->names));
	gather->services = calloc(most, sizeof(struct proxy_service *));
	gather->stats = calloc(most, sizeof(*gather->stats));
	gather->calls = calloc(most, sizeof(*gather->calls));
	gather->memory = calloc(most, sizeof(*gather->memory));
	if (!gather->names || !gather->services || !gather->stats || !gather->calls ||
	    !gather->memory || !use_services(gather)) {
		gather_free(gather);
		return NULL;
	}
	return gather;
}

/*
 * One that has not begun will show what there is after this moment, so it serves others that ask for the same; one
 * that is under way may have passed it already.
 */
static struct gather *gather_to_come(struct query_control *queries, enum control_query query)
{
	struct gather *gather;

	STAILQ_FOREACH(gather, &queries->gathers, entry)
		if (gather != STAILQ_FIRST(&queries->gathers) && gather->query == query)
			return gather;
	gather = gather_new(queries, query);
	if (gather)
		STAILQ_INSERT_TAIL(&queries->gathers, gather, entry);
	return gather;
}

static void on_query(void *arg, enum control_query query, const char *argument,
		     void (*done)(void *done_arg, json_t *result), void *done_arg)
{
	struct query_control *queries = arg;
	struct gather *gather;
	struct asker *asker;

	if (query == CONTROL_CONFIG) {
		done(done_arg, config_json(queries->proxy->config));
		return;
	}
	if (query == CONTROL_CHECK) {
		check_answer(&queries->checks, queries->proxy, argument, done, done_arg);
		return;
	}
	asker = malloc(sizeof(*asker));
	gather = asker ? gather_to_come(queries, query) : NULL;
	if (!gather) {
		free(asker);
		done(done_arg, NULL);
		return;
	}
	*asker = (struct asker){.done = done, .done_arg = done_arg};
	snprintf(asker->share, sizeof(asker->share), "%s", argument);
	STAILQ_INSERT_TAIL(&gather->askers, asker, entry);
	if (gather == STAILQ_FIRST(&queries->gathers))
		gather_begin(gather);
}

static json_t *on_act(void *arg, enum control_command_id command, const char *argument,
		      const char *who)
{
	struct query_control *queries = arg;

	return action_run(queries->proxy, command, argument, who);
}

static void on_stop(void *arg, bool now)
{
	struct query_control *queries = arg;

	if (now)
		event_loop_stop(queries->proxy->loop);
	else
		proxy_stop_gently(queries->proxy);
}

static const struct control_ops control_ops = {.query = on_query, .act = on_act, .stop = on_stop};

int query_control_open(struct proxy *proxy, struct query_control **out)
{
	struct query_control *queries = calloc(1, sizeof(*queries));
	char error[256] = "out of memory";
	int rc = -ENOMEM;

	if (queries) {
		queries->proxy = proxy;
		STAILQ_INIT(&queries->gathers);
		rc = control_open(proxy->loop, proxy->config->control, &control_ops, queries, error,
				  sizeof(error), &queries->control);
	}
	if (rc) {
		log_error(NULL, "%s", error);
		free(queries);
		return rc;
	}
	*out = queries;
	return 0;
}

void query_control_close(struct query_control *queries)
{
	struct gather *under_way, *gather;

	if (!queries)
		return;
	control_close(queries->control);
	check_answers_end(&queries->checks);
	queries->proxy = NULL;
	under_way = STAILQ_FIRST(&queries->gathers);
	if (!under_way) {
		free(queries);
		return;
	}
	let_services_go(under_way);
	while ((gather = STAILQ_NEXT(under_way, entry))) {
		STAILQ_REMOVE(&queries->gathers, gather, gather, entry);
		answer(gather, NULL);
		gather_free(gather);
	}
}
