// SPDX-License-Identifier: BSD-3-Clause
/* The servers of a service as the control socket shows them. */
#include "daemon/view/server_json.h"

static const char *const reach_names[] = {
	[SERVER_UNKNOWN] = "unknown", [SERVER_OK] = "ok", [SERVER_DOWN] = "down"};

static json_t *json_text(const char *text)
{
	return text[0] ? json_string(text) : json_null();
}

static json_t *reach_age(const struct server_info *info)
{
	return info->reach != SERVER_UNKNOWN ? json_real(info->age_us / 1e6) : json_null();
}

/* What is said of all: that they are down only if none is known to answer, or has yet to be asked. */
static void best_server(uint64_t now_us, struct service *service, struct server_info *best)
{
	static const unsigned worth[] = {[SERVER_UNKNOWN] = 1, [SERVER_OK] = 2, [SERVER_DOWN] = 0};
	unsigned waiting = 0;

	for (unsigned i = 0; i < service->targets.count; i++) {
		struct server_info info;

		server_state_get(&service->targets.list[i].server, now_us, &info);
		waiting += info.waiting;
		if (!i || worth[info.reach] > worth[best->reach])
			*best = info;
	}
	best->waiting = waiting;
}

json_t *server_json(struct service *service, uint64_t now_us)
{
	struct server_info info;

	best_server(now_us, service, &info);
	return json_pack("{s:s, s:o, s:o, s:o, s:i, s:I, s:i}", "state", reach_names[info.reach],
			 "state_age_s", reach_age(&info), "error", json_text(info.error), "address",
			 json_text(info.addr), "waiting_clients", (int)info.waiting,
			 "attempts_failed", (json_int_t)info.failed, "late_calls",
			 late_calls_count(&service->late));
}

static json_t *target_json(struct targets *targets, struct target *target, uint64_t now_us)
{
	struct server_info server;
	struct target_info info;

	server_state_get(&target->server, now_us, &server);
	target_info_get(targets, target, now_us, &info);
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:i, s:I, s:I, s:I, s:o, s:o}",
			 "connect", target->text, "order", target_order_name(info.order), "state",
			 reach_names[server.reach], "state_age_s", reach_age(&server), "error",
			 json_text(server.error), "address", json_text(server.addr), "tried_last_s",
			 info.last_us ? json_real(info.last_us / 1e6) : json_null(), "connections",
			 (int)info.connections, "connections_total",
			 (json_int_t)info.connections_total, "attempts", (json_int_t)info.attempts,
			 "failures", (json_int_t)info.failures, "last_error", json_text(info.error),
			 "last_error_age_s",
			 info.error[0] ? json_real(info.error_age_us / 1e6) : json_null());
}

json_t *targets_json(struct targets *targets, uint64_t now_us)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < targets->count; i++)
		json_array_append_new(list, target_json(targets, &targets->list[i], now_us));
	return list;
}
