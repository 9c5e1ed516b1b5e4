// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/proxy_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/loop.h"
#include "daemon/config/config_value.h"
#include "daemon/proxy/accept.h"
#include "daemon/proxy/health_timer.h"
#include "daemon/service/listen_error.h"
#include "daemon/service/listener.h"

/* Any thread: rejected connections must close for newer ones, or a server has become doubtful. */
static void kick(void *arg)
{
	event_loop_kick(arg);
}

static int open_shards(struct proxy_service *ps)
{
	struct proxy *proxy = ps->proxy;

	ps->shards = calloc(proxy->nworkers, sizeof(*ps->shards));
	if (!ps->shards)
		return -ENOMEM;
	for (size_t i = 0; i < proxy->nworkers; i++) {
		int rc = worker_add_service(proxy->workers[i], &ps->service, &ps->shards[i]);

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
	ps->shortages = (struct log_limit){
		.burst = 1, .refill_us = ACCEPT_SHORTAGE_LOG_US, .repeats = true};
	if (service_init(&ps->service, service)) {
		free(ps);
		return NULL;
	}
	ps->config = config_ref(config);
	servers_exclude(&ps->service.servers, &proxy->listen_addrs);
	servers_exclude(&ps->service.mount_servers, &proxy->listen_addrs);
	servers_on_doubt(&ps->service.servers, kick, proxy->loop);
	servers_on_doubt(&ps->service.mount_servers, kick, proxy->loop);
	ps->service.memory = budget_share_new(&proxy->budget, service->name);
	if (!ps->service.memory ||
	    tarpit_init(&ps->tarpit, proxy->loop, &ps->service.limits, kick, proxy->loop) ||
	    open_shards(ps) || health_timer_start(ps)) {
		proxy_service_free(ps);
		return NULL;
	}
	return ps;
}

void proxy_service_free(struct proxy_service *ps)
{
	health_timer_fini(ps);
	proxy_service_unlisten(ps);
	tarpit_fini(&ps->tarpit);
	for (size_t i = 0; ps->shards && i < ps->proxy->nworkers; i++)
		worker_remove_service(ps->proxy->workers[i], ps->shards[i]);
	free(ps->shards);
	service_fini(&ps->service);
	budget_share_free(ps->service.memory);
	config_free(ps->config);
	free(ps);
}

int proxy_service_listen(struct proxy_service *ps, const struct listen_names *names,
			 const struct listen_sockets *have, char *error, size_t error_bytes)
{
	int rc = 0;

	if (!ps->listener)
		rc = listener_open(ps->proxy->loop, ps->service.config, names, have, &accept_events,
				   ps, error, error_bytes, &ps->listener);
	if (rc)
		return rc;
	ps->rejecting = false;
	ps->drain_deadline_us = 0;
	atomic_store(&ps->service.draining, false);
	return 0;
}

void proxy_service_unlisten(struct proxy_service *ps)
{
	listener_close(ps->listener);
	ps->listener = NULL;
}

void proxy_service_close_listener(struct proxy_service *ps)
{
	const char *name = ps->service.config->name;

	if (socket_activation_has(&ps->proxy->inherited, name)) {
		ps->rejecting = true;
		return;
	}
	proxy_service_unlisten(ps);
	socket_activation_unstore(name);
}

void proxy_service_drain(struct proxy_service *ps, uint32_t timeout_s)
{
	ps->drain_deadline_us = loop_now_us(ps->proxy->loop) + (uint64_t)timeout_s * 1000000;
	atomic_store(&ps->service.draining, true);
	for (size_t i = 0; i < ps->proxy->nworkers; i++)
		worker_drain(ps->shards[i]);
}

void proxy_service_close_connections(struct proxy_service *ps)
{
	ps->drain_deadline_us = 0;
	for (size_t i = 0; i < ps->proxy->nworkers; i++)
		worker_close_connections(ps->shards[i]);
}

bool proxy_service_is_free(struct proxy_service *ps)
{
	return !ps->users && !ps->listener && !atomic_load(&ps->service.connections) &&
	       !health_timer_is_busy(ps) && !servers_are_resolving(&ps->service.servers) &&
	       !servers_are_resolving(&ps->service.mount_servers);
}
