/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon as a whole: services with their listeners on the main thread, and the workers. */
#ifndef DAEMON_PROXY_PROXY_H
#define DAEMON_PROXY_PROXY_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/config/own_doors.h"
#include "daemon/proxy/worker.h"
#include "daemon/service/lobby.h"
#include "daemon/service/service.h"
#include "leg/leg.h"

struct listener;

/* A service on the main thread. */
struct proxy_service {
	struct proxy *proxy;
	struct listener *listener;
	struct lobby lobby;                /* connections that were turned away */
	uint64_t refused[LEG_CLOSE_COUNT]; /* …, by reason */
	bool resting;               /* no descriptors are left for it, and it has been said */
	struct log_limit shortages; /* of descriptors */
};

struct proxy {
	const struct config *config;
	struct loop *loop; /* the main thread's */
	size_t nservices;
	struct service *services;             /* shared with the workers */
	struct proxy_service *proxy_services; /* the main thread's, same order */
	size_t nworkers;
	struct worker **workers;
	struct budget budget;   /* of memory; shared with the workers */
	struct own_doors doors; /* where it listens: complete before anybody can connect */
	struct ports
		*ports; /* where connections to TCP servers come from; shared with the workers */
	uint64_t next_id, start_us;
	unsigned max_connections; /* that there are descriptors for */
	struct loop_timer *look;  /* at what is told once in a while */
};

/**
 * proxy_start - start workers and listeners
 * @loop:   the main thread's
 * @config: outlives the proxy
 *
 * What fails is logged. Returns 0 or a negative errno.
 */
int proxy_start(struct loop *loop, const struct config *config, struct proxy **out) MUST_CHECK;

/** proxy_connections - how many there are now, of all services. */
unsigned proxy_connections(const struct proxy *proxy);

/**
 * proxy_stop - stop listening, close every connection, end the workers, free
 *
 * Connections close in good order, within a bound. Accepts NULL.
 */
void proxy_stop(struct proxy *proxy);

#endif
