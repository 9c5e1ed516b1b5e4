// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/view/answer.h"

#include <config.h>

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/compiler.h"
#include "daemon/base/address.h"
#include "daemon/base/edit_distance.h"
#include "daemon/base/log.h"
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_print.h"
#include "daemon/config/config_value.h"
#include "daemon/proxy/proxy.h"
#include "daemon/proxy/proxy_priv.h"
#include "daemon/proxy/worker.h"
#include "daemon/service/call_stats.h"
#include "daemon/service/listener.h"
#include "daemon/service/service.h"
#include "daemon/service/service_condition.h"
#include "daemon/view/problems_json.h"
#include "daemon/view/stats.h"

/* ---- shared helpers ---- */

json_t *error_json(const char *format, ...)
{
	json_t *text;
	va_list ap;

	va_start(ap, format);
	text = json_vsprintf(format, ap);
	va_end(ap);
	return json_pack("{s:o}", "error", text);
}

json_t *invalid_selector_json(const char *argument)
{
	return error_json("%s is neither the number of a connection nor an address", argument);
}

json_t *unknown_connection_json(const char *argument)
{
	return error_json("there is no connection %s", argument);
}

json_t *lines_json(const char *text)
{
	json_t *list = json_array();

	while (text && *text) {
		size_t len = strcspn(text, "\n");

		json_array_append_new(list, json_stringn(text, len));
		text += len + (text[len] == '\n');
	}
	return list;
}

/* Returns the service name nearest to @name, or NULL. */
static const char *nearest_service_name(const struct proxy *proxy, const char *name)
{
	const struct proxy_service *ps;
	unsigned best = UINT_MAX;
	const char *found = NULL;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		unsigned edits = edit_distance(name, ps->service.config->name);

		if (edits >= best)
			continue;
		best = edits;
		found = ps->service.config->name;
	}
	return found;
}

json_t *unknown_service_json(const struct proxy *proxy, const char *name)
{
	const char *meant = nearest_service_name(proxy, name);

	if (meant)
		return error_json("there is no service %s: is %s meant?", name, meant);
	return error_json("there is no service %s", name);
}

/* ---- servers ---- */

static const char *const reach_names[] = {
	[SERVER_UNKNOWN] = "unknown", [SERVER_OK] = "ok", [SERVER_DOWN] = "down"};

static json_t *json_text(const char *text)
{
	return text[0] ? json_string(text) : json_null();
}

static json_t *reach_age(const struct server_health_info *info)
{
	return info->reach != SERVER_UNKNOWN ? json_real(info->age_us / 1e6) : json_null();
}

/* The server in the best state, and the clients that wait for any of them. */
static json_t *server_json(struct service *service, uint64_t now_us)
{
	struct service_condition condition;
	struct server_health_info info;

	(void)servers_best(&service->servers, false, now_us, &info);
	service_condition_get(service, now_us, &condition);
	return json_pack("{s:s, s:o, s:o, s:o, s:i, s:I, s:i, s:s, s:o}", "state",
			 reach_names[info.reach], "state_age_s", reach_age(&info), "error",
			 json_text(info.error), "address", json_text(info.addr), "waiting_clients",
			 (int)info.waiting, "attempts_failed", (json_int_t)info.failed,
			 "late_calls", (int)condition.late.calls, "condition",
			 condition_name(condition.condition), "condition_age_s",
			 condition.has_age ? json_real(condition.age_us / 1e6) : json_null());
}

static json_t *target_json(struct servers *servers, struct nfs_server *server, uint64_t now_us)
{
	struct server_health_info health;
	struct server_stats info;

	server_health_get(&server->health, now_us, &health);
	server_stats_get(servers, server, now_us, &info);
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:i, s:I, s:I, s:I, s:o, s:o}",
			 "connect", server->text, "order", server_order_name(info.order), "state",
			 reach_names[health.reach], "state_age_s", reach_age(&health), "error",
			 json_text(health.error), "address", json_text(health.addr), "tried_last_s",
			 info.try_last_us ? json_real(info.try_last_us / 1e6) : json_null(),
			 "connections", (int)info.connections, "connections_total",
			 (json_int_t)info.connections_total, "attempts", (json_int_t)info.attempts,
			 "failures", (json_int_t)info.failures, "last_error", json_text(info.error),
			 "last_error_age_s",
			 info.error[0] ? json_real(info.error_age_us / 1e6) : json_null());
}

