// SPDX-License-Identifier: BSD-3-Clause
/*
 * rpcrdma-proxyctl: parses the command line, sends commands to the daemon and prints the answers.
 */
#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/compiler.h"
#include "daemon/base/edit_distance.h"
#include "daemon/base/paths.h"
#include "daemon/control/control_request.h"
#include "daemon/ctl/client.h"
#include "daemon/ctl/ctl_error.h"
#include "daemon/ctl/json_cells.h"
#include "daemon/ctl/local_commands.h"
#include "daemon/ctl/options.h"
#include "daemon/ctl/plugin_line.h"
#include "daemon/ctl/render.h"

/*
 * With more connections status omits the oldest Calls, because the daemon would send every
 * connection.
 */
#define EXTRA_MAX_CONNECTIONS 2000u

static json_t *query_extra(const char *socket, const char *command)
{
	json_t *answer = NULL;
	char error[512];

	return client_request(socket, command, NULL, error, sizeof(error), &answer) ? NULL : answer;
}

/* Adds the member @command of the answer to that command, if there is one. */
static void put_member(json_t *extra, const char *socket, const char *command)
{
	json_t *answer = query_extra(socket, command);
	json_t *member = json_object_get(answer, command);

	if (member)
		json_object_set(extra, command, member);
	json_decref(answer);
}

static json_t *query_for_status(const char *socket, const json_t *answer)
{
	json_t *extra = json_pack("{s:I}", "time_s", (json_int_t)time(NULL));
	json_t *latency = query_extra(socket, "latency");

	put_member(extra, socket, "services");
	if (latency)
		json_object_set_new(extra, "latency", latency);
	if (json_number(answer, "connections") <= EXTRA_MAX_CONNECTIONS)
		put_member(extra, socket, "connections");
	return extra;
}

/*
 * extra_query - Requests the additional answers that the text form of an answer needs.
 * @socket: of the daemon
 * @answer: to the command
 *
 * stats:  the answer to counters, which explains each counter. status: {"time_s": now, "services":
 * [as of services], "latency": its answer, "connections": [as of connections]}
 *
 * Omits what an older daemon does not answer, and connections if there are too many. Returns a new
 * reference, or NULL.
 */
static json_t *extra_query(const char *socket, enum control_command_id command,
			   const json_t *answer)
{
	switch (command) {
	case CONTROL_COMMAND_STATS:
		return query_extra(socket, "counters");
	case CONTROL_COMMAND_STATUS:
		return query_for_status(socket, answer);
	default:
		return NULL;
	}
}

/* ---- help ---- */

/* Prints "stats [SERVICE]". Returns its width. */
static int print_command(const struct control_command *command)
{
	const char *argument = command->argument, *output = command->output;
	int width = printf("%s", command->name);

	if (argument)
		width += printf(command->optional ? " [%s]" : " %s", argument);
	return output ? width + printf(" %s", output) : width;
}

static void print_help(void)
{
	puts("usage: " PROGRAM " [OPTION]... COMMAND [ARGUMENT]\n"
	     "       " PROGRAM " help [COMMAND]\n"
	     "options:\n"
	     "  -s, --socket SOCKET  the control socket of the daemon\n"
	     "  -c, --config FILE    the daemon's configuration file, which names its control\n"
	     "                       socket; default: " CONFIG_DEFAULT_FILE ";\n"
	     "                       if unreadable: " CONTROL_DEFAULT_SOCKET "\n"
	     "  -j, --json           print the answer as JSON\n"
	     "  -a, --all            print every column, and counters that are zero\n"
	     "  -v, --verbose        print which socket is used, and which file named it\n"
	     "  -V, --version        print the version and exit\n"
	     "  -h, --help           print this help and exit\n"
	     "commands:");
	for (const struct control_command *c = control_commands; c->name; c++) {
		int width;

		fputs("  ", stdout);
		width = print_command(c);
		/* Long arguments are on a separate line. */
		if (width >= 17)
			printf("\n%19s%s\n", "", c->help);
		else
			printf("%*s%s\n", 17 - width, "", c->help);
	}
	puts("'" PROGRAM " help COMMAND' shows the options of a command");
}

/* Returns the most similar command, one with the same beginning, or NULL. */
static const struct control_command *nearest(const char *name)
{
	const struct control_command *found = NULL, *begins = NULL;
	unsigned best = UINT_MAX;

	for (const struct control_command *c = control_commands; c->name; c++) {
		unsigned edits = edit_distance(name, c->name);

		if (edits < best) {
			best = edits;
			found = c;
		}
		if (!begins && !strncmp(c->name, name, 3))
			begins = c;
	}
	return found ? found : begins;
}

