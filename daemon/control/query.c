// SPDX-License-Identifier: BSD-3-Clause
/* The control socket of a proxy: who answers which command. */
#include "daemon/control/query.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/control/actions.h"
#include "daemon/control/capture.h"
#include "daemon/control/check_answer.h"
#include "daemon/control/trace.h"
#include "daemon/control/watching.h"
#include "daemon/proxy/reader.h"
#include "daemon/view/answer.h"

_Static_assert(CONTROL_MAX_ARGUMENT_BYTES <= ANSWER_ARGUMENT_BYTES,
	       "an argument that is taken is too long for its answer");
_Static_assert(CONTROL_READING_S > 2 * READER_LIMIT_S, "a reload is answered in time");

struct query_control {
	struct proxy *proxy;
	struct gathering *gathering;
	struct control *control;
	struct watching *watching;
	struct check_queries checks;
};

/* Those that only show something; `check` has its own answer, and the others change something. */
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
	struct query_control *queries = arg;

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		if (shown[i].command != command)
			continue;
		answer_ask(queries->gathering, shown[i].kind, argument, done, done_arg);
		return;
	}
	if (command == CONTROL_COMMAND_CHECK)
		check_answer(&queries->checks, queries->proxy, argument, done, done_arg);
	else
		action_run(queries->proxy, command, argument, who, done, done_arg);
}

static json_t *on_stream(void *arg, enum control_command_id command, const char *argument, int fd,
			 const struct control_user *user)
{
	struct query_control *queries = arg;
	const struct watch_form *form =
		command == CONTROL_COMMAND_CAPTURE ? &capture_form : &trace_form;

	return watch_begin(queries->watching, form, argument, fd, user);
}

static void on_stop(void *arg, bool now)
{
	struct query_control *queries = arg;

	if (now)
		event_loop_stop(queries->proxy->loop);
	else
		proxy_stop_gently(queries->proxy);
}

static const struct control_ops control_ops = {.run = on_run, .stream = on_stream, .stop = on_stop};

int query_control_open(struct proxy *proxy, struct gathering *gathering, struct query_control **out)
{
	struct query_control *queries = calloc(1, sizeof(*queries));
	char error[256] = "out of memory";
	int rc = -ENOMEM;

	if (queries) {
		queries->proxy = proxy;
		queries->gathering = gathering;
		queries->watching = watching_new(proxy);
	}
	if (queries && queries->watching) {
		rc = control_open(proxy->loop, proxy->config->control, &control_ops, queries, error,
				  sizeof(error), &queries->control);
	}
	if (rc) {
		log_error(NULL, "%s", error);
		query_control_close(queries);
		return rc;
	}
	*out = queries;
	return 0;
}

void query_control_close(struct query_control *queries)
{
	if (!queries)
		return;
	control_close(queries->control);
	watching_free(queries->watching);
	check_answers_end(&queries->checks);
	free(queries);
}
