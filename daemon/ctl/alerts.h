/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists problems from the daemon's answers, as lines of text with a rank. */
#ifndef DAEMON_CTL_ALERTS_H
#define DAEMON_CTL_ALERTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

/* Worst first. */
enum alert_rank {
	ALERT_STOPPING,
	ALERT_DOWN,    /* no server answers */
	ALERT_DRAINED, /* new clients are refused */
	ALERT_LATE,    /* Calls wait too long for the server */
	ALERT_SERVER,  /* one of several servers is down or disabled */
	ALERT_MEMORY,  /* RPCs wait for memory */
	ALERT_LOG,     /* log lines were dropped */
	ALERT_REMOVED, /* removed services are draining */
	ALERT_REFUSED, /* connections refused since the start */
	ALERT_NONE,    /* not a problem */
};

struct alert {
	enum alert_rank rank;
	const char *service; /* a string of the answer; NULL: the daemon */
	char *text;
};

/* Starts zeroed. */
struct alert_list {
	struct alert *list;
	size_t count;
	bool nomem;
};

/** alerts_fini - Frees the list. */
void alerts_fini(struct alert_list *alerts);
/** alerts_add - Adds a line, without a line end. */
void PRINTF_LIKE(4, 5) alerts_add(struct alert_list *alerts, enum alert_rank rank,
				  const char *service, const char *format, ...);
/** alerts_sort - Sorts the list, worst first, otherwise in the order of adding. */
void alerts_sort(struct alert_list *alerts);

/**
 * alerts_add_service - Adds the problems of a service of an answer to `services`; with @all every
 * server.
 */
void alerts_add_service(struct alert_list *alerts, const json_t *service, bool all);
/** alerts_add_daemon - Adds the problems in an answer to `status`. */
void alerts_add_daemon(struct alert_list *alerts, const json_t *status);

#endif
