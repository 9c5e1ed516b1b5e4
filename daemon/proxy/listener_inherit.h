/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening sockets inherited from systemd, and stored with it for the next start. */
#ifndef DAEMON_PROXY_LISTENER_INHERIT_H
#define DAEMON_PROXY_LISTENER_INHERIT_H

#include "base/compiler.h"
#include "daemon/proxy/proxy_priv.h"

/**
 * listener_inherit_check - Finds inherited sockets that no service uses; after all services have
 * started to listen.
 *
 * A socket from the descriptor store is removed from it. A socket of a .socket unit is an error,
 * which is logged: its clients would wait forever. Returns 0 or -EINVAL.
 */
int listener_inherit_check(struct proxy *proxy) MUST_CHECK;
/**
 * listener_inherit_store - Stores all current listening sockets with systemd for the next start.
 */
void listener_inherit_store(const struct proxy *proxy);

#endif
