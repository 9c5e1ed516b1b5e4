// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/base/resolver.h"
#include "daemon/base/thread.h"
#include "daemon/bridge/bridge.h"
#include "daemon/config/config_memory.h"
#include "daemon/upstream/leg_factory.h"

static bool is_idle(const struct worker *worker)
{
	const struct service_shard *service_shard;

	TAILQ_FOREACH(service_shard, &worker->shards, entry)
		if (!TAILQ_EMPTY(&service_shard->service.bridges))
			return false;
	return true;
}

/* Uncounts a connection. The main thread can free the service as soon as its count is 0. */
static void connection_gone(struct service_shard *service_shard)
{
	struct worker *worker = service_shard->worker;
	struct service *service = service_shard->service.service;
	bool is_removed = atomic_load(&service->removed);

	atomic_fetch_sub(&worker->connections, 1);
	if (atomic_fetch_sub(&service->connections, 1) == 1 && is_removed)
		worker->on_drained(worker->arg);
}

static void on_bridge_gone(void *arg, struct worker_service *ws)
{
	struct worker *worker = arg;

	connection_gone(service_shard_of(ws));
	if (worker->stopping && is_idle(worker))
		event_loop_stop(worker->loop);
}

/* ---- adopting connections ---- */

/* Returns false if the connection was evicted in the queue; counts that. */
static bool is_still_allowed(struct worker_service *ws, const struct accept_item *accept_item)
{
	enum leg_close why;

	if (conn_slot_may_stay(accept_item->in.slot, &why))
		return true;
	ws->closes[CLOSE_BY_PROXY][why]++;
	return false;
}

static void drain_bridges(struct worker_service *ws)
{
	struct bridge *bridge = NULL;

	while ((bridge = bridge_next(ws, bridge)))
		bridge_drain(bridge);
}

static void accept_connection(void *arg, struct accept_item *accept_item)
{
	struct worker *worker = arg;
	struct service_shard *service_shard = accept_item->owner;
	struct worker_service *ws = &service_shard->service;
	int rc;

	if (worker->stopping || !is_still_allowed(ws, accept_item)) {
		accepted_conn_drop(&accept_item->in);
		conn_slot_free(accept_item->in.slot);
		connection_gone(service_shard);
	} else {
		rc = bridge_new(ws, &accept_item->in, accept_item->id);
		if (rc) {
			log_limited(LOG_LEVEL_ERROR, &ws->service->lines[LINE_NOT_ACCEPTED],
				    LOG_ABOUT(.service = ws->service->config->name),
				    "cannot accept a connection: %s", strerror(-rc));
			ws->closes[CLOSE_BY_PROXY][LEG_CLOSE_RESOURCES]++;
			client_events_add(&ws->service->events, LEG_CLOSE_RESOURCES,
					  (const struct sockaddr *)&accept_item->in.peer, "",
					  loop_now_us(ws->env->loop));
			connection_gone(service_shard);
		} else if (atomic_load(&ws->service->draining)) {
			drain_bridges(ws);
		}
	}
	free(accept_item);
}

static void queue_connection(void *arg)
{
	struct accept_item *accept_item = arg;
	struct service_shard *service_shard = accept_item->owner;

	if (service_shard->worker->stopping)
		accept_connection(service_shard->worker, accept_item);
	else
		accept_queue_put(&service_shard->worker->accept_queue, &service_shard->queue,
				 accept_item);
}

int worker_add_connection(struct service_shard *service_shard, const struct accepted_conn *in,
			  uint64_t id)
{
	struct worker *worker = service_shard->worker;
	struct accept_item *accept_item = malloc(sizeof(*accept_item));

	atomic_fetch_add(&worker->connections, 1);
	atomic_fetch_add(&service_shard->service.service->connections, 1);
	if (accept_item) {
		*accept_item = (struct accept_item){.owner = service_shard, .id = id, .in = *in};
		if (!event_loop_post(worker->loop, queue_connection, accept_item))
			return 0;
	}
	free(accept_item);
	accepted_conn_drop(in);
	conn_slot_free(in->slot);
	connection_gone(service_shard);
	return -ENOMEM;
}

/*
 * Any thread: the budget granted a claim, a DNS lookup has finished, or the connection limits
 * evicted a bridge.
 */
static void kick(void *arg)
{
	event_loop_kick(((struct worker *)arg)->loop);
}

/* ---- adding and removing services ---- */

/* A function that another thread runs on the worker, and waits for. */
struct worker_command {
	void (*fn)(struct worker_command *worker_command);
	struct worker *worker;
	struct service *service;
	struct service_shard *service_shard;
	const struct worker_conn_selector *selector;
	unsigned count;
	int rc;
	pthread_mutex_t lock;
	pthread_cond_t done_signal;
	bool is_done;
};

static void worker_command_execute(void *arg)
{
	struct worker_command *worker_command = arg;

	worker_command->fn(worker_command);
	pthread_mutex_lock(&worker_command->lock);
	worker_command->is_done = true;
	pthread_cond_signal(&worker_command->done_signal);
	pthread_mutex_unlock(&worker_command->lock);
}