/* Each server, in the order of the file. */
static json_t *targets_json(struct servers *servers, uint64_t now_us)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < servers->count; i++)
		json_array_append_new(list, target_json(servers, &servers->list[i], now_us));
	return list;
}

/* ---- status and services ---- */

static json_t *memory_use_json(const struct memory_use *use)
{
	json_t *memory = json_object();

	memory_use_put(use, memory);
	return memory;
}

static json_t *memory_json(const struct collected *collected)
{
	json_t *memory = json_pack("{s:I, s:I, s:I, s:I, s:I}", "limit_bytes",
				   (json_int_t)collected->budget.limit_bytes, "peak_bytes",
				   (json_int_t)collected->budget.peak_bytes, "mapped_bytes",
				   (json_int_t)collected->pool.slab_bytes, "in_use_bytes",
				   (json_int_t)collected->pool.in_use_bytes, "beside_limit_bytes",
				   (json_int_t)collected->uncharged_bytes);
	struct memory_use all = {0};

	for (size_t i = 0; i < collected->nservices; i++)
		memory_use_add(&all, &collected->memory[i]);
	memory_use_put(&all, memory);
	return memory;
}

static int removed(const struct proxy *proxy)
{
	const struct proxy_service *ps;
	int n = 0;

	TAILQ_FOREACH(ps, &proxy->removed, entry)
		n++;
	return n;
}

/* The name of this machine, as `uname -n` prints it. */
static json_t *host_json(void)
{
	struct utsname own = {0};
	json_t *name = uname(&own) ? NULL : json_string(own.nodename);

	return name ? name : json_null();
}

static json_t *status_answer(const struct collected *collected, const char *argument)
{
	struct proxy *proxy = collected->proxy;
	struct problem_list problems = {0};
	json_t *list;

	problems_gather(collected, &problems);
	list = problems_json(&problems);
	problems_fini(&problems);
	return json_pack("{s:s, s:i, s:f, s:s, s:I, s:i, s:i, s:i, s:i, s:b, s:o, s:o, s:o}",
			 "version", PACKAGE_VERSION, "pid", (int)getpid(), "uptime_s",
			 (loop_now_us(proxy->loop) - proxy->start_us) / 1e6, "log_level",
			 log_level_name(log_level()), "log_lines_dropped",
			 (json_int_t)log_lines_dropped(), "workers", (int)proxy->nworkers,
			 "services", (int)proxy->nservices, "connections", proxy_connections(proxy),
			 "services_leaving", removed(proxy), "stopping", proxy->stopping, "memory",
			 memory_json(collected), "problems", list, "host", host_json());
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

/* Refused clients by reason. */
static json_t *refused_json(struct service *service)
{
	json_t *refused = json_object();
	char name[STATS_CLOSE_NAME_BYTES];

	for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++) {
		struct client_event event = client_events_get(&service->events, why);

		if (event.count)
			json_object_set_new(refused, stats_close_name(why, name),
					    json_integer((json_int_t)event.count));
	}
	return refused;
}

static json_t *service_problems_json(const struct collected *collected, size_t i)
{
	struct problem_list problems = {0};
	json_t *list;

	problems_gather_service(collected, i, &problems);
	list = problems_json(&problems);
	problems_fini(&problems);
	return list;
}

