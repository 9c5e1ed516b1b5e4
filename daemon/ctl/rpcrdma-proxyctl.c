// SPDX-License-Identifier: BSD-3-Clause
/* rpcrdma-proxyctl: asks the daemon what it does, and tells it to log more or to stop. */
#include <config.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/paths.h"
#include "daemon/control/control_request.h"
#include "daemon/ctl/client.h"
#include "daemon/ctl/render.h"

enum { EXIT_OK, EXIT_REFUSED, EXIT_USAGE, EXIT_UNREACHABLE };

struct options {
	const char *socket;
	bool json, all;
};

static void print_usage(FILE *out)
{
	fputs("usage: rpcrdma-proxyctl [-s SOCKET] [-j] [-a] COMMAND [ARGUMENT]\n"
	      "       rpcrdma-proxyctl -V | -h\n"
	      "  -s SOCKET  the daemon's control socket (" CONTROL_DEFAULT_SOCKET ")\n"
	      "  -j         print the answer as JSON\n"
	      "  -a         stats: print counters that are zero too\n"
	      "  -V         print the version and exit\n"
	      "  -h         print this help and exit\n"
	      "commands:\n",
	      out);
	for (const struct control_command *c = control_commands; c->name; c++) {
		int width = fprintf(out, "  %s%s%s", c->name, c->argument ? " " : "",
				    c->argument ? c->argument : "");

		fprintf(out, "%*s%s\n", width < 16 ? 16 - width : 1, "", c->help);
	}
}

static int complain(int status, const char *text)
{
	fprintf(stderr, "rpcrdma-proxyctl: %s\n", text);
	return status;
}

static int print_answer(const struct options *options, const struct control_command *command,
			const json_t *answer)
{
	int rc = 0;

	if (options->json) {
		rc = json_dumpf(answer, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
		putchar('\n');
	} else {
		rc = render_answer(command->id, answer, options->all, stdout);
	}
	if (rc)
		return complain(EXIT_UNREACHABLE, "out of memory");
	if (fflush(stdout))
		return complain(EXIT_UNREACHABLE, "cannot write the answer");
	return EXIT_OK;
}

static int run(const struct options *options, const struct control_command *command,
	       const char *argument)
{
	const char *refused;
	char error[512];
	json_t *answer;
	int status;

	if (client_ask(options->socket, command->name, argument, error, sizeof(error), &answer))
		return complain(EXIT_UNREACHABLE, error);
	refused = json_string_value(json_object_get(answer, "error"));
	status = refused ? complain(EXIT_REFUSED, refused) : print_answer(options, command, answer);
	json_decref(answer);
	return status;
}

static int run_words(const struct options *options, int nwords, char **words)
{
	const struct control_command *command;
	char text[256];

	if (!nwords) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	command = control_command_find(words[0]);
	if (!command) {
		snprintf(text, sizeof(text), "unknown command '%s'; -h lists them", words[0]);
		return complain(EXIT_USAGE, text);
	}
	if (nwords != (command->argument ? 2 : 1)) {
		snprintf(text, sizeof(text), "usage: rpcrdma-proxyctl %s%s%s", command->name,
			 command->argument ? " " : "", command->argument ? command->argument : "");
		return complain(EXIT_USAGE, text);
	}
	return run(options, command, nwords == 2 ? words[1] : NULL);
}

int main(int argc, char **argv)
{
	struct options options = {.socket = CONTROL_DEFAULT_SOCKET};
	int opt;

	while ((opt = getopt(argc, argv, "s:jaVh")) != -1) {
		switch (opt) {
		case 's':
			options.socket = optarg;
			break;
		case 'j':
			options.json = true;
			break;
		case 'a':
			options.all = true;
			break;
		case 'V':
			puts("rpcrdma-proxyctl " PACKAGE_VERSION);
			return EXIT_OK;
		case 'h':
			print_usage(stdout);
			return EXIT_OK;
		default:
			print_usage(stderr);
			return EXIT_USAGE;
		}
	}
	return run_words(&options, argc - optind, argv + optind);
}
