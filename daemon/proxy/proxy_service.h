/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service on the main thread: its listener, its rejected connections and its instance on every
 * worker.
 *
 *	created ─▶ listening ─▶ removed ─▶ freed
 *
 * A listening service can be drained: its connections close between Calls, and new clients are
 * rejected. A removed service has no listener and drains. It is freed once it has no connection, no
 * snapshot refers to it, and no DNS lookup or health check of its servers is running.
 */
#ifndef DAEMON_PROXY_PROXY_SERVICE_H
#define DAEMON_PROXY_PROXY_SERVICE_H

#include "base/compiler.h"
#include "base/listen_socket.h"
#include "daemon/proxy/proxy_priv.h"
#include "daemon/service/listen_names.h"

/**
 * proxy_service_new - Creates a service on all workers, without a listener.
 * @config:  the service takes a reference
 * @service: its section of @config
 *
 * Returns NULL without memory.
 */
struct proxy_service *proxy_service_new(struct proxy *proxy, struct config *config,
					const struct service_config *service) MUST_CHECK;
/**
 * proxy_service_free - Frees a service without connections. The workers must run, or be freed
 * already.
 */
void proxy_service_free(struct proxy_service *ps);
/**
 * proxy_service_listen - Opens the listener, and ends draining.
 * @names, @have: for listener_open()
 * @error: buffer of LISTEN_ERROR_BYTES for the error text
 *
 * Returns 0 or a negative errno.
 */
int proxy_service_listen(struct proxy_service *ps, const struct listen_names *names,
			 const struct listen_sockets *have, char *error,
			 size_t error_bytes) MUST_CHECK;
/**
 * proxy_service_close_listener - Stops listening, and removes its sockets from the store of systemd.
 *
 * systemd keeps the socket of a .socket unit open: there the service rejects every client instead.
 */
void proxy_service_close_listener(struct proxy_service *ps);
/** proxy_service_unlisten - Stops listening; connections in the listen queue are lost. */
void proxy_service_unlisten(struct proxy_service *ps);
/** proxy_service_drain - Closes connections between Calls, and the rest after @timeout_s. */
void proxy_service_drain(struct proxy_service *ps, uint32_t timeout_s);
/** proxy_service_close_connections - Closes all connections immediately. */
void proxy_service_close_connections(struct proxy_service *ps);
/** proxy_service_is_free - Returns whether a removed service can be freed. */
bool proxy_service_is_free(struct proxy_service *ps);

#endif
