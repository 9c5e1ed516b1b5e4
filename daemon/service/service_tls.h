/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TLS context of a running service, for its clients and its servers.
 *
 * config_load() reads the files. A service takes the context of its configuration; if a reload finds
 * changed files but an unchanged service, that service gets the new context. Connections keep the
 * context that they began with, so a reload closes none.
 *
 * Any thread can call these functions. A lock protects the context.
 */
#ifndef DAEMON_SERVICE_SERVICE_TLS_H
#define DAEMON_SERVICE_SERVICE_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "daemon/config/config.h"
#include "tls/tls_context.h"

struct service_tls;

/**
 * service_tls_new - Creates it with the context of @config, which is not needed afterwards.
 *
 * A service without TLS has one too, without a context. Returns NULL without memory.
 */
struct service_tls *service_tls_new(const struct service_config *config) MUST_CHECK;
/** service_tls_ref - Returns another reference, for a health check that can outlive the service. */
struct service_tls *service_tls_ref(struct service_tls *tls);
/** service_tls_put - Drops a reference; the last one frees. Accepts NULL. */
void service_tls_put(struct service_tls *tls);

/**
 * service_tls_for_clients - Returns a reference to the context of a new connection from a client,
 * which tls_context_put() drops; NULL: `tls` is "off".
 */
struct tls_context *service_tls_for_clients(struct service_tls *tls);
/**
 * service_tls_for_server - Gets a reference to the context of a new connection to a server
 * @host: of the server's URI: the name or address that its certificate must have, unless
 *        tls_server_name says another one
 * @out:  NULL: tls_connect is "off"
 *
 * Returns 0 or -ENOMEM. After an error the connection must fail: it never falls back to clear text.
 */
int service_tls_for_server(struct service_tls *tls, const char *host,
			   struct tls_context **out) MUST_CHECK;
/**
 * service_tls_expiry_s - Returns when the certificate that new connections use expires, in seconds
 * of Unix time; 0: the service has no certificate.
 */
int64_t service_tls_expiry_s(struct service_tls *tls);
/**
 * service_tls_replace - Gives new connections the context of @fresh, the same service in a reloaded
 * configuration. Returns whether the files have changed: if not, nothing is done.
 */
bool service_tls_replace(struct service_tls *tls, const struct service_config *fresh);

#endif
