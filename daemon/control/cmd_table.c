// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/control/cmd_table.h"

#include <errno.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/control/cmd_actions.h"
#include "daemon/control/control_request.h"
#include "daemon/control/tap_stream.h"
#include "daemon/health/health.h"
#include "daemon/proxy/proxy.h"
#include "daemon/proxy/reader.h"
#include "daemon/service/servers.h"
#include "daemon/view/answer.h"

/* ---- check ---- */

struct check_query {
	LIST_ENTRY(check_query) entry;
	struct proxy *proxy;
	struct check *check;
	char *service;
	bool with_mount;
	void (*done)(void *done_arg, json_t *result);
	void *done_arg;
};

/* The checks in progress; all zero: none. */
LIST_HEAD(check_queries, check_query);

static json_t *step_json(enum check_step_id id, const struct check_step *step)
{
	bool has_time = step->result == CHECK_PASSED || step->took_us;

	return json_pack("{s:s, s:s, s:o, s:s?, s:s?}", "step", check_step_name(id), "result",
			 check_result_name(step->result), "took_us",
			 has_time ? json_integer((json_int_t)step->took_us) : json_null(), "what",
			 step->what[0] ? step->what : NULL, "advice", step->advice);
}

static json_t *server_json(const struct check_server *server, enum server_order order,
			   bool with_mount)
{
	json_t *steps = json_array();

	for (unsigned i = 0; i < CHECK_STEP_COUNT; i++)
		if (i != CHECK_MOUNT || with_mount)
			json_array_append_new(steps, step_json(i, &server->steps[i]));
	return json_pack("{s:s, s:s, s:s, s:o}", "server", server->server, "result",
			 check_grade_name(check_grade_server(server)), "order",
			 server_order_name(order), "steps", steps);
}

/* Returns what `target` has set; a service that has been removed meanwhile has no orders. */
static enum server_order order_of(struct proxy_service *ps, const char *server)
{
	struct servers *servers = ps ? &ps->service.servers : NULL;

	for (unsigned i = 0; servers && i < servers->count; i++)
		if (!strcmp(servers->list[i].text, server))
			return atomic_load(&servers->list[i].order);
	return SERVER_ORDER_UP;
}

/* A check tries each server; the result is that of what clients meet. */
static json_t *report_json(struct proxy *proxy, const char *service,
			   const struct check_report *report)
{
	struct proxy_service *ps = proxy_service_find(proxy, service);
	bool drained = ps && atomic_load(&ps->service.draining);
	uint32_t unused = drained ? UINT32_MAX : 0;
	json_t *servers = json_array();

	for (unsigned i = 0; i < report->nservers; i++) {
		enum server_order order = order_of(ps, report->servers[i].server);

		if (order != SERVER_ORDER_UP)
			unused |= UINT32_C(1) << i;
		json_array_append_new(servers,
				      server_json(&report->servers[i], order, report->with_mount));
	}
	return json_pack("{s:s, s:s, s:b, s:o}", "service", service, "result",
			 check_grade_name(check_grade(report, unused)), "drained", drained,
			 "servers", servers);
}

static void query_free(struct check_query *query)
{
	LIST_REMOVE(query, entry);
	check_free(query->check);
	free(query->service);
	free(query);
}

static void on_done(void *arg, const struct check_report *report)
{
	struct check_query *query = arg;

	query->done(query->done_arg, report_json(query->proxy, query->service, report));
	query_free(query);
}

static bool is_under_way(const struct check_queries *table, const char *service)
{
	const struct check_query *query;

	LIST_FOREACH(query, table, entry)
		if (!strcmp(query->service, service))
			return true;
	return false;
}

static int check_query_start(struct check_query *query, struct proxy *proxy,
			     struct proxy_service *ps)
{
	const struct check_config config = {
		.health = proxy->health,
		.loop = proxy->loop,
		.listen_addrs = &proxy->listen_addrs,
		.config = ps->config,
		.service = ps->service.config,
		.tls = ps->service.tls,
		.last = CHECK_LONG_REPLY,
		.with_mount = query->with_mount,
		.done = on_done,
		.arg = query,
	};

	return query->service ? check_start(&config, &query->check) : -1;
}

/* Splits "SERVICE" or "SERVICE --mount". Returns false for anything else. */
static bool check_query_parse(char *argument, bool *with_mount)
{
	char *more = strchr(argument, ' ');

	*with_mount = more && !strcmp(more, " --mount");
	if (more)
		*more = '\0';
	return !more || *with_mount;
}

/*
 * check_answer - Checks the servers of a service, one check per service at a time.
 * @argument: "SERVICE" or "SERVICE --mount"
 * @done:     called once with @done_arg on the main thread, during this call or later, as for
 *            control_ops.run
 */
