/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said to who names a service that is none. */
#ifndef DAEMON_VIEW_NO_SERVICE_H
#define DAEMON_VIEW_NO_SERVICE_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/proxy/proxy.h"

/** no_service_json - {"error": "there is no service …"}, with the one that may be meant; a new reference. */
json_t *no_service_json(const struct proxy *proxy, const char *name) MUST_CHECK;

#endif
