/* SPDX-License-Identifier: BSD-3-Clause */
/* Going through the bridges of a service on one worker over several turns of the loop, while they come and go. */
#ifndef DAEMON_BRIDGE_BRIDGE_WALK_H
#define DAEMON_BRIDGE_BRIDGE_WALK_H

#include "daemon/service/worker_service.h"

/** bridge_walk_begin - begin to go through the bridges that there are now; @walk: one of @ws */
void bridge_walk_begin(struct worker_service *ws, struct bridge_walk *walk);
/** bridge_walk_next - the next one that is still there; NULL after the last. */
struct bridge *bridge_walk_next(struct bridge_walk *walk);
/** bridge_walks_pass - the walks of its service go on behind @bridge, which is about to leave the list. */
void bridge_walks_pass(const struct bridge *bridge);

#endif
