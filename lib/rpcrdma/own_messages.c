// SPDX-License-Identifier: BSD-3-Clause
/* Messages of our own: their XIDs, and the credits that they hold. */
#include "rpcrdma/own_messages.h"

#include <assert.h>
#include <stddef.h>

void own_messages_init(struct own_messages *own, struct credit_window *window)
{
	*own = (struct own_messages){.window = window};
}

/* Whether there is a place for one more, though Calls may have it now. */
static bool has_place(const struct own_messages *own)
{
	if (!own->window)
		return !own->count;
	return own->count < OWN_MESSAGES_MAX && own->count + 1 < own->window->granted;
}

bool own_messages_may_send(const struct own_messages *own)
{
	return has_place(own) && (!own->window || credit_window_left(own->window));
}

bool own_messages_wait(struct own_messages *own, bool waits)
{
	uint32_t before;

	if (!own->window)
		return false;
	before = own->window->waited;
	own->window->waited = waits && has_place(own);
	return before && !own->window->waited;
}

void own_messages_sent(struct own_messages *own, uint32_t xid, bool has_answer)
{
	assert(own->count < OWN_MESSAGES_MAX);
	own->list[own->count++] = (struct own_message){xid, has_answer};
	if (own->window)
		credit_window_take(own->window);
}

static void drop(struct own_messages *own, unsigned at)
{
	own->list[at] = own->list[--own->count];
	if (own->window)
		credit_window_give(own->window);
}

static unsigned find(const struct own_messages *own, uint32_t xid)
{
	unsigned at = 0;

	while (at < own->count && own->list[at].xid != xid)
		at++;
	return at;
}

bool own_messages_has(const struct own_messages *own, uint32_t xid)
{
	return find(own, xid) < own->count;
}

bool own_messages_answered(struct own_messages *own, uint32_t xid)
{
	unsigned at = find(own, xid);

	if (at == own->count)
		return false;
	drop(own, at);
	return true;
}

bool own_messages_heard(struct own_messages *own)
{
	unsigned before = own->count;

	for (unsigned at = own->count; at-- > 0;)
		if (!own->list[at].has_answer)
			drop(own, at);
	return own->count < before;
}
