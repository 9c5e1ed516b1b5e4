// SPDX-License-Identifier: BSD-3-Clause
/* Whether the daemon works, and whether clients are to come. */
#include "daemon/http/readiness.h"

#include "daemon/proxy/watchdog.h"

bool readiness_is_healthy(const struct proxy *proxy, FILE *out)
{
	bool all = true;

	for (size_t i = 0; i < proxy->nworkers; i++) {
		if (watchdog_turns(proxy->watchdog, i))
			continue;
		fprintf(out, "worker %zu does not turn\n", i);
		all = false;
	}
	if (all)
		fputs("ok\n", out);
	return all;
}

static bool has_target(const struct targets *targets)
{
	for (unsigned i = 0; i < targets->count; i++)
		if (atomic_load(&targets->list[i].order) == TARGET_UP &&
		    !server_state_is_down(&targets->list[i].server))
			return true;
	return false;
}

static bool takes_clients(const struct service *service, FILE *out)
{
	const char *why = atomic_load(&service->draining) ? "is drained"
			  : !has_target(&service->targets)
				  ? "has no server: each is down or taken away"
				  : NULL;

	if (why)
		fprintf(out, "service %s %s\n", service->config->name, why);
	return !why;
}

bool readiness_is_ready(const struct proxy *proxy, FILE *out)
{
	const struct proxy_service *ps;
	bool all = true;

	if (proxy->stopping) {
		fputs("stopping\n", out);
		return false;
	}
	TAILQ_FOREACH(ps, &proxy->services, entry)
		all &= takes_clients(&ps->service, out);
	if (all)
		fputs("ok\n", out);
	return all;
}
