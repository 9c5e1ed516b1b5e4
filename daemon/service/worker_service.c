// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/worker_service.h"

#include <errno.h>

int worker_service_add_backends(struct worker_service *ws)
{
	struct service *service = ws->service;
	bool asks_rpcbind = service->config->mount.way == MOUNT_RPCBIND;

	if (backend_init(&ws->servers, &service->servers, false, ws->env) ||
	    backend_init(&ws->mount_servers, &service->mount_servers, asks_rpcbind, ws->env))
		return -ENOMEM;
	return 0;
}

void worker_service_free_backends(struct worker_service *ws)
{
	backend_fini(&ws->servers);
	backend_fini(&ws->mount_servers);
}

void worker_service_names_woken(struct worker_service *ws)
{
	backend_woken(&ws->servers);
	backend_woken(&ws->mount_servers);
}

int worker_service_init(struct worker_service *ws, const struct worker_env *env,
			struct service *service, struct budget_account *account)
{
	*ws = (struct worker_service){.env = env, .service = service, .account = account};
	TAILQ_INIT(&ws->bridges);
	tls_worker_limits_init(&ws->tls_handshakes);
	conn_limits_thread_init(&ws->thread, env->wake, env->arg);
	if (worker_service_add_backends(ws))
		return -ENOMEM;
	return service_net_init(&ws->net, env, service->config, service, service->tls,
				service_verbs_listens(service->config) ||
					service_verbs_connects(service->config));
}

void worker_service_fini(struct worker_service *ws)
{
	worker_service_free_backends(ws);
	call_stats_fini(&ws->calls);
	service_net_fini(&ws->net);
}
