// SPDX-License-Identifier: BSD-3-Clause
/* What the daemon consists of on the main thread. */
#include "daemon/proxy/proxy_parts.h"

#include <string.h>

static unsigned connections_of(const struct proxy_service_list *list)
{
	const struct proxy_service *ps;
	unsigned sum = 0;

	TAILQ_FOREACH(ps, list, entry)
		sum += atomic_load(&ps->service.connections);
	return sum;
}

unsigned proxy_connections(const struct proxy *proxy)
{
	return connections_of(&proxy->services) + connections_of(&proxy->leaving);
}

struct proxy_service *proxy_service_find(const struct proxy *proxy, const char *name)
{
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry)
		if (!strcmp(ps->service.config->name, name))
			return ps;
	return NULL;
}
