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
	const struct station *station;

	TAILQ_FOREACH(station, &worker->stations, entry)
		if (!TAILQ_EMPTY(&station->service.bridges))
			return false;
	return true;
}

/* Uncounts a connection. The main thread can free the service as soon as its count is 0. */
static void disown(struct station *station)
{
	struct worker *worker = station->worker;
	struct service *service = station->service.service;
	bool leaves = atomic_load(&service->leaving);

	atomic_fetch_sub(&worker->connections, 1);
	if (atomic_fetch_sub(&service->connections, 1) == 1 && leaves)
		worker->emptied(worker->arg);
}

static void on_bridge_gone(void *arg, struct worker_service *ws)
{
	struct worker *worker = arg;

	disown(station_of(ws));
	if (worker->stopping && is_idle(worker))
		event_loop_stop(worker->loop);
}

/* ---- adopting connections ---- */

/* Returns false if the connection was evicted in the queue; counts that. */
static bool is_to_stay(struct worker_service *ws, const struct handover *handover)
{
	enum leg_close why;

	if (door_may_stay(handover->in.guest, &why))
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

static void take(void *arg, struct handover *handover)
{
	struct worker *worker = arg;
	struct station *station = handover->owner;
	struct worker_service *ws = &station->service;
	int rc;

	if (worker->stopping || !is_to_stay(ws, handover)) {
		incoming_drop(&handover->in);
		door_leave(handover->in.guest);
		disown(station);
	} else {
		rc = bridge_new(ws, &handover->in, handover->id);
		if (rc) {
			log_limited(LOG_LEVEL_ERROR, &ws->service->lines[LINE_NOT_TAKEN],
				    LOG_ABOUT(.service = ws->service->config->name),
				    "cannot accept a connection: %s", strerror(-rc));
			ws->closes[CLOSE_BY_PROXY][LEG_CLOSE_RESOURCES]++;
			disown(station);
		} else if (atomic_load(&ws->service->draining)) {
			drain_bridges(ws);
		}
	}
	free(handover);
}

static void adopt(void *arg)
{
	struct handover *handover = arg;
	struct station *station = handover->owner;

	if (station->worker->stopping)
		take(station->worker, handover);
	else
		intake_put(&station->worker->intake, &station->queue, handover);
}

int worker_adopt(struct station *station, const struct incoming *in, uint64_t id)
{
	struct worker *worker = station->worker;
	struct handover *handover = malloc(sizeof(*handover));

	atomic_fetch_add(&worker->connections, 1);
	atomic_fetch_add(&station->service.service->connections, 1);
	if (handover) {
		*handover = (struct handover){.owner = station, .id = id, .in = *in};
		if (!event_loop_post(worker->loop, adopt, handover))
			return 0;
	}
	free(handover);
	incoming_drop(in);
	door_leave(in->guest);
	disown(station);
	return -ENOMEM;
}

/* Any thread: the budget granted a claim, a DNS lookup has finished, or the connection limits evicted a bridge. */
static void kick(void *arg)
{
	event_loop_kick(((struct worker *)arg)->loop);
}

/* ---- adding and removing services ---- */

/* A function that another thread runs on the worker, and waits for. */
struct errand {
	void (*fn)(struct errand *errand);
	struct worker *worker;
	struct service *service;
	struct station *station;
	const struct worker_choice *choice;
	unsigned count;
	int rc;
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool is_over;
};

static void do_errand(void *arg)
{
	struct errand *errand = arg;

	errand->fn(errand);
	pthread_mutex_lock(&errand->lock);
	errand->is_over = true;
	pthread_cond_signal(&errand->over);
	pthread_mutex_unlock(&errand->lock);
}

/* @must: retry a post that fails for lack of memory until it succeeds. */
static int run_errand(struct errand *errand, bool must)
{
	int rc;

	pthread_mutex_init(&errand->lock, NULL);
	pthread_cond_init(&errand->over, NULL);
	do
		rc = event_loop_post(errand->worker->loop, do_errand, errand);
	while (rc && must);
	pthread_mutex_lock(&errand->lock);
	while (!rc && !errand->is_over)
		pthread_cond_wait(&errand->over, &errand->lock);
	pthread_mutex_unlock(&errand->lock);
	pthread_cond_destroy(&errand->over);
	pthread_mutex_destroy(&errand->lock);
	return rc ? rc : errand->rc;
}

static void station_free(struct station *station)
{
	worker_service_fini(&station->service);
	budget_account_fini(&station->account);
	free(station);
}

static void open_here(struct errand *errand)
{
	struct worker *worker = errand->worker;
	struct station *station = calloc(1, sizeof(*station));

	errand->rc = -ENOMEM;
	if (!station)
		return;
	station->worker = worker;
	if (budget_account_init(&station->account, errand->service->memory, worker->loop, kick,
				worker) ||
	    worker_service_init(&station->service, &worker->ground, errand->service,
				&station->account)) {
		station_free(station);
		return;
	}
	station->account.late = shortage_log;
	station->account.late_arg = &station->service;
	intake_add(&worker->intake, &station->queue);
	TAILQ_INSERT_TAIL(&worker->stations, station, entry);
	errand->station = station;
	errand->rc = 0;
}

int worker_open(struct worker *worker, struct service *service, struct station **station)
{
	struct errand errand = {.fn = open_here, .worker = worker, .service = service};
	int rc = run_errand(&errand, false);

	if (!rc)
		*station = errand.station;
	return rc;
}

static void close_here(struct errand *errand)
{
	struct station *station = errand->station;

	TAILQ_REMOVE(&errand->worker->stations, station, entry);
	intake_remove(&errand->worker->intake, &station->queue);
	station_free(station);
}

void worker_close(struct worker *worker, struct station *station)
{
	struct errand errand = {.fn = close_here, .worker = worker, .station = station};

	if (station)
		(void)run_errand(&errand, true);
}

static void drain_here(void *arg)
{
	struct station *station = arg;

	drain_bridges(&station->service);
	/* The last connection may have closed before the service was marked as removed. */
	if (atomic_load(&station->service.service->leaving))
		station->worker->emptied(station->worker->arg);
}

static bool is_chosen(const struct worker_choice *choice, const struct bridge *bridge)
{
	struct bridge_info info;

	bridge_info_get(bridge, &info);
	if (!choice->by_address)
		return info.id == choice->id;
	return config_cidr_contains(&choice->addresses, (struct sockaddr *)&info.client_peer);
}

static void disconnect_here(struct errand *errand)
{
	struct station *station;

	intake_flush(&errand->worker->intake);
	TAILQ_FOREACH(station, &errand->worker->stations, entry) {
		struct bridge *bridge = NULL;

		while ((bridge = bridge_next(&station->service, bridge))) {
			if (!is_chosen(errand->choice, bridge))
				continue;
			bridge_close(bridge, LEG_CLOSE_DISCONNECTED, CLOSE_BY_PROXY, "");
			errand->count++;
		}
	}
}

unsigned worker_disconnect(struct worker *worker, const struct worker_choice *choice)
{
	struct errand errand = {.fn = disconnect_here, .worker = worker, .choice = choice};

	(void)run_errand(&errand, true);
	return errand.count;
}

/* Retries a post that fails for lack of memory. */
static void post_always(struct station *station, void (*fn)(void *arg), void *arg)
{
	while (event_loop_post(station->worker->loop, fn, arg))
		;
}

void worker_drain(struct station *station)
{
	post_always(station, drain_here, station);
}

static void close_bridges(struct worker_service *ws, enum leg_close why)
{
	struct bridge *bridge = NULL;

	while ((bridge = bridge_next(ws, bridge)))
		bridge_close(bridge, why, CLOSE_BY_PROXY, "");
}

static void cut_here(void *arg)
{
	struct station *station = arg;

	intake_flush(&station->worker->intake);
	close_bridges(&station->service, LEG_CLOSE_SHUTDOWN);
}

void worker_cut(struct station *station)
{
	post_always(station, cut_here, station);
}

/* ---- start and stop ---- */

static void stop(void *arg)
{
	struct worker *worker = arg;
	struct station *station;

	worker->stopping = true;
	intake_flush(&worker->intake);
	if (is_idle(worker)) {
		event_loop_stop(worker->loop);
		return;
	}
	TAILQ_FOREACH(station, &worker->stations, entry)
		close_bridges(&station->service, LEG_CLOSE_SHUTDOWN);
}

static void *run(void *arg)
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
	return thread_start(name, run, worker, &worker->thread);
}

