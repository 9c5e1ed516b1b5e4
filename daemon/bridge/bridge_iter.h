/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterator over the bridges of a service on one worker, across several iterations of the event
 * loop.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_ITER_H
#define DAEMON_BRIDGE_BRIDGE_ITER_H

#include "daemon/service/worker_service.h"

/** bridge_iter_start - Starts an iteration over the current bridges. @iter: a member of @ws */
void bridge_iter_start(struct worker_service *ws, struct bridge_iter *iter);
/** bridge_iter_next - Returns the next bridge that still exists, or NULL after the last one. */
struct bridge *bridge_iter_next(struct bridge_iter *iter);
/** bridge_iter_skip - Advances all iterators past @bridge, before it leaves the list. */
void bridge_iter_skip(const struct bridge *bridge);

#endif