static json_t *service_json(const struct collected *collected, size_t i)
{
	struct proxy_service *ps = collected->services[i];
	struct service *service = &ps->service;
	const struct service_config *config = service->config;
	char listen[CONFIG_URI_TEXT_BYTES], connect[CONFIG_URI_TEXT_BYTES];
	char mount[CONFIG_URI_TEXT_BYTES];
	uint64_t now_us = loop_now_us(collected->proxy->loop);
	struct conn_limits_counts counts;

	conn_limits_counts_get(&service->limits, &counts);
	return json_pack("{s:s, s:s, s:s, s:i, s:I, s:i, s:i, s:i, s:i, s:o, s:o, s:b, s:s, s:o, "
			 "s:o, s:s, s:o, s:o, s:s, s:i, s:o}",
			 "name", config->name, "listen", config_uri_text(&config->listen, listen),
			 "connect", config_uri_text(&config->connect, connect), "connections",
			 atomic_load(&service->connections), "connections_total",
			 (json_int_t)atomic_load(&service->connections_total), "max_connections",
			 config->max_connections, "max_connections_per_client",
			 config->max_connections_per_client, "half_open",
			 counts.half_open + listener_awaiting_header(ps->listener), "held",
			 counts.tarpit, "refused", refused_json(service), "server",
			 server_json(service, now_us), "draining",
			 (int)atomic_load(&service->draining), "balance",
			 config->balance == BALANCE_SOURCE ? "source" : "standby", "targets",
			 targets_json(&service->servers, now_us), "listens", listens_json(config),
			 "mount", config_mount_text(&config->mount, mount), "mount_targets",
			 targets_json(&service->mount_servers, now_us), "memory",
			 memory_use_json(&collected->memory[i]), "max_connections_from",
			 config_limit_name(config->limit), "active", (int)counts.active, "problems",
			 service_problems_json(collected, i));
}

static json_t *services_answer(const struct collected *collected, const char *argument)
{
	json_t *list = json_array();

	for (size_t i = 0; i < collected->nservices; i++)
		json_array_append_new(list, service_json(collected, i));
	return json_pack("{s:o}", "services", list);
}

/* ---- connections ---- */

/* Parses "10.0.0.3:712" or "[fe80::1%eth0]:9", without scope and port. */
static bool client_addr(const json_t *connection, struct sockaddr_storage *addr)
{
	const char *text = json_string_value(json_object_get(connection, "client_address"));
	char host[ADDRESS_TEXT_BYTES];
	struct config_cidr cidr;

	if (!text)
		return false;
	if (*text == '[')
		snprintf(host, sizeof(host), "%.*s", (int)strcspn(text + 1, "%]"), text + 1);
	else
		snprintf(host, sizeof(host), "%.*s", (int)strcspn(text, ":"), text);
	return !config_cidr_parse(host, &cidr) && config_cidr_addr(&cidr, addr);
}

static bool is_selected(const struct worker_conn_selector *selector, const json_t *connection)
{
	struct sockaddr_storage addr;

	if (!selector->by_address)
		return (uint64_t)json_integer_value(json_object_get(connection, "id")) ==
		       selector->id;
	return client_addr(connection, &addr) &&
	       config_cidr_contains(&selector->addresses, (struct sockaddr *)&addr);
}

/* @argument: "", the number of a connection, or an address or prefix. */
static json_t *connections_answer(const struct collected *collected, const char *argument)
{
	struct worker_conn_selector selector;
	json_t *list, *connection;
	size_t i;

	if (!*argument)
		return json_pack("{s:O}", "connections", collected->connections);
	if (!worker_conn_selector_parse(argument, &selector))
		return invalid_selector_json(argument);
	list = json_array();
	json_array_foreach(collected->connections, i, connection)
	{
		if (is_selected(&selector, connection))
			json_array_append(list, connection);
	}
	if (json_array_size(list))
		return json_pack("{s:s, s:o}", "selection", argument, "connections", list);
	json_decref(list);
	return unknown_connection_json(argument);
}

static double age_of(const json_t *connection)
{
	const json_t *age = json_object_get(connection, "oldest_call_age_s");

	return json_is_number(age) ? json_number_value(age) : -1;
}

static int by_age(const void *a, const void *b)
{
	double age_a = age_of(*(json_t *const *)a), age_b = age_of(*(json_t *const *)b);

	return (age_a < age_b) - (age_a > age_b);
}

static json_t *oldest_answer(const struct collected *collected, const char *argument)
{
	size_t n = json_array_size(collected->connections), i;
	json_t *list = json_array(), *connection;
	json_t **sorted = calloc(n + 1, sizeof(json_t *));

	if (!sorted) {
		json_decref(list);
		return NULL;
	}
	json_array_foreach(collected->connections, i, connection) sorted[i] = connection;
	qsort(sorted, n, sizeof(json_t *), by_age);
	for (i = 0; i < n && i < COLLECT_OLDEST_MAX; i++)
		json_array_append(list, sorted[i]);
	free(sorted);
	return json_pack("{s:o}", "connections", list);
}