static int ctl_error_command(const char *name)
{
	const struct control_command *meant = nearest(name);

	if (meant)
		return ctl_error(EXIT_USAGE, "unknown command '%s': did you mean '%s'? " SEE_HELP,
				 name, meant->name);
	return ctl_error(EXIT_USAGE, "unknown command '%s'; " SEE_HELP, name);
}

static int help_on(const char *name)
{
	const struct control_command *command = control_command_find(name);

	if (!command)
		return ctl_error_command(name);
	fputs("usage: " PROGRAM " [OPTION]... ", stdout);
	print_command(command);
	printf("\n%s\n", command->help);
	if (command->options)
		printf("options: %s\n", command->options);
	if (command->privileged)
		puts("only for root and the user of the daemon");
	return EXIT_OK;
}

/* ---- commands of the daemon ---- */

static volatile sig_atomic_t reader_left;

static void on_pipe(int signal)
{
	reader_left = 1;
}

/* A reader that has closed the pipe, as head does, is not a failure. */
static int finish_output(int status)
{
	errno = 0;
	if ((!fflush(stdout) && !ferror(stdout)) || reader_left)
		return status;
	return ctl_error(EXIT_USAGE, "cannot write the answer%s%s", errno ? ": " : "",
			 errno ? strerror(errno) : "");
}

