/* SPDX-License-Identifier: BSD-3-Clause */
/* The order that an administrator gives for a server of a service. */
#ifndef DAEMON_CONTROL_TARGET_COMMAND_H
#define DAEMON_CONTROL_TARGET_COMMAND_H

#include <jansson.h>

#include "daemon/proxy/proxy.h"

/**
 * target_order_json - obey "SERVICE ADDRESS up|drain|down"; the main thread's
 *
 * Returns the answer: what it is now, or {"error": "why"}; NULL without memory.
 */
json_t *target_order_json(struct proxy *proxy, const char *argument);

#endif
