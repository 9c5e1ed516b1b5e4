// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/v2/control_msgs.h"

#include <assert.h>
#include <stddef.h>

void control_msgs_init(struct control_msgs *own, struct credit_window *window)
{
	*own = (struct control_msgs){.window = window};
}

/* Returns true if one more can be outstanding, even if Calls use the credits now. */
static bool has_place(const struct control_msgs *own)
{
	if (!own->window)
		return !own->count;
	return own->count < CONTROL_MSGS_MAX && own->count + 1 < own->window->granted;
}

bool control_msgs_may_send(const struct control_msgs *own)
{
	return has_place(own) && (!own->window || credit_window_left(own->window));
}

bool control_msgs_wait(struct control_msgs *own, bool waits)
{
	uint32_t before;

	if (!own->window)
		return false;
	before = own->window->waited;
	own->window->waited = waits && has_place(own);
	return before && !own->window->waited;
}

void control_msgs_sent(struct control_msgs *own, uint32_t xid, bool has_answer)
{
	assert(own->count < CONTROL_MSGS_MAX);
	own->list[own->count++] = (struct own_message){xid, has_answer};
	if (own->window)
		credit_window_take(own->window);
}

static void drop(struct control_msgs *own, unsigned at)
{
	own->list[at] = own->list[--own->count];
	if (own->window)
		credit_window_give(own->window);
}

static unsigned find(const struct control_msgs *own, uint32_t xid)
{
	unsigned at = 0;

	while (at < own->count && own->list[at].xid != xid)
		at++;
	return at;
}

bool control_msgs_has(const struct control_msgs *own, uint32_t xid)
{
	return find(own, xid) < own->count;
}

bool control_msgs_answered(struct control_msgs *own, uint32_t xid)
{
	unsigned at = find(own, xid);

	if (at == own->count)
		return false;
	drop(own, at);
	return true;
}

bool control_msgs_heard(struct control_msgs *own)
{
	unsigned before = own->count;

	for (unsigned at = own->count; at-- > 0;)
		if (!own->list[at].has_answer)
			drop(own, at);
	return own->count < before;
}
