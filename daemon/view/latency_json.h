/* SPDX-License-Identifier: BSD-3-Clause */
/* How long Calls took, by operation and stage, as JSON: the answer to `latency`. */
#ifndef DAEMON_VIEW_LATENCY_JSON_H
#define DAEMON_VIEW_LATENCY_JSON_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/proxy/proxy_parts.h"
#include "daemon/service/call_stats.h"

/**
 * latency_json - of all services: as answer.h has it
 * @services, @calls: of @count
 *
 * A new reference, NULL without memory.
 */
json_t *latency_json(struct proxy_service *const *services, const struct call_stats *calls,
		     size_t count) MUST_CHECK;
/**
 * latency_only - of an answer with all services, what was asked for
 * @argument: "", "SERVICE" or "SERVICE OPERATION"
 *
 * A new reference; with "error" where there is no such service or operation.
 */
json_t *latency_only(const struct proxy *proxy, json_t *answer, const char *argument) MUST_CHECK;

#endif
