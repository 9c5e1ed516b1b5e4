// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/backend.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/service/service_net.h"

int backend_init(struct backend *backend, struct servers *servers, bool asks_rpcbind,
		 const struct worker_env *env)
{
	unsigned n = servers->count;

	*backend = (struct backend){
		.servers = servers,
		.names = calloc(n + 1, sizeof(*backend->names)),
		.mountd_caches =
			asks_rpcbind ? calloc(n + 1, sizeof(*backend->mountd_caches)) : NULL,
	};
	if (!backend->names || (asks_rpcbind && !backend->mountd_caches))
		return -ENOMEM;
	for (unsigned i = 0; asks_rpcbind && i < n; i++)
		mountd_cache_init(&backend->mountd_caches[i], env->loop);
	for (unsigned i = 0; i < n; i++)
		if (dns_waiters_init(&backend->names[i], &servers->list[i].name, env->loop,
				     env->resolver, env->wake, env->arg))
			return -ENOMEM;
	return 0;
}

void backend_fini(struct backend *backend)
{
	for (unsigned i = 0; backend->servers && i < backend->servers->count; i++) {
		if (backend->names)
			dns_waiters_fini(&backend->names[i]);
		if (backend->mountd_caches)
			mountd_cache_fini(&backend->mountd_caches[i]);
	}
	free(backend->names);
	free(backend->mountd_caches);
	*backend = (struct backend){0};
}

void backend_woken(struct backend *backend)
{
	for (unsigned i = 0; i < backend->servers->count; i++)
		dns_waiters_woken(&backend->names[i]);
}
