// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/v2/control_msgs.h"

#include <assert.h>
#include <stddef.h>

void control_msgs_init(struct control_msgs *control, struct credit_window *window)
{
	*control = (struct control_msgs){.window = window};
}

/* Returns true if one more can be outstanding, even if Calls use the credits now. */
static bool has_slot(const struct control_msgs *control)
{
	if (!control->window)
		return !control->count;
	return control->count < CONTROL_MSGS_MAX && control->count + 1 < control->window->granted;
}

bool control_msgs_may_send(const struct control_msgs *control)
{
	return has_slot(control) && (!control->window || credit_window_has_credit(control->window));
}

bool control_msgs_wait(struct control_msgs *control, bool waits)
{
	uint32_t before;

	if (!control->window)
		return false;
	before = control->window->reserved_control;
	control->window->reserved_control = waits && has_slot(control);
	return before && !control->window->reserved_control;
}

void control_msgs_sent(struct control_msgs *control, uint32_t xid, bool has_answer)
{
	assert(control->count < CONTROL_MSGS_MAX);
	control->list[control->count++] = (struct control_msg){xid, has_answer};
	if (control->window)
		credit_window_consume(control->window);
}

static void drop(struct control_msgs *control, unsigned at)
{
	control->list[at] = control->list[--control->count];
	if (control->window)
		credit_window_release(control->window);
}

static unsigned find(const struct control_msgs *control, uint32_t xid)
{
	unsigned at = 0;

	while (at < control->count && control->list[at].xid != xid)
		at++;
	return at;
}

bool control_msgs_has(const struct control_msgs *control, uint32_t xid)
{
	return find(control, xid) < control->count;
}

bool control_msgs_answered(struct control_msgs *control, uint32_t xid)
{
	unsigned at = find(control, xid);

	if (at == control->count)
		return false;
	drop(control, at);
	return true;
}

bool control_msgs_message_received(struct control_msgs *control)
{
	unsigned before = control->count;

	for (unsigned at = control->count; at-- > 0;)
		if (!control->list[at].has_answer)
			drop(control, at);
	return control->count < before;
}
