/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts and stops the whole daemon: the services with their listeners on the main thread, and the
 * workers.
 */
#ifndef DAEMON_PROXY_PROXY_H
#define DAEMON_PROXY_PROXY_H

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/proxy/proxy_priv.h"

/*
 * Most time that a stop takes in addition to drain_timeout_s: LEG_STOP_US to close connections,
 * RESOLVER_QUIESCE_MS for DNS lookups, RPCB_CLIENT_END_MS for rpcbind, and a reserve. The daemon
 * reports the sum with drain_timeout_s to systemd. TimeoutStopSec= of the unit is that sum for the
 * default drain_timeout_s.
 */
#define PROXY_STOP_S        15u
#define PROXY_STOP_SPARE_MS 5000u

/**
 * proxy_start - Starts the workers and listeners.
 * @loop:   of the main thread
 * @config: the proxy takes a reference
 *
 * Logs failures. Returns 0 or a negative errno.
 */
int proxy_start(struct loop *loop, struct config *config, struct proxy **out) MUST_CHECK;

#define PROXY_SIZE_BYTES 80u /* buffer size for proxy_size_text() */

/** proxy_size_text - Writes "3 services, 2 workers" to @text. Returns @text. */
const char *proxy_size_text(const struct proxy *proxy, char text[PROXY_SIZE_BYTES]);

/** proxy_log_listening - Logs where a service listens, and its server. */
void proxy_log_listening(const struct proxy_service *ps);

/**
 * proxy_update_listen_addrs - Updates the list of own listen addresses, for self_connect_matches().
 * Returns 0 or -ENOMEM.
 */
int proxy_update_listen_addrs(struct proxy *proxy) MUST_CHECK;

/**
 * proxy_drain_service - Drains a service for drain_timeout_s, and closes the connections left after
 * that.
 */
void proxy_drain_service(struct proxy_service *ps);

/**
 * proxy_remove_service - Removes a service: it stops listening, drains, and is freed after its last
 * connection has closed.
 * @is_replaced: a new service of the same name replaces it
 */
void proxy_remove_service(struct proxy_service *ps, bool is_replaced);

/**
 * proxy_drain_and_stop - Removes all services; stops the loop when they have drained, or after
 * drain_timeout_s.
 *
 * A second call stops the loop immediately.
 */
void proxy_drain_and_stop(struct proxy *proxy);

/**
 * proxy_stop - Stops listening, closes every connection, joins the workers and frees everything.
 *
 * Connections close in order, within a time limit. Accepts NULL. Returns true; or false if a worker
 * did not end in time, because an RDMA device does not complete a command. Then nothing is freed,
 * and the caller must call _exit(): exit handlers would free memory that the worker uses.
 */
bool proxy_stop(struct proxy *proxy);

#endif
