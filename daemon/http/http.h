/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the daemon shows over HTTP, if the configuration has http_listen.
 *
 *	/metrics                of Prometheus (daemon/http/metrics_table.h)
 *	/healthz, /readyz       whether it works, and whether clients are to come
 *	/                       a page for people, in one file
 *	/api/status.json …      what that page polls: the answers of daemon/view/answer.h, and "schema"
 */
#ifndef DAEMON_HTTP_HTTP_H
#define DAEMON_HTTP_HTTP_H

#include "base/compiler.h"
#include "daemon/proxy/proxy.h"
#include "daemon/view/gather.h"

struct http;

/**
 * http_open - show what there is where the proxy's configuration says, and after each reload what that says then
 * @gathering: of that proxy; closed after it
 *
 * What fails is logged. Returns 0 or a negative errno.
 */
int http_open(struct proxy *proxy, struct gathering *gathering, struct http **out) MUST_CHECK;
/** http_close - show it no more; before the proxy is stopped. Accepts NULL. */
void http_close(struct http *http);

#endif
