/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serves metrics, health and a status page over HTTP, if the configuration has http_listen.
 *
 * 	/metrics                for Prometheus (daemon/http/metrics_table.h)
 * 	/healthz                liveness (daemon/http/readiness.h)
 * 	/readyz                 readiness of all services; /readyz?any of one at least
 * 	/readyz/SERVICE         readiness of one service
 * 	/                       a status page for browsers, in one file
 * 	/api/status.json …      data of that page: the answers of daemon/view/answer.h, and "schema"
 */
#ifndef DAEMON_HTTP_HTTP_H
#define DAEMON_HTTP_HTTP_H

#include "base/compiler.h"
#include "daemon/proxy/proxy.h"
#include "daemon/view/snapshot_collect.h"

struct http;

/**
 * http_open - Serves at the address of the proxy's configuration, and follows each reload.
 * @snapshot_collector: of that proxy; closed after this
 *
 * Logs failures. Returns 0 or a negative errno.
 */
int http_open(struct proxy *proxy, struct snapshot_collector *snapshot_collector,
	      struct http **out) MUST_CHECK;
/** http_close - Stops serving, before the proxy is stopped; accepts NULL. */
void http_close(struct http *http);

#endif
