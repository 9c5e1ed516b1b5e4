/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterator over the bridges of a service on one worker, across several iterations of the event loop. */
#ifndef DAEMON_BRIDGE_BRIDGE_WALK_H
#define DAEMON_BRIDGE_BRIDGE_WALK_H

#include "daemon/service/worker_service.h"

/** bridge_walk_begin - Starts an iteration over the current bridges. @walk: a member of @ws */
void bridge_walk_begin(struct worker_service *ws, struct bridge_walk *walk);
/** bridge_walk_next - Returns the next bridge that still exists, or NULL after the last one. */
struct bridge *bridge_walk_next(struct bridge_walk *walk);
/** bridge_walks_pass - Advances all iterators past @bridge, before it leaves the list. */
void bridge_walks_pass(const struct bridge *bridge);

#endif
