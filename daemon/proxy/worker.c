// SPDX-License-Identifier: BSD-3-Clause
/* A worker: one thread with a loop, buffers and a budget of its own, and the bridges pinned to it. */
#include "daemon/proxy/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "leg/exchange.h"

static size_t largest_message(const struct service *services, size_t nservices)
{
	uint32_t most = 0;

	for (size_t i = 0; i < nservices; i++)
		if (services[i].config->max_message_bytes > most)
			most = services[i].config->max_message_bytes;
	return rpc_msg_cost_bytes(most);
}

static bool is_idle(const struct worker *worker)
{
	for (size_t i = 0; i < worker->nservices; i++)
		if (!TAILQ_EMPTY(&worker->services[i].bridges))
			return false;
	return true;
}

void worker_bridge_gone(struct worker *worker)
{
	if (worker->stopping && is_idle(worker))
		event_loop_stop(worker->loop);
}

/* ---- adopting connections ---- */

struct adoption {
	struct worker *worker;
	size_t service;
	struct incoming in;
	uint64_t id;
};

static void disown(struct worker *worker, size_t service)
{
	atomic_fetch_sub(&worker->services[service].service->connections, 1);
	atomic_fetch_sub(&worker->connections, 1);
}

static void adopt(void *arg)
{
	struct adoption *adoption = arg;
	struct worker *worker = adoption->worker;
	struct worker_service *ws = &worker->services[adoption->service];
	int rc;

	if (worker->stopping) {
		incoming_drop(&adoption->in);
		disown(worker, adoption->service);
	} else {
		rc = bridge_new(ws, &adoption->in, adoption->id);
		if (rc) {
			log_error(NULL, "%s: cannot take a connection: %s",
				  ws->service->config->name, strerror(-rc));
			ws->closes[LEG_CLOSE_RESOURCES]++;
			disown(worker, adoption->service);
		}
	}
	free(adoption);
}

int worker_adopt(struct worker *worker, size_t service, const struct incoming *in, uint64_t id)
{
	struct adoption *adoption = malloc(sizeof(*adoption));

	atomic_fetch_add(&worker->connections, 1);
	atomic_fetch_add(&worker->services[service].service->connections, 1);
	if (adoption) {
		*adoption = (struct adoption){worker, service, *in, id};
		if (!event_loop_post(worker->loop, adopt, adoption))
			return 0;
	}
	free(adoption);
	incoming_drop(in);
	disown(worker, service);
	return -ENOMEM;
}

/* ---- life ---- */

static void stop(void *arg)
{
	struct worker *worker = arg;

	worker->stopping = true;
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
	sigset_t all, before;
	char name[16];
	int rc;

	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&worker->thread, NULL, run, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return -rc;
	snprintf(name, sizeof(name), "worker-%u", worker->index % 10000);
	pthread_setname_np(worker->thread, name);
	return 0;
}

static int make_services(struct worker *worker, struct service *services, size_t nservices)
{
	worker->services = calloc(nservices, sizeof(*worker->services));
	if (!worker->services && nservices)
		return -ENOMEM;
	worker->nservices = nservices;
	for (size_t i = 0; i < nservices; i++) {
		struct worker_service *ws = &worker->services[i];
		struct iwarp_config iwarp;
		struct verbs_config verbs;

		TAILQ_INIT(&ws->bridges);
		ws->worker = worker;
		ws->service = &services[i];
		service_iwarp_config(services[i].config, &iwarp);
		ws->iwarp = iwarp_fabric_new(worker->loop, worker->pool, &iwarp);
		if (!ws->iwarp || tcp_worker_init(&ws->tcp))
			return -ENOMEM;
		if (!service_wants_verbs(services[i].config) || !verbs_devices_present())
			continue;
		service_verbs_config(services[i].config, &verbs);
		ws->verbs = verbs_fabric_new(worker->loop, worker->pool, &verbs);
		if (!ws->verbs)
			log_warning(NULL, "%s: no use of the RDMA devices: %s",
				    services[i].config->name, strerror(errno));
	}
	return 0;
}

struct worker *worker_new(unsigned index, struct service *services, size_t nservices,
			  size_t memory_bytes)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	worker->index = index;
	worker->loop = event_loop_new();
	if (!worker->loop)
		goto out_free;
	budget_init(&worker->budget, worker->loop, memory_bytes);
	worker->pool = pool_new(largest_message(services, nservices));
	if (!worker->pool)
		goto out_free;
	if (make_services(worker, services, nservices) || start_thread(worker))
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
		fabric_free(worker->services[i].iwarp);
		fabric_free(worker->services[i].verbs);
		tcp_worker_fini(&worker->services[i].tcp);
	}
	/* Connections that were handed over too late are dropped here. */
	worker->stopping = true;
	if (worker->loop) {
		budget_fini(&worker->budget);
		event_loop_free(worker->loop);
	}
	pool_free(worker->pool);
	free(worker->services);
	free(worker);
}
