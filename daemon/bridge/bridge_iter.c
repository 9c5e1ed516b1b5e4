// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/bridge_iter.h"

#include "daemon/bridge/bridge_state.h"

void bridge_iter_start(struct worker_service *ws, struct bridge_iter *iter)
{
	const struct bridge *last = TAILQ_LAST(&ws->bridges, bridge_list);

	iter->next = TAILQ_FIRST(&ws->bridges);
	iter->last_id = last ? last->id : 0;
}

/* Ids rise along the list, so the iteration stops before bridges that were added later. */
struct bridge *bridge_iter_next(struct bridge_iter *iter)
{
	struct bridge *bridge = iter->next;

	if (bridge && bridge->id > iter->last_id)
		bridge = NULL;
	iter->next = bridge ? TAILQ_NEXT(bridge, entry) : NULL;
	return bridge;
}

void bridge_iter_skip(const struct bridge *bridge)
{
	struct bridge_iter *walks[] = {&bridge->ws->snapshot_iter, &bridge->ws->late_scan.iter};

	for (size_t i = 0; i < ARRAY_SIZE(walks); i++)
		if (walks[i]->next == bridge)
			walks[i]->next = TAILQ_NEXT(bridge, entry);
}
