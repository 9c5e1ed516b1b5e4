/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the daemon works, and whether clients are to come, for who asks: a load balancer, an orchestrator. */
#ifndef DAEMON_HTTP_READINESS_H
#define DAEMON_HTTP_READINESS_H

#include <stdbool.h>
#include <stdio.h>

#include "daemon/proxy/proxy.h"

/** readiness_is_healthy - whether the loop of each worker turns; "ok" or those that do not are told on @out, in lines. */
bool readiness_is_healthy(const struct proxy *proxy, FILE *out);
/**
 * readiness_is_ready - whether clients are to come; "ok" or what speaks against it is told on @out, in lines
 *
 * Not while it stops, nor while a service is drained or has no server: all of them are known to be down, or an
 * administrator has taken them away.
 */
bool readiness_is_ready(const struct proxy *proxy, FILE *out);

#endif
