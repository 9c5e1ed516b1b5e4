/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be asked through the control socket: the table of commands, and the form of a request. */
#ifndef DAEMON_CONTROL_CONTROL_REQUEST_H
#define DAEMON_CONTROL_CONTROL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#define CONTROL_MAX_REQUEST_BYTES 1024u
#define CONTROL_READING_S                                                                          \
	45u /* two readings of READER_LIMIT_S: one that is under way, and one more */
#define CONTROL_MAX_ARGUMENT_BYTES 400u /* a service, an address and a word */

enum control_command_id {
	CONTROL_COMMAND_STATUS,
	CONTROL_COMMAND_SERVICES,
	CONTROL_COMMAND_CONNECTIONS,
	CONTROL_COMMAND_LATENCY,
	CONTROL_COMMAND_TOP,
	CONTROL_COMMAND_TRACE,
	CONTROL_COMMAND_CAPTURE,
	CONTROL_COMMAND_STATS,
	CONTROL_COMMAND_COUNTERS,
	CONTROL_COMMAND_CONFIG,
	CONTROL_COMMAND_CHECK,
	CONTROL_COMMAND_SUPPORT,
	CONTROL_COMMAND_TARGET,
	CONTROL_COMMAND_LOG,
	CONTROL_COMMAND_RELOAD,
	CONTROL_COMMAND_DRAIN,
	CONTROL_COMMAND_RESUME,
	CONTROL_COMMAND_DISCONNECT,
	CONTROL_COMMAND_STOP,
};

#define CONTROL_TRACE_OPTIONS 5u /* of daemon/tap/tap_request.h, each with a value */

struct control_command {
	const char *name;
	enum control_command_id id;
	/* Its name, for a command that takes one, or those of `words`; else NULL. */
	const char *argument;
	unsigned words;    /* that the argument has; 0 is one … */
	unsigned least;    /* … and how many of them it cannot do without; 0: all */
	bool optional;     /* the argument may be left out */
	bool privileged;   /* for root and the daemon's own user only */
	bool by_client;    /* the client does it; the daemon knows it not */
	unsigned answer_s; /* how long the answer may take; 0: CONTROL_TIMEOUT_US */
	const char *
		options; /* of its own, as they are written; NULL: none but what the argument says */
	const char *output; /* its last word: a file that the client writes, and keeps to itself */
	const char *help;
};

/* Ended by a NULL name. */
extern const struct control_command control_commands[];

struct control_request {
	const struct control_command *command;
	char argument[CONTROL_MAX_ARGUMENT_BYTES + 1]; /* "": none was given */
};

/** control_command_words - of how many words the argument of a command is; 0: it takes none. */
unsigned control_command_words(const struct control_command *command);
/** control_command_least - how many of them it cannot do without. */
unsigned control_command_least(const struct control_command *command);
/** control_command_find - the command of that name, or NULL. */
const struct control_command *control_command_find(const char *name);

/**
 * control_request_parse - read a request
 * @text, @len: the line without its end: "log debug", or {"command": "log", "argument": "debug"}
 * @request:    set on success
 *
 * Returns NULL, or what is wrong with it; the text is constant.
 */
const char *control_request_parse(const char *text, size_t len,
				  struct control_request *request) MUST_CHECK;

#endif
