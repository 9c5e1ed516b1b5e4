/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses requests of the control socket and holds the table of commands. */
#ifndef DAEMON_CONTROL_CONTROL_REQUEST_H
#define DAEMON_CONTROL_CONTROL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#define CONTROL_MAX_REQUEST_BYTES  1024u
#define CONTROL_FILE_READ_S        45u  /* two reads of READER_LIMIT_S: a current and a new one */
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
	/* Its name as help texts show it; NULL: the command takes none. */
	const char *argument;
	unsigned words;            /* of the argument; 0: one */
	unsigned min_words;        /* mandatory ones; 0: all */
	bool optional;             /* the argument can be left out */
	bool privileged;           /* for root and the daemon's own user only */
	bool by_client;            /* rpcrdma-proxyctl implements it, not the daemon */
	unsigned answer_timeout_s; /* time limit of the answer; 0: CONTROL_TIMEOUT_US */
	const char *options;       /* its options as help texts show them; NULL: none */
	const char *output;        /* its last word: a file that rpcrdma-proxyctl writes */
	const char *help;
};

/* The last entry has the name NULL. */
extern const struct control_command control_commands[];

struct control_request {
	const struct control_command *command;
	char argument[CONTROL_MAX_ARGUMENT_BYTES + 1]; /* "": none */
};

/**
 * control_command_words - Returns how many words the argument of a command has; 0: it takes none.
 */
unsigned control_command_words(const struct control_command *command);
/** control_command_min_words - Returns how many of these words are mandatory. */
unsigned control_command_min_words(const struct control_command *command);
/** control_command_find - Returns the command of that name, or NULL. */
const struct control_command *control_command_find(const char *name);

/**
 * control_request_parse - Parses a request.
 * @text, @len: the line without its end: "log debug", or {"command": "log", "argument": "debug"}
 * @request:    set on success
 *
 * Returns NULL, or an error text, which is constant.
 */
const char *control_request_parse(const char *text, size_t len,
				  struct control_request *request) MUST_CHECK;

#endif
