/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides for load balancers and supervisors whether the daemon runs, and which services can serve
 * clients.
 *
 * A service can serve while it listens, is not drained and has a usable server. A server is usable
 * unless it is down, or an administrator has taken it out of use (daemon/service/service_condition.h).
 */
#ifndef DAEMON_HTTP_READINESS_H
#define DAEMON_HTTP_READINESS_H

#include <stdbool.h>
#include <stdio.h>

#include "daemon/proxy/proxy.h"

enum readiness {
	READINESS_GOOD,
	READINESS_BAD,
	READINESS_UNKNOWN, /* no such service */
};

/* Which services must be able to serve. */
enum readiness_of {
	READINESS_OF_ALL,
	READINESS_OF_ANY, /* at least one */
	READINESS_OF_ONE, /* the named service */
};

/**
 * readiness_health - Returns READINESS_GOOD if the event loop of each worker runs. Writes "ok" to
 * @out, or a line per stuck worker.
 */
enum readiness readiness_health(const struct proxy *proxy, FILE *out);

/**
 * readiness_get - Returns whether the daemon is ready for clients.
 * @name: the service, for READINESS_OF_ONE only
 * @out:  gets "ok" or the reasons against it. If some services can serve and that is sufficient,
 *        the reasons of the others follow "ok"
 *
 * While the daemon is stopping, it is not ready. Without a service it is ready for
 * READINESS_OF_ALL, and not for READINESS_OF_ANY.
 */
enum readiness readiness_get(const struct proxy *proxy, enum readiness_of of, const char *name,
			     uint64_t now_us, FILE *out);

#endif
