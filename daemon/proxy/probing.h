/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that are asked once in a while whether they answer, so that one that is down is known before it is needed.
 *
 * Those alone to which no client has a connection: a Reply that a client had says more. What is asked is NULL, over
 * a connection that counts for nobody (daemon/health/health.h).
 *
 * A server that has become doubtful (daemon/service/server_state.h) is asked at once, whether or not the service has the
 * others asked; but not twice in PROBING_DOUBT_US. So are the servers of MOUNT (daemon/service/targets.h), by a NULL of
 * MOUNT and apart from the others; these are asked in no other case.
 */
#ifndef DAEMON_PROXY_PROBING_H
#define DAEMON_PROXY_PROBING_H

#include "base/compiler.h"
#include "daemon/proxy/proxy_parts.h"

#define PROBING_DOUBT_US 5000000u

/** probing_begin - ask doubtful servers from now on, and the others if the service wants it. Returns 0 or -ENOMEM. */
int probing_begin(struct proxy_service *ps) MUST_CHECK;
/** probing_end - ask no more; @emptied is called on the main thread each time that a question which is out is over. */
void probing_end(struct proxy_service *ps, void (*emptied)(void *arg), void *arg);
/** probing_look - ask servers that have become doubtful, if there are any and no question is out. */
void probing_look(struct proxy_service *ps);
/** probing_is_out - whether a question is. */
bool probing_is_out(const struct proxy_service *ps);
/** probing_fini - free what it has; a question that is out is given up, and waited for. */
void probing_fini(struct proxy_service *ps);

#endif
