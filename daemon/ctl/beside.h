/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked beside a command, for its answer as text. */
#ifndef DAEMON_CTL_BESIDE_H
#define DAEMON_CTL_BESIDE_H

#include <jansson.h>

#include "daemon/control/control_request.h"

/* Of more connections the oldest Calls are not looked for, since each is told by the daemon then. */
#define BESIDE_MAX_CONNECTIONS 2000u

/**
 * beside_ask - ask it
 * @socket: of the daemon
 * @answer: to the command
 *
 * stats:  the answer to counters, by which each is explained.
 * status: {"time_s": now, "services": [as of services], "latency": its answer, "connections": [as of connections]}
 *
 * What an older daemon does not answer, or one with too many connections, is left out. Returns a new reference, or NULL.
 */
json_t *beside_ask(const char *socket, enum control_command_id command, const json_t *answer);

#endif
