/* SPDX-License-Identifier: BSD-3-Clause */
/* Summarizes in one word what clients of a service meet at its servers. */
#ifndef DAEMON_SERVICE_SERVICE_CONDITION_H
#define DAEMON_SERVICE_SERVICE_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/service/late_calls.h"
#include "daemon/service/server_health.h"
#include "daemon/service/service.h"

#define CONDITIONS(X)                                                                              \
	X(UNKNOWN, "unknown")   /* no client has needed a server yet */                            \
	X(OK, "ok")             /* a server answers */                                             \
	X(SILENT, "silent")     /* Calls wait for LATE_CALL_WARN_US, and no Reply came */          \
	X(DISABLED, "disabled") /* an administrator has taken every server out of use */           \
	X(DOWN, "down")         /* every server in use is down */

enum condition {
#define CONDITION_ENUM(name, text) CONDITION_##name,
	CONDITIONS(CONDITION_ENUM)
#undef CONDITION_ENUM
};

struct service_condition {
	enum condition condition;
	bool has_age;
	uint64_t age_us; /* how long it has lasted, or the oldest Call has waited */
	/* silent: that of the oldest Call; else the best server in use, or the first one */
	const struct nfs_server *server;
	struct server_health_info health; /* of that server */
	struct late_calls_info late;
};

/** service_condition_get - Gets the condition; any thread. */
void service_condition_get(struct service *service, uint64_t now_us, struct service_condition *out);
/** condition_has_server - Returns whether a server is in use that is not down. */
static inline bool condition_has_server(enum condition condition)
{
	return condition != CONDITION_DISABLED && condition != CONDITION_DOWN;
}
/** condition_name - Returns "ok", "silent", … */
const char *condition_name(enum condition condition);

#endif