/* ---- latency, stats, counters and config ---- */

static json_t *limit_json(unsigned bucket)
{
	double limit_s = histogram_bucket_end_s(bucket);

	return isfinite(limit_s) ? json_real(limit_s) : json_null();
}

/* Null without samples, or if the quantile is in the last bucket. */
static json_t *quantile_json(const struct histogram *histogram, uint64_t count, double q)
{
	return count ? limit_json(histogram_quantile_bucket(histogram, q)) : json_null();
}

static json_t *durations_json(const struct histogram *histogram)
{
	uint64_t count = histogram_count(histogram);
	json_t *counts = json_array();
	unsigned used = HISTOGRAM_BUCKETS;

	while (used && !histogram->counts[used - 1])
		used--;
	for (unsigned i = 0; i < used; i++)
		json_array_append_new(counts, json_integer((json_int_t)histogram->counts[i]));
	return json_pack("{s:I, s:f, s:o, s:o, s:o}", "count", (json_int_t)count, "sum_s",
			 (double)histogram->sum_us / 1e6, "p50_s",
			 quantile_json(histogram, count, 0.5), "p99_s",
			 quantile_json(histogram, count, 0.99), "counts", counts);
}

static json_t *errors_json(const struct call_stats *stats, enum nfs_operation operation)
{
	json_t *errors = json_object();

	for (unsigned i = 0; i < stats->nerrors; i++) {
		const struct call_error *error = &stats->errors[i];
		char text[CALL_STATUS_TEXT_BYTES];

		if (error->operation == operation)
			json_object_set_new(errors, call_status_name(error->status, text),
					    json_integer((json_int_t)error->count));
	}
	return errors;
}

static json_t *operation_json(const struct call_stats *stats, enum nfs_operation operation)
{
	const struct operation_stats *found = stats->operations[operation];
	json_t *stages = json_object();

	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++)
		json_object_set_new(stages, call_stage_name(i), durations_json(&found->stages[i]));
	return json_pack(
		"{s:I, s:I, s:I, s:o, s:I, s:I, s:o, s:o}", "calls", (json_int_t)found->calls,
		"unanswered", (json_int_t)found->unanswered, "errors", (json_int_t)found->errors,
		"errors_by_status", errors_json(stats, operation), "request_bytes",
		(json_int_t)found->request_bytes, "reply_bytes", (json_int_t)found->reply_bytes,
		"whole", durations_json(&found->whole), "stages", stages);
}

/* Operations of a service; @only is NFS_OPERATION_COUNT for all. */
static json_t *operations_json(const struct call_stats *stats, enum nfs_operation only)
{
	json_t *operations = json_object();

	for (unsigned i = 0; i < NFS_OPERATION_COUNT; i++)
		if (stats->operations[i] && (only == NFS_OPERATION_COUNT || only == i))
			json_object_set_new(operations, nfs_operation_name(i),
					    operation_json(stats, i));
	return json_pack("{s:o}", "operations", operations);
}

/* Omits the last bucket, which has no limit. */
static json_t *limits_json(void)
{
	json_t *limits = json_array();

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS - 1; i++)
		json_array_append_new(limits, limit_json(i));
	return limits;
}

/* @argument: "", "SERVICE" or "SERVICE OPERATION". */
static json_t *latency_answer(const struct collected *collected, const char *argument)
{
	enum nfs_operation only = NFS_OPERATION_COUNT;
	const char *word = strchrnul(argument, ' ');
	json_t *services = json_object();
	char name[ANSWER_ARGUMENT_BYTES + 1];
	const char *wrong = NULL;

	snprintf(name, sizeof(name), "%.*s", (int)(word - argument), argument);
	if (*name && *word && *++word) {
		only = nfs_operation_find(word);
		wrong = only == NFS_OPERATION_COUNT ? word : NULL;
	}
	for (size_t i = 0; i < collected->nservices; i++) {
		const char *own = collected->services[i]->service.config->name;

		if (!*name || !strcmp(name, own))
			json_object_set_new(services, own,
					    operations_json(&collected->calls[i], only));
	}
	if (*name && !json_object_size(services)) {
		json_decref(services);
		return unknown_service_json(collected->proxy, name);
	}
	if (wrong) {
		json_decref(services);
		return error_json("there is no operation %s", wrong);
	}
	if (only == NFS_OPERATION_COUNT)
		return json_pack("{s:o, s:o}", "limits_s", limits_json(), "services", services);
	return json_pack("{s:o, s:s, s:o}", "limits_s", limits_json(), "operation",
			 nfs_operation_name(only), "services", services);
}

