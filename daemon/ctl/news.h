/* SPDX-License-Identifier: BSD-3-Clause */
/* What is out of the ordinary, in lines of words, and how bad it is. */
#ifndef DAEMON_CTL_NEWS_H
#define DAEMON_CTL_NEWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

/* The worst first. */
enum news_rank {
	NEWS_STOPPING,
	NEWS_DOWN,    /* no server answers */
	NEWS_DRAINED, /* nobody gets in */
	NEWS_LATE,    /* Calls that wait long for the server */
	NEWS_TARGET,  /* one of several servers is down, or ordered away */
	NEWS_MEMORY,  /* RPCs that wait for memory */
	NEWS_LOG,     /* lines that are lost */
	NEWS_LEAVING, /* services that are out of the file */
	NEWS_REFUSED, /* connections, since the start */
	NEWS_USUAL,   /* nothing of that */
};

struct news {
	enum news_rank rank;
	const char *service; /* the answer's; NULL: the daemon's */
	char *text;
};

/* All zero at first. */
struct news_list {
	struct news *list;
	size_t count;
	bool nomem;
};

/** news_fini - free them. */
void news_fini(struct news_list *news);
/** news_add - one more line, without its end. */
void PRINTF_LIKE(4, 5) news_add(struct news_list *news, enum news_rank rank, const char *service,
				const char *format, ...);
/** news_sort - the worst first, and else in the order in which they were added. */
void news_sort(struct news_list *news);

/** news_of_service - what one of the answer to services has; with @all each server, too, however it does. */
void news_of_service(struct news_list *news, const json_t *service, bool all);
/** news_of_daemon - what an answer to status has. */
void news_of_daemon(struct news_list *news, const json_t *status);

#endif
