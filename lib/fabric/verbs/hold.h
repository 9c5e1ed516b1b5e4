/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prevents reading asynchronous events of a device while its queues are destroyed.
 *
 * All workers that use a device share its lock. Each device has its own, so that a device that
 * hangs while destroying a queue does not block the events of another.
 */
#ifndef FABRIC_VERBS_HOLD_H
#define FABRIC_VERBS_HOLD_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "base/compiler.h"

struct verbs_hold;

/**
 * verbs_hold_get - Returns the event lock of a device, or NULL without memory. All these functions:
 * any thread.
 */
struct verbs_hold *verbs_hold_get(const struct ibv_context *context) MUST_CHECK;
/** verbs_hold_put - Releases a reference; the last one frees the lock. */
void verbs_hold_put(struct verbs_hold *hold);
/** verbs_hold_begin - Blocks reading events until verbs_hold_end(); several threads can. */
void verbs_hold_begin(struct verbs_hold *hold);
/**
 * verbs_hold_read - Returns true if an event may be read; no queue is destroyed then until
 * verbs_hold_end(). Never waits.
 */
bool verbs_hold_read(struct verbs_hold *hold) MUST_CHECK;
/** verbs_hold_end - Ends either. Returns true if verbs_hold_read() may have failed meanwhile. */
bool verbs_hold_end(struct verbs_hold *hold) MUST_CHECK;

#endif
