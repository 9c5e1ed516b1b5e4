// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/alerts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/json_cells.h"

void alerts_fini(struct alert_list *alerts)
{
	for (size_t i = 0; i < alerts->count; i++)
		free(alerts->list[i].text);
	free(alerts->list);
	*alerts = (struct alert_list){0};
}

void alerts_add(struct alert_list *alerts, enum alert_rank rank, const char *service,
		const char *format, ...)
{
	struct alert *list = reallocarray(alerts->list, alerts->count + 1, sizeof(*list)), *line;
	va_list ap;
	int len;

	if (!list) {
		alerts->nomem = true;
		return;
	}
	alerts->list = list;
	line = &list[alerts->count];
	*line = (struct alert){.rank = rank, .service = service};
	va_start(ap, format);
	len = vasprintf(&line->text, format, ap);
	va_end(ap);
	if (len < 0)
		alerts->nomem = true;
	else
		alerts->count++;
}

/* The list is short and nearly sorted. */
void alerts_sort(struct alert_list *alerts)
{
	for (size_t i = 1; i < alerts->count; i++) {
		struct alert line = alerts->list[i];
		size_t at = i;

		for (; at && alerts->list[at - 1].rank > line.rank; at--)
			alerts->list[at] = alerts->list[at - 1];
		alerts->list[at] = line;
	}
}

#define REASON_BYTES 64u

static bool member_equals(const json_t *object, const char *key, const char *text)
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
static void alerts_add_server_lines(struct alert_list *alerts, const char *name,
				    const json_t *service)
{
	const json_t *server = json_object_get(service, "server");
	/* A name that does not resolve has no address. */
	bool has_address = json_is_string(json_object_get(server, "address"));
	char text[CELL_BYTES];

	if (!member_equals(server, "state", "down"))
		return;
	alerts_add(alerts, ALERT_DOWN, name,
		   "%s: server %s is down%s: %s; attempts: %" PRIu64 ", waiting clients: %" PRIu64,
		   name, has_address ? json_text(server, "address") : json_text(service, "connect"),
		   for_how_long(server, text), json_text(server, "error"),
		   json_number(server, "attempts_failed"), json_number(server, "waiting_clients"));
}

/* @what: "server" or "MOUNT by" */
static void alerts_add_target_lines(struct alert_list *alerts, const char *name, const char *what,
				    const json_t *target)
{
	const char *state = json_text(target, "state"), *order = json_text(target, "order");
	const char *error = json_string_value(json_object_get(target, "last_error"));
	bool ordered = strcmp(order, "up") != 0;
	char text[CELL_BYTES];

	alerts_add(alerts, ordered || !strcmp(state, "down") ? ALERT_SERVER : ALERT_NONE, name,
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
static void alerts_add_targets_lines(struct alert_list *alerts, const char *name,
				     const json_t *targets, bool all)
{
	const json_t *target;
	size_t i;

	json_array_foreach(targets, i, target)
	{
		if (json_array_size(targets) > 1 || !member_equals(target, "order", "up") || all)
			alerts_add_target_lines(alerts, name, "server", target);
	}
}

/* MOUNT servers that are down, or all. */
static void alerts_add_mounts_lines(struct alert_list *alerts, const char *name,
				    const json_t *service, bool all)
{
	const json_t *target;
	size_t i;

	if (all && json_is_string(json_object_get(service, "mount")))
		alerts_add(alerts, ALERT_NONE, name, "%s: mount: %s", name,
			   json_text(service, "mount"));
	json_array_foreach(json_object_get(service, "mount_targets"), i, target)
	{
		if (all || member_equals(target, "state", "down"))
			alerts_add_target_lines(alerts, name, "MOUNT by", target);
	}
}

static void alerts_add_memory_lines(struct alert_list *alerts, const char *name,
				    const json_t *memory)
{
	double oldest_s = json_number_value(json_object_get(memory, "oldest_wait_s"));
	char text[CELL_BYTES];

	if (json_number(memory, "waiting_claims"))
		alerts_add(alerts, ALERT_MEMORY, name,
			   "%s: RPCs waiting for memory: %" PRIu64 ", the oldest for %s", name,
			   json_number(memory, "waiting_claims"),
			   cell_duration_text(oldest_s, text));
}

/* Shows spaces instead of '_' in reasons. */
static void alerts_add_refused_lines(struct alert_list *alerts, const char *name,
				     const json_t *refused)
{
	char reason[REASON_BYTES];
	const char *why;
	json_t *count;

	json_object_foreach((json_t *)refused, why, count)
	{
		snprintf(reason, sizeof(reason), "%s", why);
		for (char *c = reason; *c; c++)
			*c = *c == '_' ? ' ' : *c;
		alerts_add(alerts, ALERT_REFUSED, name, "%s: connections refused: %" PRId64 ": %s",
			   name, (int64_t)json_integer_value(count), reason);
	}
}

void alerts_add_service(struct alert_list *alerts, const json_t *service, bool all)
{
	const json_t *server = json_object_get(service, "server");
	const char *name = json_text(service, "name");

	if (json_is_true(json_object_get(service, "draining")))
		alerts_add(alerts, ALERT_DRAINED, name,
			   "%s: drained: new clients are refused until 'resume'", name);
	alerts_add_server_lines(alerts, name, service);
	alerts_add_targets_lines(alerts, name, json_object_get(service, "targets"), all);
	alerts_add_mounts_lines(alerts, name, service, all);
	/* A server can accept connections, and be shown as ok, without answering Calls. */
	if (json_number(server, "late_calls"))
		alerts_add(alerts, ALERT_LATE, name,
			   "%s: Calls waiting too long for the server: %" PRIu64, name,
			   json_number(server, "late_calls"));
	alerts_add_memory_lines(alerts, name, json_object_get(service, "memory"));
	alerts_add_refused_lines(alerts, name, json_object_get(service, "refused"));
}

void alerts_add_daemon(struct alert_list *alerts, const json_t *status)
{
	uint64_t lost = json_number(status, "log_lines_dropped");
	uint64_t leaving = json_number(status, "services_leaving");

	if (json_is_true(json_object_get(status, "stopping")))
		alerts_add(alerts, ALERT_STOPPING, NULL,
			   "the daemon is stopping and drains its connections");
	if (lost)
		alerts_add(alerts, ALERT_LOG, NULL,
			   "log lines dropped: %" PRIu64 ": stderr or the journal is too slow",
			   lost);
	if (leaving)
		alerts_add(alerts, ALERT_REMOVED, NULL, "removed services still draining: %" PRIu64,
			   leaving);
}
