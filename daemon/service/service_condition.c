// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/service_condition.h"

#include "daemon/base/clock.h"

static const char *const names[] = {
#define CONDITION_NAME(name, text) [CONDITION_##name] = (text),
	CONDITIONS(CONDITION_NAME)
#undef CONDITION_NAME
};

const char *condition_name(enum condition condition)
{
	return names[condition];
}

/* Another server of the service may answer: only that of the oldest Call counts. */
static bool is_silent(const struct late_calls_info *late, uint64_t now_us)
{
	struct server_health_info info;

	if (!late_calls_are_long(late, now_us))
		return false;
	/* The lock of the state is the only thing that changes. */
	server_health_get((struct server_health *)&late->target->health, now_us, &info);
	return info.silent_us >= LATE_CALL_WARN_US;
}

static void set_reach(struct service_condition *out)
{
	static const enum condition conditions[] = {[SERVER_UNKNOWN] = CONDITION_UNKNOWN,
						    [SERVER_OK] = CONDITION_OK,
						    [SERVER_DOWN] = CONDITION_DOWN};

	out->condition = conditions[out->health.reach];
	out->has_age = out->health.reach != SERVER_UNKNOWN;
	out->age_us = out->health.age_us;
}

void service_condition_get(struct service *service, uint64_t now_us, struct service_condition *out)
{
	*out = (struct service_condition){.late = late_calls_get(&service->late)};
	out->server = servers_best(&service->servers, true, now_us, &out->health);
	if (!out->server) {
		out->condition = CONDITION_DISABLED;
		out->server = &service->servers.list[0];
		server_health_get(&service->servers.list[0].health, now_us, &out->health);
		return;
	}
	set_reach(out);
	if (out->condition == CONDITION_DOWN || !is_silent(&out->late, now_us))
		return;
	out->condition = CONDITION_SILENT;
	out->server = out->late.target;
	out->has_age = true;
	out->age_us = clock_elapsed_us(out->late.oldest_start_us, now_us);
}
