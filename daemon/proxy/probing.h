/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that are asked once in a while whether they answer, so that one that is down is known before it is needed.
 *
 * Those alone to which no client has a connection: a Reply that a client had says more. What is asked is NULL, over
 * a connection that counts for nobody (daemon/health/check.h).
 */
#ifndef DAEMON_PROXY_PROBING_H
#define DAEMON_PROXY_PROBING_H

#include "base/compiler.h"
#include "daemon/proxy/proxy_parts.h"

/** probing_begin - if the service wants it. Returns 0 or -ENOMEM. */
int probing_begin(struct proxy_service *ps) MUST_CHECK;
/** probing_end - ask no more; @emptied is called on the main thread when the last question is over, if one is out. */
void probing_end(struct proxy_service *ps, void (*emptied)(void *arg), void *arg);
/** probing_is_out - whether a question is. */
bool probing_is_out(const struct proxy_service *ps);
/** probing_fini - free what it has; a question that is out is given up, and waited for. */
void probing_fini(struct proxy_service *ps);

#endif
