// SPDX-License-Identifier: BSD-3-Clause
/* Metrics of services and their servers. */
#include "daemon/config/config_value.h"
#include "daemon/http/metrics_families.h"

/* A service, as the functions below need it. */
struct one {
	const struct metrics_source *source;
	size_t i;
	struct proxy_service *ps;
	const char *name;
};

/* A sample for each service, of what @value says. */
static void put_each(struct metrics_text *text, const struct metrics_source *source,
		     double (*value)(const struct one *one))
{
	for (size_t i = 0; i < source->gathered->nservices; i++) {
		struct proxy_service *ps = source->gathered->services[i];
		const struct one one = {source, i, ps, ps->service.config->name};

		metrics_text_put(text, METRICS_LABELS({"service", one.name}), value(&one));
	}
}

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

static double draining(const struct one *one)
{
	return atomic_load(&one->ps->service.draining);
}

void metrics_service_draining(struct metrics_text *text, const struct metrics_source *source)
{
	put_each(text, source, draining);
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

static double connections_limit(const struct one *one)
{
	return one->ps->service.config->max_connections;
}

void metrics_connections_limit(struct metrics_text *text, const struct metrics_source *source)
{
	put_each(text, source, connections_limit);
}

static double accepted(const struct one *one)
{
	return (double)atomic_load(&one->ps->service.connections_total);
}

void metrics_accepted(struct metrics_text *text, const struct metrics_source *source)
{
	put_each(text, source, accepted);
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

static double fallbacks(const struct one *one)
{
	return (double)one->source->gathered->loads[one->i].fabric_fallbacks;
}

void metrics_fallbacks(struct metrics_text *text, const struct metrics_source *source)
{
	put_each(text, source, fallbacks);
}

static double shortfalls(const struct one *one)
{
	return (double)stats_value(&one->source->gathered->stats[one->i], STATS_UPSTREAM, "tcp",
				   "source_port_shortfalls");
}

void metrics_shortfalls(struct metrics_text *text, const struct metrics_source *source)
{
	put_each(text, source, shortfalls);
}

static double claimed(const struct one *one)
{
	return (double)one->source->gathered->memory[one->i].claimed_bytes;
}

void metrics_memory_claimed(struct metrics_text *text, const struct metrics_source *source)
{
	put_each(text, source, claimed);
}

/* A sample for each server of each service. */
static void put_targets(struct metrics_text *text, const struct metrics_source *source,
			double (*value)(const struct target *target,
					const struct target_info *info))
{
	uint64_t now_us = loop_now_us(source->gathered->proxy->loop);

	for (size_t i = 0; i < source->gathered->nservices; i++) {
		struct service *service = &source->gathered->services[i]->service;

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

static double target_up(const struct target *target, const struct target_info *info)
{
	return info->order != TARGET_DOWN && !server_state_is_down(&target->server);
}

void metrics_target_up(struct metrics_text *text, const struct metrics_source *source)
{
	put_targets(text, source, target_up);
}

static double target_connections(const struct target *target, const struct target_info *info)
{
	return info->connections;
}

void metrics_target_connections(struct metrics_text *text, const struct metrics_source *source)
{
	put_targets(text, source, target_connections);
}

static double target_failures(const struct target *target, const struct target_info *info)
{
	return (double)info->failures;
}

void metrics_target_failures(struct metrics_text *text, const struct metrics_source *source)
{
	put_targets(text, source, target_failures);
}
