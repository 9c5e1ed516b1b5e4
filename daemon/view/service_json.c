// SPDX-License-Identifier: BSD-3-Clause
/* What the main thread knows for the answers to status and services. */
#include "daemon/view/service_json.h"

#include <config.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "daemon/base/likeness.h"
#include "daemon/base/log.h"
#include "daemon/config/config_print.h"
#include "daemon/config/config_value.h"
#include "daemon/proxy/proxy.h"
#include "daemon/proxy/proxy_parts.h"
#include "daemon/service/listener.h"
#include "daemon/view/server_json.h"
#include "daemon/view/stats.h"

static int leaving(const struct proxy *proxy)
{
	const struct proxy_service *ps;
	int n = 0;

	TAILQ_FOREACH(ps, &proxy->leaving, entry)
		n++;
	return n;
}

json_t *status_json(const struct proxy *proxy)
{
	return json_pack("{s:s, s:i, s:f, s:s, s:I, s:i, s:i, s:i, s:i, s:b}", "version",
			 PACKAGE_VERSION, "pid", (int)getpid(), "uptime_s",
			 (loop_now_us(proxy->loop) - proxy->start_us) / 1e6, "log_level",
			 log_level_name(log_level()), "log_lines_dropped",
			 (json_int_t)log_lines_dropped(), "workers", (int)proxy->nworkers,
			 "services", (int)proxy->nservices, "connections", proxy_connections(proxy),
			 "services_leaving", leaving(proxy), "stopping", proxy->stopping);
}

static json_t *listens_json(const struct service_config *config)
{
	char text[CONFIG_URI_TEXT_BYTES];
	json_t *list = json_array();

	for (unsigned i = 0; i < config_nlisteners(config); i++)
		json_array_append_new(
			list, json_string(config_uri_text(config_listener(config, i), text)));
	return list;
}

static json_t *service_json(const struct proxy *proxy, struct proxy_service *ps)
{
	struct service *service = &ps->service;
	const struct service_config *config = service->config;
	char listen[CONFIG_URI_TEXT_BYTES], connect[CONFIG_URI_TEXT_BYTES];
	char name[STATS_CLOSE_NAME_BYTES], mount[CONFIG_URI_TEXT_BYTES];
	uint64_t now_us = loop_now_us(proxy->loop);
	json_t *refused = json_object();
	struct door_counts counts;

	for (size_t why = 0; why < LEG_CLOSE_COUNT; why++)
		if (ps->refused[why])
			json_object_set_new(refused, stats_close_name(why, name),
					    json_integer(ps->refused[why]));
	door_counts_get(&service->door, &counts);
	return json_pack(
		"{s:s, s:s, s:s, s:i, s:I, s:i, s:i, s:i, s:i, s:o, s:o, s:b, s:s, s:o, s:o, s:s, s:o}",
		"name", config->name, "listen", config_uri_text(&config->listen, listen), "connect",
		config_uri_text(&config->connect, connect), "connections",
		atomic_load(&service->connections), "connections_total",
		(json_int_t)atomic_load(&service->connections_total), "max_connections",
		config->max_connections, "max_connections_per_client",
		config->max_connections_per_client, "half_open",
		counts.half_open + listener_unnamed(ps->listener), "held", counts.held, "refused",
		refused, "server", server_json(service, now_us), "draining",
		(int)atomic_load(&service->draining), "balance",
		config->balance == BALANCE_SOURCE ? "source" : "standby", "targets",
		targets_json(&service->targets, now_us), "listens", listens_json(config), "mount",
		config_mount_text(&config->mount, mount), "mount_targets",
		targets_json(&service->mounts, now_us));
}

json_t *services_json(const struct proxy *proxy, struct proxy_service *const *services,
		      size_t nservices)
{
	json_t *list = json_array();

	for (size_t i = 0; i < nservices; i++)
		json_array_append_new(list, service_json(proxy, services[i]));
	return json_pack("{s:o}", "services", list);
}

json_t *config_json(const struct config *config)
{
	json_t *lines = json_array();
	char *text = NULL, *rest;
	const char *line;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out) {
		json_decref(lines);
		return NULL;
	}
	config_print(config, out);
	if (fclose(out)) {
		free(text);
		json_decref(lines);
		return NULL;
	}
	rest = text;
	while ((line = strsep(&rest, "\n")) && rest)
		json_array_append_new(lines, json_string(line));
	free(text);
	return json_pack("{s:s, s:o}", "file", config->file, "lines", lines);
}

/* The name that is most like it, or NULL. */
static const char *nearest(const struct proxy *proxy, const char *name)
{
	const struct proxy_service *ps;
	unsigned best = UINT_MAX;
	const char *found = NULL;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		unsigned edits = likeness_edits(name, ps->service.config->name);

		if (edits >= best)
			continue;
		best = edits;
		found = ps->service.config->name;
	}
	return found;
}

json_t *no_service_json(const struct proxy *proxy, const char *name)
{
	const char *meant = nearest(proxy, name);

	if (meant)
		return json_pack("{s:o}", "error",
				 json_sprintf("there is no service %s: is %s meant?", name, meant));
	return json_pack("{s:o}", "error", json_sprintf("there is no service %s", name));
}
