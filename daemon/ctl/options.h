/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses command-line options: common options, and options of single commands. */
#ifndef DAEMON_CTL_OPTIONS_H
#define DAEMON_CTL_OPTIONS_H

#include <stdbool.h>

#include "base/compiler.h"
#include "daemon/control/control_request.h"

/* Options of single commands; a table in options.c has their names. */
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
	OPTION_EXIT_CODE,
	COMMAND_OPTIONS,
};

struct options {
	const char *socket, *file;
	bool json, all, verbose, version, help;
	/* The value, or "" if the option has none; NULL: not given. */
	const char *of_command[COMMAND_OPTIONS];
	const char *output; /* FILE of a command that writes one */
	bool asked;         /* the daemon has answered without an error */
	bool is_plugin;     /* check, or --exit-code: daemon/ctl/plugin_line.h */
	bool is_critical;   /* the daemon does not run or answer, and --exit-code is given */
};

/**
 * options_parse - Parses the options and permutes @argv so that the words start at optind.
 *
 * Prints errors. Returns 0 or the exit status.
 */
int options_parse(int argc, char **argv, struct options *options) MUST_CHECK;

/**
 * options_check - Returns whether every given option applies to @command. If one does not, prints
 * the commands that have this option.
 */
bool options_check(const struct options *options, const struct control_command *command) MUST_CHECK;

/**
 * options_append - Appends the options of a command to its words, as the daemon expects, such as
 * " --client 10.0.0.1" with the leading space. Leaves out those that the client itself obeys.
 * @argument: a buffer of CONTROL_MAX_ARGUMENT_BYTES and the zero byte
 *
 * Prints errors. Returns 0 or the exit status.
 */
int options_append(const struct options *options, char *argument) MUST_CHECK;

#endif
