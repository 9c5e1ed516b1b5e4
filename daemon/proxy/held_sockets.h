/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners and the sockets that systemd holds for them: one that is there is gone on with, and those of today are stored. */
#ifndef DAEMON_PROXY_HELD_SOCKETS_H
#define DAEMON_PROXY_HELD_SOCKETS_H

#include "base/compiler.h"
#include "daemon/proxy/proxy_parts.h"

/**
 * held_sockets_check - after all services have begun to listen: find out what systemd holds for nobody
 *
 * What the daemon has stored at an earlier start is taken out of the store. A socket of a .socket unit is an error,
 * which is logged: whoever connects there would wait for ever. Returns 0 or -EINVAL.
 */
int held_sockets_check(struct proxy *proxy) MUST_CHECK;
/** held_sockets_store - have all that listens now survive the daemon. */
void held_sockets_store(const struct proxy *proxy);

#endif
