// SPDX-License-Identifier: BSD-3-Clause
/* A service as one worker sees it. */
#include "daemon/service/worker_service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"

/* Without verbs the service goes on over what it has. */
static void open_verbs(struct worker_service *ws)
{
	const struct service_config *config = ws->service->config;
	struct verbs_config verbs;

	if (!service_wants_verbs(config) || !verbs_devices_present())
		return;
	service_verbs_config(config, &verbs);
	verbs.vector = ws->ground->worker;
	ws->verbs = verbs_fabric_new(ws->ground->loop, ws->ground->pool, &verbs);
	if (!ws->verbs && !ws->service->is_silent)
		log_warning(LOG_ABOUT(.service = config->name), "no use of the RDMA devices: %s",
			    strerror(errno));
}

/* One for each of @targets, all zero before. */
static int add_names(struct worker_service *ws, struct targets *targets, struct name_desk **names)
{
	const struct worker_ground *ground = ws->ground;

	*names = calloc(targets->count + 1, sizeof(**names));
	if (!*names)
		return -ENOMEM;
	for (unsigned i = 0; i < targets->count; i++)
		if (name_desk_init(&(*names)[i], &targets->list[i].name, ground->loop,
				   ground->resolver, ground->wake, ground->arg))
			return -ENOMEM;
	return 0;
}

int worker_service_add_desks(struct worker_service *ws)
{
	struct service *service = ws->service;
	unsigned n = service->mounts.targets.count;

	if (add_names(ws, &service->targets, &ws->names) ||
	    add_names(ws, &service->mounts.targets, &ws->mount_names))
		return -ENOMEM;
	if (service->config->mount.way != MOUNT_RPCBIND)
		return 0;
	ws->mount_desks = calloc(n, sizeof(*ws->mount_desks));
	for (unsigned i = 0; ws->mount_desks && i < n; i++)
		mount_desk_init(&ws->mount_desks[i], ws->ground->loop);
	return ws->mount_desks ? 0 : -ENOMEM;
}

static void free_names(const struct targets *targets, struct name_desk **names)
{
	for (unsigned i = 0; *names && i < targets->count; i++)
		name_desk_fini(&(*names)[i]);
	free(*names);
	*names = NULL;
}

void worker_service_free_desks(struct worker_service *ws)
{
	const struct targets *mounts = &ws->service->mounts.targets;

	free_names(&ws->service->targets, &ws->names);
	free_names(mounts, &ws->mount_names);
	for (unsigned i = 0; ws->mount_desks && i < mounts->count; i++)
		mount_desk_fini(&ws->mount_desks[i]);
	free(ws->mount_desks);
	ws->mount_desks = NULL;
}

void worker_service_names_woken(struct worker_service *ws)
{
	for (unsigned i = 0; i < ws->service->targets.count; i++)
		name_desk_woken(&ws->names[i]);
	for (unsigned i = 0; i < ws->service->mounts.targets.count; i++)
		name_desk_woken(&ws->mount_names[i]);
}

int worker_service_init(struct worker_service *ws, const struct worker_ground *ground,
			struct service *service, struct budget_account *account)
{
	struct iwarp_config iwarp;

	*ws = (struct worker_service){.ground = ground, .service = service, .account = account};
	TAILQ_INIT(&ws->bridges);
	if (worker_service_add_desks(ws))
		return -ENOMEM;
	door_side_init(&ws->side, ground->wake, ground->arg);
	service_iwarp_config(service->config, &iwarp);
	ws->iwarp = iwarp_fabric_new(ground->loop, ground->pool, &iwarp);
	socket_net_init(&ws->sockets, ground->loop, ground->ports,
			(uint64_t)service->config->stall_timeout_s * 1000000,
			service->config->keepalive_s);
	if (!ws->iwarp || tcp_worker_init(&ws->tcp, &ws->sockets.net))
		return -ENOMEM;
	open_verbs(ws);
	return 0;
}

void worker_service_fini(struct worker_service *ws)
{
	worker_service_free_desks(ws);
	call_stats_fini(&ws->calls);
	fabric_free(ws->iwarp);
	fabric_free(ws->verbs);
	tcp_worker_fini(&ws->tcp);
}
