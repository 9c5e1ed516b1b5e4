/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tarpit: keeps rejected connections open for DOOR_HOLD_US without reading them.
 *
 * A client whose connection is closed at once reconnects at once, thousands of times per second. All connections wait
 * equally long, so one timer is enough. The connection limits (daemon/service/door.h) bound their number.
 *
 * Belongs to the main thread.
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
	struct loop_timer *timer; /* for the first in the list */
	struct waiting_list list; /* in the order in which they end */
	unsigned count;
};

/**
 * lobby_init - Initializes an empty tarpit; lobby_fini() is due even on failure
 * @wake: called from any thread; must have lobby_look() called on the main thread
 *
 * Returns 0 or -ENOMEM.
 */
int lobby_init(struct lobby *lobby, struct loop *loop, struct door *door, void (*wake)(void *arg),
	       void *arg) MUST_CHECK;
/** lobby_fini - Closes all connections in the tarpit. Accepts an all-zero @tarpit. */
void lobby_fini(struct lobby *lobby);
/** lobby_hold - Keeps @in for DOOR_HOLD_US, then rejects it for @why. Without memory it is rejected at once. */
void lobby_hold(struct lobby *lobby, const struct incoming *in, enum leg_close why);
/** lobby_look - Closes the connections that were evicted for newer ones. */
void lobby_look(struct lobby *lobby);

#endif
