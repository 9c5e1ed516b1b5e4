/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon as a whole: services with their listeners on the main thread, and the workers. */
#ifndef DAEMON_PROXY_PROXY_H
#define DAEMON_PROXY_PROXY_H

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/proxy/proxy_parts.h"

/*
 * How long a stop can take beside drain_timeout_s: LEG_STOP_US for connections that are cut, RESOLVER_QUIESCE_MS for
 * look-ups, REGISTRAR_END_MS for rpcbind, and something to spare for the log and for a busy machine. systemd is told the sum;
 * TimeoutStopSec= of the unit is that of the default.
 */
#define PROXY_STOP_S        15u
#define PROXY_STOP_SPARE_MS 5000u

/**
 * proxy_start - start workers and listeners
 * @loop:   the main thread's
 * @config: counted once more
 *
 * What fails is logged. Returns 0 or a negative errno.
 */
int proxy_start(struct loop *loop, struct config *config, struct proxy **out) MUST_CHECK;

#define PROXY_SIZE_BYTES 80u /* room for proxy_size_text() */

/** proxy_size_text - "3 services, 2 workers"; returns @text. */
const char *proxy_size_text(const struct proxy *proxy, char text[PROXY_SIZE_BYTES]);

/** proxy_tell_listening - log where a service listens, and for whom. */
void proxy_tell_listening(const struct proxy_service *ps);

/** proxy_find_doors - where all services listen now, for own_doors_take(). Returns 0 or -ENOMEM. */
int proxy_find_doors(struct proxy *proxy) MUST_CHECK;

/** proxy_drain - proxy_service_drain() for drain_timeout_s, and what is left then is cut. */
void proxy_drain(struct proxy_service *ps);

/**
 * proxy_leave - have a service that is out of the file take nobody any more, drain, and go
 * @followed: another one of its name takes its place
 */
void proxy_leave(struct proxy_service *ps, bool followed);

/**
 * proxy_stop_gently - have all services leave; the loop ends when that is done, or drain_timeout_s is over
 *
 * Asked for again, it ends now.
 */
void proxy_stop_gently(struct proxy *proxy);

/**
 * proxy_stop - stop listening, close every connection, end the workers, free
 *
 * Connections close in good order, within a bound. Accepts NULL. Returns true; or false if a worker did not end within that bound,
 * since an RDMA device does not execute a command: then nothing is freed, and the process must end without running its own end
 * (_exit()), since the worker uses what that would free.
 */
bool proxy_stop(struct proxy *proxy);

#endif
