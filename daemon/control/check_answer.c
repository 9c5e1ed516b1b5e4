// SPDX-License-Identifier: BSD-3-Clause
/* The answer to `check`. */
#include "daemon/control/check_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/control/control_request.h"
#include "daemon/health/check.h"
#include "daemon/view/service_json.h"

struct check_query {
	LIST_ENTRY(check_query) entry;
	struct check *check;
	char *service;
	bool with_mount;
	void (*done)(void *done_arg, json_t *result);
	void *done_arg;
};

static json_t *text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static json_t *step_json(enum check_step_id id, const struct check_step *step)
{
	bool took = step->result == CHECK_PASSED || step->took_us;

	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "step", check_step_name(id), "result",
			 check_result_name(step->result), "took_us",
			 took ? json_integer((json_int_t)step->took_us) : json_null(), "what",
			 text_or_null(step->what), "advice", text_or_null(step->advice));
}

static json_t *server_json(const struct check_server *server, bool with_mount)
{
	json_t *steps = json_array();

	for (unsigned i = 0; i < CHECK_STEP_COUNT; i++)
		if (i != CHECK_MOUNT || with_mount)
			json_array_append_new(steps, step_json(i, &server->steps[i]));
	return json_pack("{s:s, s:s, s:o}", "server", server->server, "result",
			 check_grade_name(check_grade_server(server)), "steps", steps);
}

static json_t *report_json(const char *service, const struct check_report *report)
{
	json_t *servers = json_array();

	for (unsigned i = 0; i < report->nservers; i++)
		json_array_append_new(servers,
				      server_json(&report->servers[i], report->with_mount));
	return json_pack("{s:s, s:s, s:o}", "service", service, "result",
			 check_grade_name(check_grade(report)), "servers", servers);
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

	query->done(query->done_arg, report_json(query->service, report));
	query_free(query);
}

static bool is_under_way(const struct check_queries *queries, const char *service)
{
	const struct check_query *query;

	LIST_FOREACH(query, queries, entry)
		if (!strcmp(query->service, service))
			return true;
	return false;
}

static int begin(struct check_query *query, struct proxy *proxy, struct proxy_service *ps)
{
	const struct check_config config = {
		.health = proxy->health,
		.loop = proxy->loop,
		.doors = &proxy->doors,
		.config = ps->config,
		.service = ps->service.config,
		.last = CHECK_LONG_REPLY,
		.with_mount = query->with_mount,
		.done = on_done,
		.arg = query,
	};

	return query->service ? check_start(&config, &query->check) : -1;
}

/* "SERVICE", or "SERVICE --mount": parts them. Returns false for anything else. */
static bool parse(char *argument, bool *with_mount)
{
	char *more = strchr(argument, ' ');

	*with_mount = more && !strcmp(more, " --mount");
	if (more)
		*more = '\0';
	return !more || *with_mount;
}

void check_answer(struct check_queries *queries, struct proxy *proxy, const char *argument,
		  void (*done)(void *done_arg, json_t *result), void *done_arg)
{
	char service[CONTROL_MAX_ARGUMENT_BYTES + 1];
	struct proxy_service *ps;
	struct check_query *query;
	bool with_mount;

	snprintf(service, sizeof(service), "%s", argument);
	if (!parse(service, &with_mount)) {
		done(done_arg, json_pack("{s:s}", "error", "check takes a service, and --mount"));
		return;
	}
	ps = proxy_service_find(proxy, service);
	if (!ps) {
		done(done_arg, no_service_json(proxy, service));
		return;
	}
	if (is_under_way(queries, service)) {
		done(done_arg, json_pack("{s:o}", "error",
					 json_sprintf("a check of %s is under way", service)));
		return;
	}
	query = calloc(1, sizeof(*query));
	if (!query) {
		done(done_arg, NULL);
		return;
	}
	*query = (struct check_query){.service = strdup(service),
				      .with_mount = with_mount,
				      .done = done,
				      .done_arg = done_arg};
	LIST_INSERT_HEAD(queries, query, entry);
	if (begin(query, proxy, ps)) {
		query_free(query);
		done(done_arg, NULL);
	}
}

void check_answers_end(struct check_queries *queries)
{
	struct check_query *query;

	while ((query = LIST_FIRST(queries))) {
		query->done(query->done_arg, NULL);
		query_free(query);
	}
}