static json_t *stats_answer(const struct collected *collected, const char *argument)
{
	json_t *services = json_object();

	for (size_t i = 0; i < collected->nservices; i++) {
		const char *name = collected->services[i]->service.config->name;

		if (!*argument || !strcmp(argument, name))
			json_object_set_new(services, name,
					    stats_json(&collected->stats[i], false));
	}
	if (*argument && !json_object_size(services)) {
		json_decref(services);
		return unknown_service_json(collected->proxy, argument);
	}
	return json_pack("{s:o}", "services", services);
}

/* Every service has the same counters. */
static json_t *counters_answer(const struct collected *collected, const char *argument)
{
	return json_pack("{s:o}", "counters",
			 collected->nservices ? stats_json(&collected->stats[0], true)
					      : json_object());
}

static json_t *config_answer(const struct collected *collected, const char *argument)
{
	const struct config *config = collected->proxy->config;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	json_t *lines = NULL;

	if (!out)
		return NULL;
	config_print(config, out);
	if (!fclose(out))
		lines = lines_json(text);
	free(text);
	return json_pack("{s:s, s:o}", "file", config->file, "lines", lines);
}

/* ---- requests ---- */

/* A request that waits for a snapshot. */
struct pending_answer {
	enum answer_kind kind;
	char argument[ANSWER_ARGUMENT_BYTES + 1];
	void (*done)(void *arg, json_t *answer);
	void *arg;
};

static const struct {
	unsigned wants;
	json_t *(*make)(const struct collected *collected, const char *argument);
} forms[] = {
	[ANSWER_STATUS] = {COLLECT_LEAVING, status_answer},
	[ANSWER_SERVICES] = {0, services_answer},
	[ANSWER_CONNECTIONS] = {COLLECT_CONNECTIONS | COLLECT_LEAVING, connections_answer},
	[ANSWER_OLDEST] = {COLLECT_OLDEST | COLLECT_LEAVING, oldest_answer},
	[ANSWER_LATENCY] = {COLLECT_CALLS, latency_answer},
	[ANSWER_STATS] = {COLLECT_STATS, stats_answer},
	[ANSWER_COUNTERS] = {COLLECT_STATS, counters_answer},
	[ANSWER_CONFIG] = {0, config_answer},
};

static void on_collected(void *arg, const struct collected *collected)
{
	struct pending_answer *pending_answer = arg;
	json_t *answer =
		collected ? forms[pending_answer->kind].make(collected, pending_answer->argument)
			  : NULL;

	pending_answer->done(pending_answer->arg, answer);
	free(pending_answer);
}

void answer_query(struct snapshot_collector *snapshot_collector, enum answer_kind kind,
		  const char *argument, void (*done)(void *arg, json_t *answer), void *arg)
{
	struct pending_answer *pending_answer;

	if (strlen(argument) > ANSWER_ARGUMENT_BYTES) {
		done(arg, error_json("the argument is too long"));
		return;
	}
	pending_answer = malloc(sizeof(*pending_answer));
	if (!pending_answer) {
		done(arg, NULL);
		return;
	}
	*pending_answer = (struct pending_answer){.kind = kind, .done = done, .arg = arg};
	strcpy(pending_answer->argument, argument);
	snapshot_collect(snapshot_collector, forms[kind].wants, on_collected, pending_answer);
}

char *answer_text(json_t *answer)
{
	json_t *object = json_pack("{s:i}", "schema", ANSWER_SCHEMA);
	char *text = NULL;

	if (answer && !json_object_update(object, answer))
		text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12));
	json_decref(object);
	json_decref(answer);
	return text;
}
