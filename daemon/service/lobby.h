/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that a service turned away, kept open for a moment and not read.
 *
 * A client whose connection is closed at once comes back at once, thousands of times a second. All wait equally
 * long, so one timer does for them. How many are held is for the door to bound.
 *
 * A lobby is the main thread's.
 */
#ifndef DAEMON_SERVICE_LOBBY_H
#define DAEMON_SERVICE_LOBBY_H

#include <sys/queue.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/service/door.h"
#include "daemon/service/listener.h"

struct waiting;
TAILQ_HEAD(waiting_list, waiting);

struct lobby {
	struct loop *loop;
	struct door *door;
	struct door_side side;
	struct loop_timer *timer; /* for the first of them */
	struct waiting_list list; /* in the order of their ends */
	unsigned count;
};

/**
 * lobby_init - an empty one; lobby_fini() is due either way
 * @wake: from any thread: has lobby_look() called on this one
 *
 * Returns 0 or -ENOMEM.
 */
int lobby_init(struct lobby *lobby, struct loop *loop, struct door *door, void (*wake)(void *arg),
	       void *arg) MUST_CHECK;
/** lobby_fini - close all that are held. Accepts one that is all zero. */
void lobby_fini(struct lobby *lobby);
/** lobby_hold - keep @in for DOOR_HOLD_US, and then turn it away for @why; without memory that is now. */
void lobby_hold(struct lobby *lobby, const struct incoming *in, enum leg_close why);
/** lobby_look - close those that have to go for newer ones. */
void lobby_look(struct lobby *lobby);

#endif
