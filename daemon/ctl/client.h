/* SPDX-License-Identifier: BSD-3-Clause */
/* One question to the daemon over its control socket, and which socket that is. */
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

/**
 * plain_json - a copy of @value whose strings and keys have '?' for each control character
 *
 * Those of ASCII and those of Latin 1 (U+0080 to U+009F). The daemon has less rights than who asks it often has, and a
 * terminal obeys what it is shown: so they are taken out of an answer before anybody has it. Returns a new reference; NULL for NULL or without memory.
 */
json_t *plain_json(const json_t *value);
/** plain_load - such a copy of the JSON in a text; NULL without memory or of a text that has none. */
json_t *plain_load(const char *text, size_t len);

/**
 * control_path - read `control` of a configuration file, and nothing else of it
 * @error: on failure: what is wrong with the file, a sentence without a full stop
 * @out:   set on success, to be freed: the path, or the default one if the file does not say
 *
 * Returns 0, -EINVAL of a file that is not well formed, or the negative errno with which it cannot be read.
 */
int control_path(const char *file, char *error, size_t error_bytes, char **out) MUST_CHECK;

/** config_string - the same of another key at the top, which is a string; @preset if the file has it not. */
int config_string(const char *file, const char *key, const char *preset, char *error,
		  size_t error_bytes, char **out) MUST_CHECK;

#endif
