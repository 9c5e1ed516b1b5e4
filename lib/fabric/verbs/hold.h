/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps asynchronous events of a device unread while queues of it are destroyed.
 *
 * All workers that use a device share one hold. Devices have one each, lest one that hangs in the end of a queue keeps the events of
 * another one unread.
 */
#ifndef FABRIC_VERBS_HOLD_H
#define FABRIC_VERBS_HOLD_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "base/compiler.h"

struct verbs_hold;

/** verbs_hold_get - return the hold of a device, or NULL without memory; any thread, as all of these. */
struct verbs_hold *verbs_hold_get(const struct ibv_context *context) MUST_CHECK;
/** verbs_hold_put - this user needs it no longer; the last one's frees it. */
void verbs_hold_put(struct verbs_hold *hold);
/** verbs_hold_begin - have no event read until verbs_hold_end(); several threads at once. */
void verbs_hold_begin(struct verbs_hold *hold);
/** verbs_hold_read - return whether an event may be read: then nobody destroys a queue until verbs_hold_end(). It does not wait. */
bool verbs_hold_read(struct verbs_hold *hold) MUST_CHECK;
/** verbs_hold_end - return whether somebody may have been told meanwhile that no event may be read. */
bool verbs_hold_end(struct verbs_hold *hold) MUST_CHECK;

#endif
