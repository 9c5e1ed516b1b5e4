/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends requests to the daemon over its control socket, and finds that socket. */
#ifndef DAEMON_CTL_CLIENT_H
#define DAEMON_CTL_CLIENT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "base/compiler.h"

#define CLIENT_MAX_ANSWER_BYTES (256u << 20)
#define CLIENT_TIMEOUT_S        15 /* for a command without an answer time of its own */

/**
 * client_request - Sends a command to the daemon and reads the answer.
 * @path:     its control socket
 * @command:  the command, with @argument or NULL
 * @error:    on failure set to a sentence without a full stop
 * @answer:   on success set to a new reference; {"error": …} is an answer too
 *
 * Returns 0 or a negative errno.
 */
int client_request(const char *path, const char *command, const char *argument, char *error,
		   size_t error_bytes, json_t **answer) MUST_CHECK;

/**
 * client_stream - Starts a streaming command.
 * @error: set on failure, or to why the daemon refuses
 * @grant: set to the line that grants it, a new reference
 * @in:    set to the unread stream after that line, without a time limit; the caller closes it. A
 *         shutdown() of its sending side asks the daemon to end the stream
 *
 * Returns 0, 1 if the daemon refuses, or a negative errno.
 */
int client_stream(const char *path, const char *command, const char *argument, char *error,
		  size_t error_bytes, json_t **grant, FILE **in) MUST_CHECK;

/**
 * sanitize_json - Returns a copy of @value with '?' for each control character in strings and keys.
 *
 * Every answer is sanitized: terminals execute escape sequences, and the daemon often has fewer
 * privileges than the user of this program. Control characters are those of ASCII and Latin 1
 * (U+0080 to U+009F). The copy is a new reference; NULL for NULL or if memory ran out.
 */
json_t *sanitize_json(const json_t *value);
/**
 * sanitize_load - Parses JSON and returns a sanitized copy; NULL if memory ran out or the text is
 * not JSON.
 */
json_t *sanitize_load(const char *text, size_t len);

/**
 * control_path - Reads only the key `control` of a configuration file.
 * @error: on failure set to a sentence without a full stop
 * @out:   set on success to the path or its default; the caller frees it
 *
 * Returns 0, -EINVAL for a syntax error, or the negative errno of reading the file.
 */
int control_path(const char *file, char *error, size_t error_bytes, char **out) MUST_CHECK;

/** config_string - Reads another global string key likewise; @preset is its default. */
int config_string(const char *file, const char *key, const char *preset, char *error,
		  size_t error_bytes, char **out) MUST_CHECK;

#endif
