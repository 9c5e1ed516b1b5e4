// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/http/readiness.h"

#include "daemon/proxy/watchdog.h"
#include "daemon/service/service_condition.h"

enum readiness readiness_health(const struct proxy *proxy, FILE *out)
{
	enum readiness found = READINESS_GOOD;

	for (size_t i = 0; i < proxy->nworkers; i++) {
		if (watchdog_is_alive(proxy->watchdog, i))
			continue;
		fprintf(out, "worker %zu is not responding\n", i);
		found = READINESS_BAD;
	}
	if (found == READINESS_GOOD)
		fputs("ok\n", out);
	return found;
}

/* Returns why the service cannot serve clients, or NULL. */
static const char *reason_against(struct proxy_service *ps, uint64_t now_us)
{
	struct service_condition condition;

	if (atomic_load(&ps->service.draining))
		return "is drained";
	if (!ps->listener)
		return "does not listen: its address could not be opened again";
	service_condition_get(&ps->service, now_us, &condition);
	if (!condition_has_server(condition.condition))
		return "has no usable server: all are down or disabled";
	return NULL;
}

static void print_reasons(const struct proxy *proxy, uint64_t now_us, FILE *out)
{
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		const char *why = reason_against(ps, now_us);

		if (why)
			fprintf(out, "service %s %s\n", ps->service.config->name, why);
	}
}

static size_t count_serving(const struct proxy *proxy, uint64_t now_us)
{
	struct proxy_service *ps;
	size_t count = 0;

	TAILQ_FOREACH(ps, &proxy->services, entry)
		count += !reason_against(ps, now_us);
	return count;
}

static enum readiness readiness_of_service(struct proxy_service *ps, uint64_t now_us, FILE *out)
{
	const char *why = reason_against(ps, now_us);

	if (!why)
		fputs("ok\n", out);
	else
		fprintf(out, "service %s %s\n", ps->service.config->name, why);
	return why ? READINESS_BAD : READINESS_GOOD;
}

enum readiness readiness_get(const struct proxy *proxy, enum readiness_of of, const char *name,
			     uint64_t now_us, FILE *out)
{
	struct proxy_service *ps = of == READINESS_OF_ONE ? proxy_service_find(proxy, name) : NULL;
	size_t serving = count_serving(proxy, now_us);
	bool good = of == READINESS_OF_ANY ? serving > 0 : serving == proxy->nservices;

	if (proxy->stopping) {
		fputs("stopping\n", out);
		return READINESS_BAD;
	}
	if (of == READINESS_OF_ONE) {
		if (ps)
			return readiness_of_service(ps, now_us, out);
		fputs("there is no such service\n", out);
		return READINESS_UNKNOWN;
	}
	if (good)
		fputs("ok\n", out);
	else if (!proxy->nservices)
		fprintf(out, "there is no service: add one to %s\n", proxy->config->file);
	print_reasons(proxy, now_us, out);
	return good ? READINESS_GOOD : READINESS_BAD;
}
