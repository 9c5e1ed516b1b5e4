/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where connections are judged by their client's address and port (allow, require_privileged_port), once it is known
 * whose they are.
 *
 * One that a proxy brings (accept_proxy_from) begins with a header that says so, which is read here, and no byte behind it.
 * It is mostly there by then; who has to be waited for has PORCH_TIME_US. Of too many that are waited for the oldest goes.
 * A check of the proxy's own, which names nobody and then leaves, is not told of as refused, whoever may connect.
 *
 * A porch is a listener's, on the main thread.
 */
#ifndef DAEMON_SERVICE_PORCH_H
#define DAEMON_SERVICE_PORCH_H

#include <stdbool.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/config/config.h"
#include "daemon/service/incoming.h"

#define PORCH_MAX         256u     /* that are waited for */
#define PORCH_PATIENCE_US 100000u  /* that one has in any case: later ones wait outside */
#define PORCH_TIME_US     3000000u /* for the whole header */

struct porch_events {
	/* A connection from an address and port that may connect; the callee owns what is in it. */
	void (*admitted)(void *arg, struct incoming *in);
	/*
	 * One that is to be turned away, and why, with a sentence or ""; the callee owns what is in it. For LEG_CLOSE_PEER and
	 * _LOST the peer has gone before it said anything.
	 */
	void (*refused)(void *arg, const struct incoming *in, enum leg_close why,
			const char *detail);
};

struct porch;

/** porch_new - an empty one, of @service, which outlives it; NULL without memory. */
struct porch *porch_new(struct loop *loop, const struct service_config *service,
			const struct porch_events *events, void *arg);
/** porch_free - close those that are waited for; accepts NULL. */
void porch_free(struct porch *porch);
/** porch_has_room - whether one more could be waited for now; else connections stay in the kernel's queue. */
bool porch_has_room(const struct porch *porch);
/** porch_count - how many are waited for; NULL has none. */
unsigned porch_count(const struct porch *porch);
/** porch_receive - somebody has come: an event follows, now or later. @in is copied. */
void porch_receive(struct porch *porch, const struct incoming *in);

#endif
