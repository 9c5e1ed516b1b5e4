// SPDX-License-Identifier: BSD-3-Clause
/* A worker: one thread with a loop and buffers of its own, and the bridges pinned to it. */
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
#include "daemon/bridge/legs.h"
#include "daemon/bridge/shortage.h"
#include "daemon/config/config_memory.h"

/* Of all services. */
static size_t largest_buffer(const struct service *services, size_t nservices)
{
	size_t most = 0;

	for (size_t i = 0; i < nservices; i++) {
		size_t bytes = config_memory_buffer_bytes(services[i].config);

		if (bytes > most)
			most = bytes;
	}
	return most;
}

static bool is_idle(const struct worker *worker)
{
	for (size_t i = 0; i < worker->nservices; i++)
		if (!TAILQ_EMPTY(&worker->services[i].bridges))
			return false;
	return true;
}

static void disown(struct worker *worker, struct worker_service *ws)
{
	atomic_fetch_sub(&ws->service->connections, 1);
	atomic_fetch_sub(&worker->connections, 1);
}

static void on_bridge_gone(void *arg, struct worker_service *ws)
{
	struct worker *worker = arg;

	disown(worker, ws);
	if (worker->stopping && is_idle(worker))
		event_loop_stop(worker->loop);
}

/* ---- adopting connections ---- */

/* It may have had to go for a newer one since it was handed over. */
static bool is_to_stay(struct worker_service *ws, const struct handover *handover)
{
	enum leg_close why;

	if (door_may_stay(handover->in.guest, &why))
		return true;
	ws->closes[CLOSE_BY_PROXY][why]++;
	return false;
}

static void take(void *arg, struct handover *handover)
{
	struct worker *worker = arg;
	struct worker_service *ws = &worker->services[handover->service];
	int rc;

	if (worker->stopping || !is_to_stay(ws, handover)) {
		incoming_drop(&handover->in);
		door_leave(handover->in.guest);
		disown(worker, ws);
	} else {
		rc = bridge_new(ws, &handover->in, handover->id);
		if (rc) {
			log_limited(LOG_LEVEL_ERROR, &ws->service->lines[LINE_NOT_TAKEN], NULL,
				    "%s: cannot take a connection: %s", ws->service->config->name,
				    strerror(-rc));
			ws->closes[CLOSE_BY_PROXY][LEG_CLOSE_RESOURCES]++;
			disown(worker, ws);
		}
	}
	free(handover);
}

static void adopt(void *arg)
{
	struct handover *handover = arg;
	struct worker *worker = handover->owner;

	if (worker->stopping)
		take(worker, handover);
	else
		intake_put(&worker->intake, handover);
}

int worker_adopt(struct worker *worker, size_t service, const struct incoming *in, uint64_t id)
{
	struct handover *handover = malloc(sizeof(*handover));

	atomic_fetch_add(&worker->connections, 1);
	atomic_fetch_add(&worker->services[service].service->connections, 1);
	if (handover) {
		*handover =
			(struct handover){.owner = worker, .service = service, .id = id, .in = *in};
		if (!event_loop_post(worker->loop, adopt, handover))
			return 0;
	}
	free(handover);
	incoming_drop(in);
	door_leave(in->guest);
	disown(worker, &worker->services[service]);
	return -ENOMEM;
}

/* ---- life ---- */

static void stop(void *arg)
{
	struct worker *worker = arg;

	worker->stopping = true;
	intake_flush(&worker->intake);
	if (is_idle(worker)) {
		event_loop_stop(worker->loop);
		return;
	}
	for (size_t i = 0; i < worker->nservices; i++) {
		struct bridge *bridge = NULL;

		while ((bridge = bridge_next(&worker->services[i], bridge)))
			bridge_close(bridge, LEG_CLOSE_SHUTDOWN);
	}
}

static void *run(void *arg)
{
	struct worker *worker = arg;

	event_loop_run(worker->loop);
	return NULL;
}

static int start_thread(struct worker *worker)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%u", worker->index % 10000);
	return thread_start(name, run, worker, &worker->thread);
}

/*
 * From any thread: the budget has lent to one of the accounts here, a server's name has been looked up, or a door
 * wants a bridge to go.
 */
static void kick(void *arg)
{
	event_loop_kick(((struct worker *)arg)->loop);
}

static void on_kick(void *arg)
{
	struct worker *worker = arg;

	for (size_t i = 0; i < worker->nservices; i++) {
		budget_account_woken(&worker->accounts[i]);
		name_desk_woken(&worker->services[i].names);
		bridges_end_expelled(&worker->services[i]);
	}
}

static int make_services(struct worker *worker, struct service *services, size_t nservices)
{
	worker->services = calloc(nservices, sizeof(*worker->services));
	worker->accounts = calloc(nservices, sizeof(*worker->accounts));
	if ((!worker->services || !worker->accounts) && nservices)
		return -ENOMEM;
	for (; worker->nservices < nservices; worker->nservices++) {
		struct worker_service *ws = &worker->services[worker->nservices];
		struct service *service = &services[worker->nservices];
		struct budget_account *account = &worker->accounts[worker->nservices];

		if (budget_account_init(account, service->memory, worker->loop, kick, worker) ||
		    worker_service_init(ws, &worker->ground, service, account)) {
			worker_service_fini(ws);
			budget_account_fini(account);
			return -ENOMEM;
		}
		account->late = shortage_log;
		account->late_arg = ws;
	}
	return 0;
}

struct worker *worker_new(unsigned index, struct service *services, size_t nservices,
			  struct ports *ports, size_t pool_reserve_bytes)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	worker->index = index;
	worker->loop = event_loop_new();
	if (!worker->loop)
		goto out_free;
	event_loop_on_kick(worker->loop, on_kick, worker);
	spares_init(&worker->spares);
	worker->pool = pool_new(largest_buffer(services, nservices), pool_reserve_bytes);
	if (!worker->pool)
		goto out_free;
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
	if (intake_init(&worker->intake, worker->loop, nservices, take, worker) ||
	    make_services(worker, services, nservices) || start_thread(worker))
		goto out_free;
	return worker;

out_free:
	worker_free(worker);
	return NULL;
}

void worker_stop(struct worker *worker)
{
	/* A post fails for lack of memory only, and the thread must end all the same. */
	while (event_loop_post(worker->loop, stop, worker))
		;
}

void worker_join(struct worker *worker)
{
	pthread_join(worker->thread, NULL);
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	for (size_t i = 0; i < worker->nservices; i++) {
		worker_service_fini(&worker->services[i]);
		budget_account_fini(&worker->accounts[i]);
	}
	worker->nservices = 0;
	/* Connections that were handed over too late are dropped here. */
	worker->stopping = true;
	intake_fini(&worker->intake);
	event_loop_free(worker->loop);
	spares_fini(&worker->spares);
	pool_free(worker->pool);
	free(worker->services);
	free(worker->accounts);
	free(worker);
}