static int print_answer(const struct options *options, const struct control_command *command,
			const json_t *answer, const json_t *extra)
{
	int rc = 0;

	if (options->is_plugin && !options->json)
		(command->id == CONTROL_COMMAND_CHECK ? plugin_check_print
						      : plugin_status_print)(answer, stdout);
	if (options->json) {
		/* finish_output() reports failures. */
		(void)json_dumpf(answer, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
		putchar('\n');
	} else {
		rc = render_answer(command->id, answer, extra, options->all, stdout);
	}
	return rc ? ctl_error(EXIT_USAGE, "out of memory") : EXIT_OK;
}

/* Prints the parts of an error, one per line. */
static void ctl_error_lines(const json_t *lines)
{
	for (size_t i = 0; i < json_array_size(lines); i++)
		ctl_error(0, "%s", json_string_value(json_array_get(lines, i)));
}

static int plugin_result(enum control_command_id command, const json_t *answer)
{
	return command == CONTROL_COMMAND_CHECK ? plugin_check_result(answer)
						: plugin_status_result(answer);
}

/*
 * Returns the exit status when the daemon cannot be asked. A daemon that does not run or does not
 * answer serves no clients, which is critical for `status --exit-code`; anything else is unknown.
 */
static int unreachable_status(struct options *options, int rc)
{
	if (!options->of_command[OPTION_EXIT_CODE])
		return EXIT_UNREACHABLE;
	options->is_critical =
		rc == -ENOENT || rc == -ECONNREFUSED || rc == -ETIMEDOUT || rc == -EPROTO;
	return options->is_critical ? PLUGIN_CRITICAL : PLUGIN_UNKNOWN;
}

static int query_and_print(struct options *options, const struct control_command *command,
			   const char *argument)
{
	json_t *answer, *extra;
	const char *refused;
	char error[512];
	int rc, status;

	rc = client_request(options->socket, command->name, argument, error, sizeof(error),
			    &answer);
	if (rc)
		return ctl_error(unreachable_status(options, rc), "%s", error);
	refused = json_string_value(json_object_get(answer, "error"));
	if (refused) {
		ctl_error_lines(json_object_get(answer, "errors"));
		status = ctl_error(EXIT_REFUSED, "%s", refused);
	} else {
		extra = options->json ? NULL : extra_query(options->socket, command->id, answer);
		status = print_answer(options, command, answer, extra);
		json_decref(extra);
		options->asked = !status;
		if (!status && options->is_plugin)
			status = plugin_result(command->id, answer);
	}
	json_decref(answer);
	return status;
}

/* Returns NULL if the daemon implements the command. */
static local_command *own_command_find(enum control_command_id command)
{
	switch (command) {
	case CONTROL_COMMAND_SUPPORT:
		return local_support;
	case CONTROL_COMMAND_TOP:
		return local_top;
	case CONTROL_COMMAND_TRACE:
		return local_trace;
	case CONTROL_COMMAND_CAPTURE:
		return local_capture;
	default:
		return NULL;
	}
}

/*
 * Finds the socket: from the option or a file. The default file can be missing, unreadable or
 * invalid.
 */
static int query_daemon(struct options *options, const struct control_command *command,
			const char *argument)
{
	const char *file = options->file ? options->file : CONFIG_DEFAULT_FILE;
	char *path = NULL, error[512];
	local_command *own;
	int rc = 0, status;

	if (!options->socket) {
		rc = control_path(file, error, sizeof(error), &path);
		if (rc && options->file && command->id != CONTROL_COMMAND_SUPPORT)
			return ctl_error(EXIT_USAGE, "%s", error);
		options->socket = rc ? CONTROL_DEFAULT_SOCKET : path;
		if (options->verbose && rc)
			ctl_error(0, "%s", error);
		else if (options->verbose)
			ctl_error(0, "using the socket of %s", file);
	}
	if (options->verbose)
		ctl_error(0, "connecting to %s", options->socket);
	own = own_command_find(command->id);
	status = own ? own(options, argument) : query_and_print(options, command, argument);
	free(path);
	return status;
}

/* ---- the command line ---- */

/* Joins the words by spaces, as the daemon expects. */
static int query_words(struct options *options, const struct control_command *command, int nwords,
		       char **words)
{
	char argument[CONTROL_MAX_ARGUMENT_BYTES + 1] = "";
	size_t used = 0;
	int status;

	for (int i = 0; i < nwords && used < sizeof(argument); i++)
		used += (size_t)snprintf(argument + used, sizeof(argument) - used, "%s%s",
					 i ? " " : "", words[i]);
	if (used >= sizeof(argument))
		return ctl_error(EXIT_USAGE, "the argument is too long");
	/* The daemon does not know the options of local commands. */
	status = command->by_client ? 0 : options_append(options, argument);
	if (status)
		return status;
	return query_daemon(options, command, *argument ? argument : NULL);
}

static int run_command(struct options *options, int nwords, char **words)
{
	const struct control_command *command;
	int most;

	if (!nwords)
		return ctl_error(EXIT_USAGE, "a command is missing; " SEE_HELP);
	if (!strcmp(words[0], "help") && nwords == 2)
		return help_on(words[1]);
	if (!strcmp(words[0], "help") && nwords == 1) {
		print_help();
		return EXIT_OK;
	}
	command = control_command_find(words[0]);
	if (!command)
		return ctl_error_command(words[0]);
	most = 1 + (int)control_command_words(command);
	if (nwords > most)
		return ctl_error(EXIT_USAGE, "unexpected word '%s': '" PROGRAM " help %s'",
				 words[most], command->name);
	if (command->output && nwords > 1)
		options->output = words[--nwords];
	else if (command->output)
		return ctl_error(EXIT_USAGE, "%s takes an argument, %s: '" PROGRAM " help %s'",
				 command->name, command->output, command->name);
	if (nwords < 1 + (int)control_command_min_words(command) && !command->optional)
		return ctl_error(EXIT_USAGE, "%s takes an argument, %s: '" PROGRAM " help %s'",
				 command->name, command->argument, command->name);
	if (!options_check(options, command))
		return EXIT_USAGE;
	return query_words(options, command, nwords - 1, words + 1);
}

/* Returns whether the command line has @word anywhere. */
static bool has_word(int argc, char **argv, const char *word)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], word))
			return true;
	return false;
}

/* A failed request must not look like the state of a server or of the daemon. */
static int plugin_finish(const struct options *options, int status)
{
	if (options->asked || !status)
		return status;
	status = options->is_critical ? PLUGIN_CRITICAL : PLUGIN_UNKNOWN;
	if (!options->json)
		plugin_failure_print((enum plugin_status)status, ctl_error_last(), stdout);
	return status;
}

static int run(struct options *options, int argc, char **argv)
{
	/* Before getopt_long() sorts the words. */
	bool meant = has_word(argc, argv, "check") || has_word(argc, argv, "--exit-code");
	int status = options_parse(argc, argv, options);

	options->is_plugin = status ? meant
				    : options->of_command[OPTION_EXIT_CODE] ||
					      (optind < argc && !strcmp(argv[optind], "check"));
	if (status)
		return status;
	if (options->help)
		print_help();
	else if (options->version)
		puts(PROGRAM " " PACKAGE_VERSION);
	else
		return run_command(options, argc - optind, argv + optind);
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	struct options options = {0};
	int status;

	signal(SIGPIPE, on_pipe);
	status = run(&options, argc, argv);
	return finish_output(options.is_plugin ? plugin_finish(&options, status) : status);
}
