/* SPDX-License-Identifier: BSD-3-Clause */
/* One question to the daemon over its control socket. */
#ifndef DAEMON_CTL_CLIENT_H
#define DAEMON_CTL_CLIENT_H

#include <jansson.h>
#include <stddef.h>

#include "base/compiler.h"

#define CLIENT_MAX_ANSWER_BYTES (256u << 20)
#define CLIENT_TIMEOUT_S        15 /* for a command whose answer takes no time */

/**
 * client_ask - ask the daemon
 * @path:     its control socket
 * @command:  the command, with @argument or NULL
 * @error:    on failure: what failed, a sentence without a full stop
 * @answer:   on success a new reference; {"error": …} is an answer too
 *
 * Returns 0 or a negative errno.
 */
int client_ask(const char *path, const char *command, const char *argument, char *error,
	       size_t error_bytes, json_t **answer) MUST_CHECK;

#endif