/* @must: retry a post that fails for lack of memory until it succeeds. */
static int worker_command_run(struct worker_command *worker_command, bool must)
{
	int rc;

	pthread_mutex_init(&worker_command->lock, NULL);
	pthread_cond_init(&worker_command->done_signal, NULL);
	do
		rc = event_loop_post(worker_command->worker->loop, worker_command_execute,
				     worker_command);
	while (rc && must);
	pthread_mutex_lock(&worker_command->lock);
	while (!rc && !worker_command->is_done)
		pthread_cond_wait(&worker_command->done_signal, &worker_command->lock);
	pthread_mutex_unlock(&worker_command->lock);
	pthread_cond_destroy(&worker_command->done_signal);
	pthread_mutex_destroy(&worker_command->lock);
	return rc ? rc : worker_command->rc;
}

static void service_shard_free(struct service_shard *service_shard)
{
	worker_service_fini(&service_shard->service);
	budget_account_fini(&service_shard->account);
	free(service_shard);
}

static void command_open(struct worker_command *worker_command)
{
	struct worker *worker = worker_command->worker;
	struct service_shard *service_shard = calloc(1, sizeof(*service_shard));

	worker_command->rc = -ENOMEM;
	if (!service_shard)
		return;
	service_shard->worker = worker;
	if (budget_account_init(&service_shard->account, worker_command->service->memory,
				worker->loop, kick, worker) ||
	    worker_service_init(&service_shard->service, &worker->env, worker_command->service,
				&service_shard->account)) {
		service_shard_free(service_shard);
		return;
	}
	service_shard->account.late = bridge_log_shortage;
	service_shard->account.late_arg = &service_shard->service;
	accept_queue_add_service(&worker->accept_queue, &service_shard->queue);
	TAILQ_INSERT_TAIL(&worker->shards, service_shard, entry);
	worker_command->service_shard = service_shard;
	worker_command->rc = 0;
}

int worker_add_service(struct worker *worker, struct service *service,
		       struct service_shard **service_shard)
{
	struct worker_command worker_command = {
		.fn = command_open, .worker = worker, .service = service};
	int rc = worker_command_run(&worker_command, false);

	if (!rc)
		*service_shard = worker_command.service_shard;
	return rc;
}

static void command_close(struct worker_command *worker_command)
{
	struct service_shard *service_shard = worker_command->service_shard;

	TAILQ_REMOVE(&worker_command->worker->shards, service_shard, entry);
	accept_queue_remove_service(&worker_command->worker->accept_queue, &service_shard->queue);
	service_shard_free(service_shard);
}

void worker_remove_service(struct worker *worker, struct service_shard *service_shard)
{
	struct worker_command worker_command = {
		.fn = command_close, .worker = worker, .service_shard = service_shard};

	if (service_shard)
		(void)worker_command_run(&worker_command, true);
}

static void on_drain(void *arg)
{
	struct service_shard *service_shard = arg;

	drain_bridges(&service_shard->service);
	/* The last connection may have closed before the service was marked as removed. */
	if (atomic_load(&service_shard->service.service->removed))
		service_shard->worker->on_drained(service_shard->worker->arg);
}

bool worker_conn_selector_parse(const char *text, struct worker_conn_selector *selector)
{
	*selector = (struct worker_conn_selector){.id = strtoull(text, NULL, 10)};
	if (!text[strspn(text, "0123456789")])
		return true;
	selector->by_address = true;
	return !config_cidr_parse(text, &selector->addresses);
}

static bool is_chosen(const struct worker_conn_selector *selector, const struct bridge *bridge)
{
	struct bridge_info info;

	bridge_info_get(bridge, &info);
	if (!selector->by_address)
		return info.id == selector->id;
	return config_cidr_contains(&selector->addresses, (struct sockaddr *)&info.client_peer);
}

static void command_disconnect(struct worker_command *worker_command)
{
	struct service_shard *service_shard;

	accept_queue_flush(&worker_command->worker->accept_queue);
	TAILQ_FOREACH(service_shard, &worker_command->worker->shards, entry) {
		struct bridge *bridge = NULL;

		while ((bridge = bridge_next(&service_shard->service, bridge))) {
			if (!is_chosen(worker_command->selector, bridge))
				continue;
			bridge_close(bridge, LEG_CLOSE_DISCONNECTED, CLOSE_BY_PROXY, "");
			worker_command->count++;
		}
	}
}

unsigned worker_disconnect(struct worker *worker, const struct worker_conn_selector *selector)
{
	struct worker_command worker_command = {
		.fn = command_disconnect, .worker = worker, .selector = selector};

	(void)worker_command_run(&worker_command, true);
	return worker_command.count;
}

/* Retries a post that fails for lack of memory. */
static void post_always(struct service_shard *service_shard, void (*fn)(void *arg), void *arg)
{
	while (event_loop_post(service_shard->worker->loop, fn, arg))
		;
}

void worker_drain(struct service_shard *service_shard)
{
	post_always(service_shard, on_drain, service_shard);
}

static void close_bridges(struct worker_service *ws, enum leg_close why)
{
	struct bridge *bridge = NULL;

	while ((bridge = bridge_next(ws, bridge)))
		bridge_close(bridge, why, CLOSE_BY_PROXY, "");
}

