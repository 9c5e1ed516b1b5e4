/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening sockets inherited from systemd, and stored with it for the next start. */
#ifndef DAEMON_PROXY_HELD_SOCKETS_H
#define DAEMON_PROXY_HELD_SOCKETS_H

#include "base/compiler.h"
#include "daemon/proxy/proxy_parts.h"

/**
 * held_sockets_check - Finds inherited sockets that no service uses; after all services have started to listen.
 *
 * A socket stored at an earlier start is removed from the store. A socket of a .socket unit is an error, because its
 * clients would wait forever; it is logged. Returns 0 or -EINVAL.
 */
int held_sockets_check(struct proxy *proxy) MUST_CHECK;
/** held_sockets_store - Stores all current listening sockets with systemd for the next start. */
void held_sockets_store(const struct proxy *proxy);

#endif