static void check_answer(struct check_queries *table, struct proxy *proxy, const char *argument,
			 void (*done)(void *done_arg, json_t *result), void *done_arg)
{
	char service[CONTROL_MAX_ARGUMENT_BYTES + 1];
	struct proxy_service *ps;
	struct check_query *query;
	bool with_mount;

	snprintf(service, sizeof(service), "%s", argument);
	if (!check_query_parse(service, &with_mount)) {
		done(done_arg, error_json("check takes a service, and --mount"));
		return;
	}
	ps = proxy_service_find(proxy, service);
	if (!ps) {
		done(done_arg, unknown_service_json(proxy, service));
		return;
	}
	if (is_under_way(table, service)) {
		done(done_arg, error_json("a check of %s is under way", service));
		return;
	}
	query = calloc(1, sizeof(*query));
	if (!query) {
		done(done_arg, NULL);
		return;
	}
	*query = (struct check_query){.proxy = proxy,
				      .service = strdup(service),
				      .with_mount = with_mount,
				      .done = done,
				      .done_arg = done_arg};
	LIST_INSERT_HEAD(table, query, entry);
	if (check_query_start(query, proxy, ps)) {
		query_free(query);
		done(done_arg, NULL);
	}
}

/* check_answers_end - Aborts the checks in progress; their done() gets NULL. */
static void check_answers_end(struct check_queries *table)
{
	struct check_query *query;

	while ((query = LIST_FIRST(table))) {
		query->done(query->done_arg, NULL);
		query_free(query);
	}
}

/* ---- all commands ---- */

_Static_assert(CONTROL_MAX_ARGUMENT_BYTES <= ANSWER_ARGUMENT_BYTES,
	       "an argument that is taken is too long for its answer");
_Static_assert(CONTROL_FILE_READ_S > 2 * READER_LIMIT_S, "a reload is answered in time");

struct cmd_table {
	struct proxy *proxy;
	struct snapshot_collector *snapshot_collector;
	struct control *control;
	struct tap_streams *tap_streams;
	struct check_queries checks;
};

/*
 * Commands that only show something. check_answer() handles `check`; the others change something.
 */
static const struct {
	enum control_command_id command;
	enum answer_kind kind;
} shown[] = {
	{CONTROL_COMMAND_STATUS, ANSWER_STATUS},
	{CONTROL_COMMAND_SERVICES, ANSWER_SERVICES},
	{CONTROL_COMMAND_CONNECTIONS, ANSWER_CONNECTIONS},
	{CONTROL_COMMAND_LATENCY, ANSWER_LATENCY},
	{CONTROL_COMMAND_STATS, ANSWER_STATS},
	{CONTROL_COMMAND_COUNTERS, ANSWER_COUNTERS},
	{CONTROL_COMMAND_CONFIG, ANSWER_CONFIG},
};

static void on_run(void *arg, enum control_command_id command, const char *argument,
		   const char *who, void (*done)(void *done_arg, json_t *result), void *done_arg)
{
	struct cmd_table *table = arg;

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		if (shown[i].command != command)
			continue;
		answer_query(table->snapshot_collector, shown[i].kind, argument, done, done_arg);
		return;
	}
	if (command == CONTROL_COMMAND_CHECK)
		check_answer(&table->checks, table->proxy, argument, done, done_arg);
	else
		cmd_actions_run(table->proxy, command, argument, who, done, done_arg);
}

static json_t *on_stream(void *arg, enum control_command_id command, const char *argument, int fd,
			 const struct control_user *user)
{
	struct cmd_table *table = arg;
	const struct tap_format *form =
		command == CONTROL_COMMAND_CAPTURE ? &capture_format : &trace_format;

	return tap_stream_start(table->tap_streams, form, argument, fd, user);
}

static void on_stop(void *arg, bool now)
{
	struct cmd_table *table = arg;

	if (now)
		event_loop_stop(table->proxy->loop);
	else
		proxy_drain_and_stop(table->proxy);
}

static const struct control_ops control_ops = {.run = on_run, .stream = on_stream, .stop = on_stop};

int cmd_table_open(struct proxy *proxy, struct snapshot_collector *snapshot_collector,
		   struct cmd_table **out)
{
	struct cmd_table *table = calloc(1, sizeof(*table));
	char error[256] = "out of memory";
	int rc = -ENOMEM;

	if (table) {
		table->proxy = proxy;
		table->snapshot_collector = snapshot_collector;
		table->tap_streams = tap_streams_new(proxy);
	}
	if (table && table->tap_streams) {
		rc = control_open(proxy->loop, proxy->config->control, &control_ops, table, error,
				  sizeof(error), &table->control);
	}
	if (rc) {
		log_error(NULL, "%s", error);
		cmd_table_close(table);
		return rc;
	}
	*out = table;
	return 0;
}

void cmd_table_close(struct cmd_table *table)
{
	if (!table)
		return;
	control_close(table->control);
	tap_streams_free(table->tap_streams);
	check_answers_end(&table->checks);
	free(table);
}
