// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/bridge_walk.h"

#include "daemon/bridge/bridge_state.h"

void bridge_walk_begin(struct worker_service *ws, struct bridge_walk *walk)
{
	const struct bridge *last = TAILQ_LAST(&ws->bridges, bridge_list);

	walk->next = TAILQ_FIRST(&ws->bridges);
	walk->last_id = last ? last->id : 0;
}

/* Ids rise along the list, so the iteration stops before bridges that were added later. */
struct bridge *bridge_walk_next(struct bridge_walk *walk)
{
	struct bridge *bridge = walk->next;

	if (bridge && bridge->id > walk->last_id)
		bridge = NULL;
	walk->next = bridge ? TAILQ_NEXT(bridge, entry) : NULL;
	return bridge;
}

void bridge_walks_pass(const struct bridge *bridge)
{
	struct bridge_walk *walks[] = {&bridge->ws->shown, &bridge->ws->watch.walk};

	for (size_t i = 0; i < ARRAY_SIZE(walks); i++)
		if (walks[i]->next == bridge)
			walks[i]->next = TAILQ_NEXT(bridge, entry);
}
