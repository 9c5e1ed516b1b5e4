/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists problems from the daemon's answers, as lines of text with a rank. */
#ifndef DAEMON_CTL_NEWS_H
#define DAEMON_CTL_NEWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

/* Worst first. */
enum news_rank {
	NEWS_STOPPING,
	NEWS_DOWN,    /* no server answers */
	NEWS_DRAINED, /* new clients are refused */
	NEWS_LATE,    /* Calls wait too long for the server */
	NEWS_TARGET,  /* one of several servers is down or disabled */
	NEWS_MEMORY,  /* RPCs wait for memory */
	NEWS_LOG,     /* log lines were dropped */
	NEWS_LEAVING, /* removed services are draining */
	NEWS_REFUSED, /* connections refused since the start */
	NEWS_USUAL,   /* not a problem */
};

struct news {
	enum news_rank rank;
	const char *service; /* a string of the answer; NULL: the daemon */
	char *text;
};

/* Starts zeroed. */
struct news_list {
	struct news *list;
	size_t count;
	bool nomem;
};

/** news_fini - Frees the list. */
void news_fini(struct news_list *news);
/** news_add - Adds a line, without a line end. */
void PRINTF_LIKE(4, 5) news_add(struct news_list *news, enum news_rank rank, const char *service,
				const char *format, ...);
/** news_sort - Sorts the list, worst first, otherwise in the order of adding. */
void news_sort(struct news_list *news);

/** news_of_service - Adds the problems of a service of an answer to `services`; with @all every server. */
void news_of_service(struct news_list *news, const json_t *service, bool all);
/** news_of_daemon - Adds the problems in an answer to `status`. */
void news_of_daemon(struct news_list *news, const json_t *status);

#endif
