// SPDX-License-Identifier: BSD-3-Clause
/* Metrics of services and their servers. */
#include "daemon/config/config_value.h"
#include "daemon/http/metrics_families.h"

void metrics_service_info(struct metrics_text *text, const struct metrics_source *source)
{
	for (size_t i = 0; i < source->gathered->nservices; i++) {
		const struct service_config *config = source->gathered->services[i]->service.config;
		char listen[CONFIG_URI_TEXT_BYTES], connect[CONFIG_URI_TEXT_BYTES];

		metrics_text_put(
			text,
			METRICS_LABELS({"service", config->name},
				       {"listen", config_uri_text(&config->listen, listen)},
				       {"connect", config_uri_text(&config->connect, connect)}),
			1);
	}
}

double metrics_service_draining(const struct metrics_service *service)
{
	return atomic_load(&service->gathered->services[service->i]->service.draining);
}

void metrics_connections(struct metrics_text *text, const struct metrics_source *source)
{
	for (size_t i = 0; i < source->gathered->nservices; i++) {
		const char *name = source->gathered->services[i]->service.config->name;

		for (unsigned k = 0; k < LOAD_FABRIC_COUNT; k++)
			metrics_text_put(
				text,
				METRICS_LABELS({"service", name}, {"fabric", load_fabric_name(k)}),
				(double)source->gathered->loads[i].connections[k]);
	}
}

double metrics_connections_limit(const struct metrics_service *service)
{
	return service->gathered->services[service->i]->service.config->max_connections;
}

double metrics_accepted(const struct metrics_service *service)
{
	return (double)atomic_load(
		&service->gathered->services[service->i]->service.connections_total);
}

/* Only what has happened is shown, of this and the next. */
void metrics_refused(struct metrics_text *text, const struct metrics_source *source)
{
	char reason[STATS_CLOSE_NAME_BYTES];

	for (size_t i = 0; i < source->gathered->nservices; i++) {
		const struct proxy_service *ps = source->gathered->services[i];

		for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++)
			if (ps->refused[why])
				metrics_text_put(
					text,
					METRICS_LABELS({"service", ps->service.config->name},
						       {"reason", stats_close_name(why, reason)}),
					(double)ps->refused[why]);
	}
}

static void put_closed(struct metrics_text *text, const char *service, const char *side,
		       const uint64_t *closes)
{
	char reason[STATS_CLOSE_NAME_BYTES];

	for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++)
		if (closes[why])
			metrics_text_put(text,
					 METRICS_LABELS({"service", service}, {"side", side},
							{"reason", stats_close_name(why, reason)}),
					 (double)closes[why]);
}

void metrics_closed(struct metrics_text *text, const struct metrics_source *source)
{
	for (size_t i = 0; i < source->gathered->nservices; i++) {
		const char *name = source->gathered->services[i]->service.config->name;
		const struct stats *stats = &source->gathered->stats[i];

		put_closed(text, name, "client", stats->closes[CLOSE_BY_CLIENT]);
		put_closed(text, name, "upstream", stats->closes[CLOSE_BY_SERVER]);
		put_closed(text, name, "proxy", stats->closes[CLOSE_BY_PROXY]);
	}
}

double metrics_fallbacks(const struct metrics_service *service)
{
	return (double)service->gathered->loads[service->i].fabric_fallbacks;
}

double metrics_shortfalls(const struct metrics_service *service)
{
	return (double)stats_value(&service->gathered->stats[service->i], STATS_UPSTREAM, "tcp",
				   "source_port_shortfalls");
}

double metrics_memory_claimed(const struct metrics_service *service)
{
	return (double)service->gathered->memory[service->i].claimed_bytes;
}

/* A sample for each server of each service. */
void metrics_each_target(struct metrics_text *text, const struct gathered *gathered,
			 double (*value)(const struct target *target,
					 const struct target_info *info))
{
	uint64_t now_us = loop_now_us(gathered->proxy->loop);

	for (size_t i = 0; i < gathered->nservices; i++) {
		struct service *service = &gathered->services[i]->service;

		for (unsigned k = 0; k < service->targets.count; k++) {
			const struct target *target = &service->targets.list[k];
			struct target_info info;

			target_info_get(&service->targets, target, now_us, &info);
			metrics_text_put(text,
					 METRICS_LABELS({"service", service->config->name},
							{"target", target->text}),
					 value(target, &info));
		}
	}
}

double metrics_target_up(const struct target *target, const struct target_info *info)
{
	return info->order != TARGET_DOWN && !server_state_is_down(&target->server);
}

double metrics_target_connections(const struct target *target, const struct target_info *info)
{
	return info->connections;
}

double metrics_target_failures(const struct target *target, const struct target_info *info)
{
	return (double)info->failures;
}
