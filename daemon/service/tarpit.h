/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tarpit: keeps rejected connections open for CONN_LIMITS_TARPIT_US without reading them.
 *
 * Without this delay a rejected client would reconnect thousands of times per second. All
 * connections wait equally long, so one timer is enough. daemon/service/conn_limits.h limits their
 * number.
 *
 * Belongs to the main thread.
 */
#ifndef DAEMON_SERVICE_TARPIT_H
#define DAEMON_SERVICE_TARPIT_H

#include <sys/queue.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/service/conn_limits.h"
#include "daemon/service/listener.h"

struct tarpit_conn;
TAILQ_HEAD(tarpit_conn_list, tarpit_conn);

struct tarpit {
	struct loop *loop;
	struct conn_limits *limits;
	struct conn_limits_thread thread;
	struct loop_timer *timer;     /* for the first in the list */
	struct tarpit_conn_list list; /* in the order in which they end */
	unsigned count;
};

/**
 * tarpit_init - Initializes an empty tarpit; tarpit_fini() is due even on failure
 * @wake: called from any thread; makes the main thread call tarpit_evict()
 *
 * Returns 0 or -ENOMEM.
 */
int tarpit_init(struct tarpit *tarpit, struct loop *loop, struct conn_limits *limits,
		void (*wake)(void *arg), void *arg) MUST_CHECK;
/** tarpit_fini - Closes all connections in the tarpit. Accepts an all-zero @tarpit. */
void tarpit_fini(struct tarpit *tarpit);
/**
 * tarpit_add - Keeps @in for CONN_LIMITS_TARPIT_US, then rejects it for @why. Without memory it is
 * rejected immediately.
 */
void tarpit_add(struct tarpit *tarpit, const struct accepted_conn *in, enum leg_close why);
/** tarpit_evict - Closes the connections that were evicted for newer ones. */
void tarpit_evict(struct tarpit *tarpit);

#endif