static void on_kick(void *arg)
{
	struct worker *worker = arg;
	struct station *station;

	TAILQ_FOREACH(station, &worker->stations, entry) {
		budget_account_woken(&station->account);
		worker_service_names_woken(&station->service);
		bridges_end_expelled(&station->service);
		bridges_end_ordered(&station->service);
	}
}

struct worker *worker_new(unsigned index, struct ports *ports, const struct worker_memory *memory,
			  void (*emptied)(void *arg), void *arg)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	pthread_mutex_init(&worker->end_lock, NULL);
	thread_cond_init(&worker->end_signal);
	worker->index = index;
	worker->emptied = emptied;
	worker->arg = arg;
	TAILQ_INIT(&worker->stations);
	worker->loop = event_loop_new();
	if (!worker->loop)
		goto out_free;
	event_loop_on_kick(worker->loop, on_kick, worker);
	spares_init(&worker->spares);
	intake_init(&worker->intake, worker->loop, take, worker);
	worker->pool = pool_new(config_memory_buffer_max_bytes(), memory->reserve_bytes);
	if (!worker->pool)
		goto out_free;
	pool_keep_most(worker->pool, memory->kept_bytes);
	worker->ground = (struct worker_ground){
		.worker = index,
		.loop = worker->loop,
		.pool = worker->pool,
		.spares = &worker->spares,
		.resolver = &resolver_system,
		.legs = &legs_system,
		.post = event_loop_post,
		.ports = ports,
		.bridge_gone = on_bridge_gone,
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
	while (event_loop_post(worker->loop, stop, worker))
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
	struct station *station;

	if (!worker)
		return;
	/* Drops connections that are still queued. */
	worker->stopping = true;
	if (worker->loop)
		event_loop_finish(worker->loop);
	while ((station = TAILQ_FIRST(&worker->stations))) {
		TAILQ_REMOVE(&worker->stations, station, entry);
		station_free(station);
	}
	intake_fini(&worker->intake);
	event_loop_free(worker->loop);
	spares_fini(&worker->spares);
	pool_free(worker->pool);
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
