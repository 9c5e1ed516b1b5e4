/* SPDX-License-Identifier: BSD-3-Clause */
/* What the main thread knows for the answers to status and services (daemon/view/answer.h). */
#ifndef DAEMON_VIEW_SERVICE_JSON_H
#define DAEMON_VIEW_SERVICE_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "base/compiler.h"
#include "daemon/proxy/proxy.h"

/** no_service_json - {"error": "there is no service …"}, with the one that may be meant; a new reference. */
json_t *no_service_json(const struct proxy *proxy, const char *name) MUST_CHECK;

/** status_json - of the daemon as a whole, but for its memory; a new reference, NULL without memory. */
json_t *status_json(const struct proxy *proxy) MUST_CHECK;
/** config_json - {"file", "lines": the configuration in force as a file would have it}; the same. */
json_t *config_json(const struct config *config) MUST_CHECK;
/** services_json - of the @nservices in @services, but for their memory; the same. */
json_t *services_json(const struct proxy *proxy, struct proxy_service *const *services,
		      size_t nservices) MUST_CHECK;

#endif
