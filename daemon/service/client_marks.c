// SPDX-License-Identifier: BSD-3-Clause
/* Which Calls a client goes by. */
#include "daemon/service/client_marks.h"

#include <stdlib.h>

static bool is_among(const struct client_mark *marks, size_t nmarks, const struct call_mark *call)
{
	for (size_t i = 0; i < nmarks; i++)
		if (call_mark_equals(&marks[i].call, call))
			return true;
	return false;
}

/* As many of @from as may be kept, behind those that are kept already. */
static size_t keep(struct client_mark *to, size_t have, const struct call_mark *from, size_t nfrom)
{
	size_t unanswered = 0, answered = 0;

	for (size_t i = 0; i < have; i++)
		to[i].call.answered ? answered++ : unanswered++;
	for (size_t i = 0; i < nfrom; i++) {
		size_t *count = from[i].answered ? &answered : &unanswered;
		size_t most = from[i].answered ? CLIENTS_ANSWERED_MAX : CLIENTS_UNANSWERED_MAX;

		if (*count >= most || is_among(to, have, &from[i]))
			continue;
		++*count;
		to[have++].call = from[i];
	}
	return have;
}

/* One that is back sends first what it waits for: after so many Replies it waits for nothing of that. */
static bool has_moved_on(const struct call_mark *marks, size_t nmarks)
{
	size_t answered = 0;

	for (size_t i = 0; i < nmarks; i++)
		answered += marks[i].answered;
	return answered >= CLIENTS_ANSWERED_MAX;
}

void client_marks_add(struct client *client, const struct call_mark *marks, size_t nmarks)
{
	size_t old = has_moved_on(marks, nmarks) ? 0 : client->nmarks, n, most = nmarks + old;
	struct client_mark *kept;

	if (most > CLIENTS_MARKS_MAX)
		most = CLIENTS_MARKS_MAX;
	if (!most)
		return;
	/* Without memory it is known by its port alone. */
	kept = calloc(most, sizeof(*kept));
	if (!kept)
		return;
	n = keep(kept, 0, marks, nmarks);
	for (size_t i = 0; i < old; i++)
		n = keep(kept, n, &client->marks[i].call, 1);
	client_table_mark(client, kept, n);
}
