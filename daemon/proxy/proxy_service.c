// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/proxy_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/loop.h"
#include "daemon/config/config_value.h"
#include "daemon/proxy/admission.h"
#include "daemon/proxy/probing.h"
#include "daemon/service/listen_error.h"
#include "daemon/service/listener.h"

/* Any thread: rejected connections must close for newer ones, or a server has become doubtful. */
static void kick(void *arg)
{
	event_loop_kick(arg);
}

static int open_stations(struct proxy_service *ps)
{
	struct proxy *proxy = ps->proxy;

	ps->stations = calloc(proxy->nworkers, sizeof(*ps->stations));
	if (!ps->stations)
		return -ENOMEM;
	for (size_t i = 0; i < proxy->nworkers; i++) {
		int rc = worker_open(proxy->workers[i], &ps->service, &ps->stations[i]);

		if (rc)
			return rc;
	}
	return 0;
}

struct proxy_service *proxy_service_new(struct proxy *proxy, struct config *config,
					const struct service_config *service)
{
	struct proxy_service *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return NULL;
	ps->proxy = proxy;
	ps->shortages =
		(struct log_limit){.burst = 1, .refill_us = ADMISSION_TELL_US, .repeats = true};
	if (service_init(&ps->service, service)) {
		free(ps);
		return NULL;
	}
	ps->config = config_ref(config);
	targets_avoid(&ps->service.targets, &proxy->doors);
	targets_avoid(&ps->service.mounts, &proxy->doors);
	targets_on_doubt(&ps->service.targets, kick, proxy->loop);
	targets_on_doubt(&ps->service.mounts, kick, proxy->loop);
	ps->service.memory = budget_part_new(&proxy->budget, service->name);
	if (!ps->service.memory ||
	    lobby_init(&ps->lobby, proxy->loop, &ps->service.door, kick, proxy->loop) ||
	    open_stations(ps) || probing_begin(ps)) {
		proxy_service_free(ps);
		return NULL;
	}
	return ps;
}

void proxy_service_free(struct proxy_service *ps)
{
	probing_fini(ps);
	proxy_service_unlisten(ps);
	lobby_fini(&ps->lobby);
	for (size_t i = 0; ps->stations && i < ps->proxy->nworkers; i++)
		worker_close(ps->proxy->workers[i], ps->stations[i]);
	free(ps->stations);
	service_fini(&ps->service);
	budget_part_free(ps->service.memory);
	config_free(ps->config);
	free(ps);
}

int proxy_service_listen(struct proxy_service *ps, const struct listen_names *names,
			 const struct listen_sockets *have, char *error, size_t error_bytes)
{
	int rc = 0;

	if (!ps->listener)
		rc = listener_open(ps->proxy->loop, ps->service.config, names, have,
				   &admission_events, ps, error, error_bytes, &ps->listener);
	if (rc)
		return rc;
	ps->refuses = false;
	ps->cut_us = 0;
	atomic_store(&ps->service.draining, false);
	return 0;
}

void proxy_service_unlisten(struct proxy_service *ps)
{
	listener_close(ps->listener);
	ps->listener = NULL;
}

void proxy_service_shut(struct proxy_service *ps)
{
	const char *name = ps->service.config->name;

	if (sd_fds_is_held(&ps->proxy->held, name)) {
		ps->refuses = true;
		return;
	}
	proxy_service_unlisten(ps);
	sd_unstore(name);
}

void proxy_service_drain(struct proxy_service *ps, uint32_t timeout_s)
{
	ps->cut_us = loop_now_us(ps->proxy->loop) + (uint64_t)timeout_s * 1000000;
	atomic_store(&ps->service.draining, true);
	for (size_t i = 0; i < ps->proxy->nworkers; i++)
		worker_drain(ps->stations[i]);
}

void proxy_service_cut(struct proxy_service *ps)
{
	ps->cut_us = 0;
	for (size_t i = 0; i < ps->proxy->nworkers; i++)
		worker_cut(ps->stations[i]);
}

bool proxy_service_is_free(struct proxy_service *ps)
{
	return !ps->users && !ps->listener && !atomic_load(&ps->service.connections) &&
	       !probing_is_out(ps) && !targets_are_sought(&ps->service.targets) &&
	       !targets_are_sought(&ps->service.mounts);
}