static void on_close_connections(void *arg)
{
	struct service_shard *service_shard = arg;

	accept_queue_flush(&service_shard->worker->accept_queue);
	close_bridges(&service_shard->service, LEG_CLOSE_SHUTDOWN);
}

void worker_close_connections(struct service_shard *service_shard)
{
	post_always(service_shard, on_close_connections, service_shard);
}

/* ---- start and stop ---- */

static void on_stop(void *arg)
{
	struct worker *worker = arg;
	struct service_shard *service_shard;

	worker->stopping = true;
	accept_queue_flush(&worker->accept_queue);
	if (is_idle(worker)) {
		event_loop_stop(worker->loop);
		return;
	}
	TAILQ_FOREACH(service_shard, &worker->shards, entry)
		close_bridges(&service_shard->service, LEG_CLOSE_SHUTDOWN);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;

	event_loop_run(worker->loop);
	pthread_mutex_lock(&worker->end_lock);
	worker->has_ended = true;
	pthread_cond_signal(&worker->end_signal);
	pthread_mutex_unlock(&worker->end_lock);
	return NULL;
}

static int start_thread(struct worker *worker)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%u", worker->index % 10000);
	return thread_start(name, worker_main, worker, &worker->thread);
}

static void on_kick(void *arg)
{
	struct worker *worker = arg;
	struct service_shard *service_shard;

	TAILQ_FOREACH(service_shard, &worker->shards, entry) {
		budget_account_woken(&service_shard->account);
		worker_service_names_woken(&service_shard->service);
		bridge_limits_close_evicted(&service_shard->service);
		bridge_limits_close_disabled(&service_shard->service);
	}
}

struct worker *worker_new(unsigned index, const struct worker_shared *shared,
			  const struct worker_memory *memory, void (*on_drained)(void *arg),
			  void *arg)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	pthread_mutex_init(&worker->end_lock, NULL);
	thread_cond_init(&worker->end_signal);
	worker->index = index;
	worker->on_drained = on_drained;
	worker->arg = arg;
	TAILQ_INIT(&worker->shards);
	worker->loop = event_loop_new();
	if (!worker->loop)
		goto out_free;
	event_loop_on_kick(worker->loop, on_kick, worker);
	freelists_init(&worker->freelists);
	accept_queue_init(&worker->accept_queue, worker->loop, accept_connection, worker);
	worker->pool = buf_pool_new(config_memory_buffer_max_bytes(), memory->reserve_bytes);
	if (!worker->pool)
		goto out_free;
	buf_pool_keep_max(worker->pool, memory->kept_bytes);
	worker->env = (struct worker_env){
		.worker = index,
		.loop = worker->loop,
		.pool = worker->pool,
		.freelists = &worker->freelists,
		.resolver = &resolver_system,
		.legs = &leg_factory_system,
		.post = event_loop_post,
		.reserved_ports = shared->reserved_ports,
		.jobs = shared->jobs,
		.bridge_freed = on_bridge_gone,
		.wake = kick,
		.arg = worker,
	};
	if (start_thread(worker))
		goto out_free;
	return worker;

out_free:
	worker_free(worker);
	return NULL;
}

void worker_stop(struct worker *worker)
{
	/* A post fails only for lack of memory; retry, because the thread must end. */
	while (event_loop_post(worker->loop, on_stop, worker))
		;
}

int worker_join(struct worker *worker, const struct timespec *until)
{
	bool ended;

	pthread_mutex_lock(&worker->end_lock);
	while (!worker->has_ended &&
	       !pthread_cond_timedwait(&worker->end_signal, &worker->end_lock, until))
		;
	ended = worker->has_ended;
	pthread_mutex_unlock(&worker->end_lock);
	if (!ended)
		return -ETIMEDOUT;
	pthread_join(worker->thread, NULL);
	return 0;
}

void worker_free(struct worker *worker)
{
	struct service_shard *service_shard;

	if (!worker)
		return;
	/* Drops connections that are still queued. */
	worker->stopping = true;
	if (worker->loop)
		event_loop_finish(worker->loop);
	while ((service_shard = TAILQ_FIRST(&worker->shards))) {
		TAILQ_REMOVE(&worker->shards, service_shard, entry);
		service_shard_free(service_shard);
	}
	accept_queue_fini(&worker->accept_queue);
	event_loop_free(worker->loop);
	freelists_fini(&worker->freelists);
	buf_pool_free(worker->pool);
	pthread_cond_destroy(&worker->end_signal);
	pthread_mutex_destroy(&worker->end_lock);
	free(worker);
}

void worker_load_update(struct worker_load *load, uint64_t now_us, uint64_t cpu_us)
{
	uint64_t had_us = cpu_us > load->cpu_us ? cpu_us - load->cpu_us : 0;
	uint64_t parts = had_us * WORKER_LOAD_PARTS / (now_us - load->at_us);

	*load = (struct worker_load){
		now_us, cpu_us, parts < WORKER_LOAD_PARTS ? (unsigned)parts : WORKER_LOAD_PARTS};
}
