// SPDX-License-Identifier: BSD-3-Clause
/* Who waits for memory, and on whose account. */
#include "daemon/bridge/shortage.h"

#include "daemon/base/log.h"
#include "daemon/bridge/bridge.h"

/* The connection that holds most of what this service has on this worker. */
static struct bridge *largest_bridge(struct worker_service *ws)
{
	struct bridge *bridge = NULL, *largest = NULL;

	while ((bridge = bridge_next(ws, bridge)))
		if (!largest || bridge_memory_bytes(bridge) > bridge_memory_bytes(largest))
			largest = bridge;
	return largest;
}

void shortage_log(void *arg, const struct budget_claim *claim)
{
	struct worker_service *ws = arg;
	struct log_limit *limit = &ws->service->lines[LINE_SHORTAGE];
	char largest[CONFIG_NAME_MAX_BYTES + 1]; /* a service's name */
	size_t lent_bytes;
	const struct bridge *bridge;
	struct bridge_info info = {0};

	/* Thousands may become late at once, and who holds most is sought among as many. */
	if (log_leaves_out(LOG_LEVEL_WARNING, limit))
		return;
	lent_bytes = budget_largest(ws->account->borrower.part->budget, largest, sizeof(largest));
	bridge = largest_bridge(ws);
	if (bridge)
		bridge_info_get(bridge, &info);
	log_limited(
		LOG_LEVEL_WARNING, limit, claim->holder->owner,
		"a Call has waited %.0f s for %zu KiB of memory; most is held by service %s "
		"(%zu MiB) and, of this service's connections on this worker, by #%llu (%zu KiB "
		"for %u Calls)",
		(loop_now_us(ws->ground->loop) - claim->since_us) / 1e6, claim->bytes / 1024,
		largest, lent_bytes >> 20, (unsigned long long)info.id,
		bridge ? bridge_memory_bytes(bridge) / 1024 : 0, info.client.calls_in_flight_in);
}
