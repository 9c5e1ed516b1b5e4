/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the command line: those of all commands, and those of some. */
#ifndef DAEMON_CTL_OPTIONS_H
#define DAEMON_CTL_OPTIONS_H

#include <stdbool.h>

#include "base/compiler.h"
#include "daemon/control/control_request.h"

/* Those of some commands; what they are called is a table in options.c. */
enum command_option {
	OPTION_NOW,
	OPTION_MOUNT,
	OPTION_CLIENT,
	OPTION_OPERATION,
	OPTION_SLOWER,
	OPTION_SECONDS,
	OPTION_DELAY,
	OPTION_COUNT,
	OPTION_CONNECTIONS,
	OPTION_SNAPLEN,
	OPTION_MAX_BYTES,
	COMMAND_OPTIONS,
};

struct options {
	const char *socket, *file;
	bool json, all, verbose, version, help;
	/* NULL: it was not given; its value, or "" of one that has none. */
	const char *of_command[COMMAND_OPTIONS];
	const char *output; /* of a command that has one */
	bool asked;         /* the daemon has answered, and did not refuse */
};

/**
 * options_parse - read them; argv is sorted so that the words stand at its end, from optind on
 *
 * What is wrong is said. Returns 0 or the status to exit with.
 */
int options_parse(int argc, char **argv, struct options *options) MUST_CHECK;

/** options_fit - whether each that was given is for that command; says of one that is not, which is. */
bool options_fit(const struct options *options, const struct control_command *command) MUST_CHECK;

/**
 * options_append - put those of a command behind its words, as the daemon takes them: " --mount", " --client 10.0.0.1"
 * @argument: of CONTROL_MAX_ARGUMENT_BYTES at most, and its end
 *
 * What is wrong is said. Returns 0 or the status to exit with.
 */
int options_append(const struct options *options, char *argument) MUST_CHECK;

#endif
