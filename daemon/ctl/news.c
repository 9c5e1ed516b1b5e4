// SPDX-License-Identifier: BSD-3-Clause
/* What is out of the ordinary, line by line. */
#include "daemon/ctl/news.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void news_fini(struct news_list *news)
{
	for (size_t i = 0; i < news->count; i++)
		free(news->list[i].text);
	free(news->list);
	*news = (struct news_list){0};
}

static bool make_room(struct news_list *news)
{
	size_t room = news->room ? 2 * news->room : 16;
	struct news *list;

	if (news->count < news->room)
		return true;
	list = realloc(news->list, room * sizeof(*list));
	if (!list)
		return false;
	news->list = list;
	news->room = room;
	return true;
}

void news_add(struct news_list *news, enum news_rank rank, const char *service, const char *format,
	      ...)
{
	struct news *line;
	va_list ap;
	int len;

	if (news->nomem || !make_room(news)) {
		news->nomem = true;
		return;
	}
	line = &news->list[news->count];
	*line = (struct news){.rank = rank, .service = service};
	va_start(ap, format);
	len = vasprintf(&line->text, format, ap);
	va_end(ap);
	if (len < 0)
		news->nomem = true;
	else
		news->count++;
}

/* There are few, and they are nearly in order. */
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
