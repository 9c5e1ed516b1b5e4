// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/news.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/cells.h"

void news_fini(struct news_list *news)
{
	for (size_t i = 0; i < news->count; i++)
		free(news->list[i].text);
	free(news->list);
	*news = (struct news_list){0};
}

void news_add(struct news_list *news, enum news_rank rank, const char *service, const char *format,
	      ...)
{
	struct news *list = reallocarray(news->list, news->count + 1, sizeof(*list)), *line;
	va_list ap;
	int len;

	if (!list) {
		news->nomem = true;
		return;
	}
	news->list = list;
	line = &list[news->count];
	*line = (struct news){.rank = rank, .service = service};
	va_start(ap, format);
	len = vasprintf(&line->text, format, ap);
	va_end(ap);
	if (len < 0)
		news->nomem = true;
	else
		news->count++;
}

/* The list is short and nearly sorted. */
void news_sort(struct news_list *news)
{
	for (size_t i = 1; i < news->count; i++) {
		struct news line = news->list[i];
		size_t at = i;

		for (; at && news->list[at - 1].rank > line.rank; at--)
			news->list[at] = news->list[at - 1];
		news->list[at] = line;
	}
}

#define REASON_BYTES 64u

static bool is(const json_t *object, const char *key, const char *text)
{
	return !strcmp(json_text(object, key), text);
}

/* Writes " for 35 s", or "" if unknown. Returns @text. */
static const char *for_how_long(const json_t *object, char text[CELL_BYTES])
{
	const json_t *age = json_object_get(object, "state_age_s");
	char duration[CELL_BYTES];

	text[0] = '\0';
	if (json_is_number(age))
		snprintf(text, CELL_BYTES, " for %.20s",
			 cell_duration_text(json_number_value(age), duration));
	return text;
}

/* A server that is down, with the details that the table cell has no space for. */
static void of_server(struct news_list *news, const char *name, const json_t *service)
{
	const json_t *server = json_object_get(service, "server");
	/* A name that does not resolve has no address. */
	bool has_address = json_is_string(json_object_get(server, "address"));
	char text[CELL_BYTES];

	if (!is(server, "state", "down"))
		return;
	news_add(news, NEWS_DOWN, name,
		 "%s: server %s is down%s: %s; attempts: %" PRIu64 ", waiting clients: %" PRIu64,
		 name, has_address ? json_text(server, "address") : json_text(service, "connect"),
		 for_how_long(server, text), json_text(server, "error"),
		 json_number(server, "attempts_failed"), json_number(server, "waiting_clients"));
}

/* @what: "server" or "MOUNT by" */
static void of_target(struct news_list *news, const char *name, const char *what,
		      const json_t *target)
{
	const char *state = json_text(target, "state"), *order = json_text(target, "order");
	const char *error = json_string_value(json_object_get(target, "last_error"));
	bool ordered = strcmp(order, "up") != 0;
	char text[CELL_BYTES];

	news_add(news, ordered || !strcmp(state, "down") ? NEWS_TARGET : NEWS_USUAL, name,
		 "%s: %s %s: %s%s%s%s; connections: %" PRIu64 ", attempts: %" PRIu64
		 ", failed: %" PRIu64 "%s%s",
		 name, what, json_text(target, "connect"),
		 strcmp(state, "unknown") ? state : "not tried yet", for_how_long(target, text),
		 ordered ? ", administratively " : "",
		 !ordered                 ? ""
		 : strcmp(order, "drain") ? order
					  : "drained",
		 json_number(target, "connections"), json_number(target, "attempts"),
		 json_number(target, "failures"), error ? ": " : "", error ? error : "");
}

/* A single server is covered by of_server(), so it is listed only if disabled or with @all. */
static void of_targets(struct news_list *news, const char *name, const json_t *targets, bool all)
{
	const json_t *target;
	size_t i;

	json_array_foreach(targets, i, target)
	{
		if (json_array_size(targets) > 1 || !is(target, "order", "up") || all)
			of_target(news, name, "server", target);
	}
}

/* MOUNT servers that are down, or all. */
static void of_mounts(struct news_list *news, const char *name, const json_t *service, bool all)
{
	const json_t *target;
	size_t i;

	if (all && json_is_string(json_object_get(service, "mount")))
		news_add(news, NEWS_USUAL, name, "%s: mount: %s", name,
			 json_text(service, "mount"));
	json_array_foreach(json_object_get(service, "mount_targets"), i, target)
	{
		if (all || is(target, "state", "down"))
			of_target(news, name, "MOUNT by", target);
	}
}

static void of_memory(struct news_list *news, const char *name, const json_t *memory)
{
	double oldest_s = json_number_value(json_object_get(memory, "oldest_wait_s"));
	char text[CELL_BYTES];

	if (json_number(memory, "waiting_claims"))
		news_add(news, NEWS_MEMORY, name,
			 "%s: RPCs waiting for memory: %" PRIu64 ", the oldest for %s", name,
			 json_number(memory, "waiting_claims"), cell_duration_text(oldest_s, text));
}

/* Shows spaces instead of '_' in reasons. */
static void of_refused(struct news_list *news, const char *name, const json_t *refused)
{
	char reason[REASON_BYTES];
	const char *why;
	json_t *count;

	json_object_foreach((json_t *)refused, why, count)
	{
		snprintf(reason, sizeof(reason), "%s", why);
		for (char *c = reason; *c; c++)
			*c = *c == '_' ? ' ' : *c;
		news_add(news, NEWS_REFUSED, name, "%s: connections refused: %" PRId64 ": %s", name,
			 (int64_t)json_integer_value(count), reason);
	}
}

void news_of_service(struct news_list *news, const json_t *service, bool all)
{
	const json_t *server = json_object_get(service, "server");
	const char *name = json_text(service, "name");

	if (json_is_true(json_object_get(service, "draining")))
		news_add(news, NEWS_DRAINED, name,
			 "%s: drained: new clients are refused until 'resume'", name);
	of_server(news, name, service);
	of_targets(news, name, json_object_get(service, "targets"), all);
	of_mounts(news, name, service, all);
	/* A server can accept connections, and be shown as ok, without answering Calls. */
	if (json_number(server, "late_calls"))
		news_add(news, NEWS_LATE, name,
			 "%s: Calls waiting too long for the server: %" PRIu64, name,
			 json_number(server, "late_calls"));
	of_memory(news, name, json_object_get(service, "memory"));
	of_refused(news, name, json_object_get(service, "refused"));
}

void news_of_daemon(struct news_list *news, const json_t *status)
{
	uint64_t lost = json_number(status, "log_lines_dropped");
	uint64_t leaving = json_number(status, "services_leaving");

	if (json_is_true(json_object_get(status, "stopping")))
		news_add(news, NEWS_STOPPING, NULL,
			 "the daemon is stopping and drains its connections");
	if (lost)
		news_add(news, NEWS_LOG, NULL,
			 "log lines dropped: %" PRIu64 ": stderr or the journal is too slow", lost);
	if (leaving)
		news_add(news, NEWS_LEAVING, NULL, "removed services still draining: %" PRIu64,
			 leaving);
}
