/* SPDX-License-Identifier: BSD-3-Clause */
/* An upstream's seat at its target: which it has, how long it may take there, and what becomes of the target by it. */
#ifndef DAEMON_BRIDGE_SEAT_H
#define DAEMON_BRIDGE_SEAT_H

#include <stdbool.h>

#include "base/compiler.h"
#include "daemon/bridge/upstream_impl.h"

/** seat_desk - where the name of its target is waited for. */
struct name_desk *seat_desk(const struct upstream *upstream);
/** seat_mount_desk - where rpcbind of its target is; NULL: it is not asked. */
struct mount_desk *seat_mount_desk(const struct upstream *upstream);
/** seat_take - the next target, and until when it may be tried. Returns false if there is none that was not. */
bool seat_take(struct upstream *upstream) MUST_CHECK;
/** seat_give_up - the target cannot be had for @why: that is its fault, unless it is one of this host's. */
void seat_give_up(struct upstream *upstream, enum leg_close why, const char *detail);
/** seat_may_try_another - whether what failed for @why goes on at another target. */
bool seat_may_try_another(const struct upstream *upstream, enum leg_close why);
/** seat_answered - the target's first Reply is here. */
void seat_answered(struct upstream *upstream);
/** seat_unanswered - its connection ends for @why, before that. */
void seat_unanswered(struct upstream *upstream, enum leg_close why, const char *detail);
/** seat_wait_no_longer, seat_part - it is not, any more, one of those that wait for the target, or that it serves. */
void seat_wait_no_longer(struct upstream *upstream);
void seat_part(struct upstream *upstream);
/** seat_leave - there is no connection to the target. */
void seat_leave(struct upstream *upstream);

#endif
