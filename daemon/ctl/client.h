/* SPDX-License-Identifier: BSD-3-Clause */
/* One question to the daemon over its control socket. */
#ifndef DAEMON_CTL_CLIENT_H
#define DAEMON_CTL_CLIENT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

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

/**
 * client_stream - ask for what has no end of its own
 * @error: gets a sentence on failure, or why the daemon refuses
 * @grant: set to the line that grants it, a new reference
 * @in:    set to what the daemon sends behind that; without a time limit. The caller's, who closes it; to
 *	   end its sending side asks for the end. Nothing of it has been read yet
 *
 * Returns 0, 1 if the daemon refuses, or a negative errno.
 */
int client_stream(const char *path, const char *command, const char *argument, char *error,
		  size_t error_bytes, json_t **grant, FILE **in) MUST_CHECK;

#endif
