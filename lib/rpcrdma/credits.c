// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/credits.h"

#include <assert.h>

void credit_window_init(struct credit_window *window, uint32_t asked)
{
	*window = (struct credit_window){.asked = credit_at_least_one(asked), .granted = 1};
}

bool credit_window_grant(struct credit_window *window, uint32_t granted)
{
	window->granted = min_u32(credit_at_least_one(granted), window->asked);
	return granted != 0;
}

void credit_window_lower(struct credit_window *window, uint32_t granted)
{
	if (granted && granted < window->granted)
		window->granted = granted;
}

void credit_window_block(struct credit_window *window)
{
	window->granted = 0;
}

void credit_grant_init(struct credit_grant *grant, uint32_t first, uint32_t max)
{
	max = credit_at_least_one(max);
	*grant = (struct credit_grant){
		.max = max, .requested = max, .granted = min_u32(credit_at_least_one(first), max)};
}

void credit_grant_call(struct credit_grant *grant, uint32_t requested)
{
	uint32_t limit = min_u32(credit_at_least_one(requested), grant->max);

	grant->requested = requested;
	grant->in_flight++;
	/*
	 * Grow when the client has used all granted credits, together or over time: a larger grant
	 * costs Receives, which an idle client does not need.
	 */
	grant->used++;
	if (grant->granted >= limit ||
	    (grant->used < grant->granted && grant->in_flight < grant->granted))
		return;
	grant->used = 0;
	grant->granted = grant->granted > limit / 2 ? limit : grant->granted * 2;
}

void credit_grant_request(struct credit_grant *grant, uint32_t requested)
{
	grant->requested = requested;
}

bool credit_grant_may_expose(const struct credit_grant *grant)
{
	return grant->exposed < grant->granted;
}

void credit_grant_expose(struct credit_grant *grant)
{
	assert(credit_grant_may_expose(grant));
	grant->exposed++;
}

void credit_grant_invalidated(struct credit_grant *grant)
{
	assert(grant->exposed > 0);
	grant->exposed--;
}
