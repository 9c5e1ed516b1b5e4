/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service on the main thread: its listener, who is turned away there, and its stations at the workers.
 *
 *	made ─▶ listening ─▶ leaving ─▶ freed
 *
 * While it listens it may be drained: its connections end between Calls, and nobody gets in. One that leaves has no
 * listener and drains; it is freed when its last connection has gone, nobody shows it and no look-up of its server's
 * name is out.
 */
#ifndef DAEMON_PROXY_PROXY_SERVICE_H
#define DAEMON_PROXY_PROXY_SERVICE_H

#include "base/compiler.h"
#include "base/listen_socket.h"
#include "daemon/proxy/proxy_parts.h"
#include "daemon/service/listen_names.h"

/**
 * proxy_service_new - a service with stations at all workers, and no listener
 * @config:  counted once more
 * @service: of @config
 *
 * Returns NULL without memory.
 */
struct proxy_service *proxy_service_new(struct proxy *proxy, struct config *config,
					const struct service_config *service) MUST_CHECK;
/** proxy_service_free - the end of one without connections; the workers run, or have ended and are freed. */
void proxy_service_free(struct proxy_service *ps);
/**
 * proxy_service_listen - open its listener, and forget that it is drained
 * @names, @have: for listener_open()
 *
 * What fails is in @error, LISTEN_ERROR_BYTES long. Returns 0 or a negative errno.
 */
int proxy_service_listen(struct proxy_service *ps, const struct listen_names *names,
			 const struct listen_sockets *have, char *error,
			 size_t error_bytes) MUST_CHECK;
/**
 * proxy_service_shut - take nobody any more, and have systemd keep no socket for it
 *
 * On a socket of a .socket unit, which systemd keeps all the same, whoever comes is turned away instead.
 */
void proxy_service_shut(struct proxy_service *ps);
/** proxy_service_unlisten - take no connections any more; those in the kernel's queue are lost. */
void proxy_service_unlisten(struct proxy_service *ps);
/** proxy_service_drain - have its connections end between Calls; those that have not @timeout_s from now are cut. */
void proxy_service_drain(struct proxy_service *ps, uint32_t timeout_s);
/** proxy_service_cut - have them end now. */
void proxy_service_cut(struct proxy_service *ps);
/** proxy_service_is_free - whether nothing holds one that leaves any more. */
bool proxy_service_is_free(struct proxy_service *ps);

#endif
