// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "daemon/ctl/ctl_error.h"

#define SHARED_SHORT "s:c:javVh"
#define FIRST_LONG   256 /* codes of command options for getopt_long(): above all letters */

static const struct option shared[] = {
	{"socket", required_argument, NULL, 's'}, {"config", required_argument, NULL, 'c'},
	{"json", no_argument, NULL, 'j'},         {"all", no_argument, NULL, 'a'},
	{"verbose", no_argument, NULL, 'v'},      {"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
};

#define FOR(command) (1u << CONTROL_COMMAND_##command)

static const struct {
	const char *name;
	char letter;       /* 0: none */
	bool value;        /* needs a value */
	unsigned commands; /* commands that have it */
	bool by_client;    /* the daemon does not know it */
} of_command[COMMAND_OPTIONS] = {
	[OPTION_NOW] = {"now", 0, false, FOR(STOP)},
	[OPTION_MOUNT] = {"mount", 0, false, FOR(CHECK)},
	[OPTION_CLIENT] = {"client", 0, true, FOR(TRACE) | FOR(CAPTURE)},
	[OPTION_OPERATION] = {"operation", 0, true, FOR(TRACE) | FOR(CAPTURE)},
	[OPTION_SLOWER] = {"slower", 0, true, FOR(TRACE)},
	[OPTION_SECONDS] = {"seconds", 0, true, FOR(TRACE) | FOR(CAPTURE)},
	[OPTION_DELAY] = {"delay", 'd', true, FOR(TOP)},
	[OPTION_COUNT] = {"count", 'n', true, FOR(TOP) | FOR(TRACE)},
	[OPTION_CONNECTIONS] = {"connections", 0, false, FOR(TOP)},
	[OPTION_SNAPLEN] = {"snaplen", 0, true, FOR(CAPTURE)},
	[OPTION_MAX_BYTES] = {"max-bytes", 0, true, FOR(CAPTURE)},
	[OPTION_EXIT_CODE] = {"exit-code", 0, false, FOR(STATUS), .by_client = true},
};

static void list_options(char letters[64],
			 struct option all[ARRAY_SIZE(shared) + COMMAND_OPTIONS + 1])
{
	size_t used = (size_t)snprintf(letters, 64, ":" SHARED_SHORT);

	memcpy(all, shared, sizeof(shared));
	for (int i = 0; i < COMMAND_OPTIONS; i++) {
		bool value = of_command[i].value;

		all[ARRAY_SIZE(shared) + (size_t)i] =
			(struct option){of_command[i].name, value ? required_argument : no_argument,
					NULL, FIRST_LONG + i};
		if (of_command[i].letter)
			used += (size_t)snprintf(letters + used, 64 - used, "%c%s",
						 of_command[i].letter, value ? ":" : "");
	}
	all[ARRAY_SIZE(shared) + COMMAND_OPTIONS] = (struct option){0};
}

static int ctl_error_option(char **argv, int opt)
{
	const char *word = argv[optind - 1];
	bool in_words = !strncmp(word, "--", 2);
	char letter[] = {'-', (char)optopt, '\0'};

	if (opt == ':')
		return ctl_error(EXIT_USAGE, "option %s takes an argument; " SEE_HELP,
				 in_words ? word : letter);
	if (optopt && in_words)
		return ctl_error(EXIT_USAGE, "option %s takes no argument; " SEE_HELP, word);
	return ctl_error(EXIT_USAGE, "unknown option %s; " SEE_HELP, optopt ? letter : word);
}

/* Sets an option of single commands. Returns false if @opt is none. */
static bool option_set_of_command(struct options *options, int opt)
{
	for (int i = 0; i < COMMAND_OPTIONS; i++) {
		if (opt == FIRST_LONG + i ||
		    (of_command[i].letter && opt == of_command[i].letter)) {
			options->of_command[i] = of_command[i].value ? optarg : "";
			return true;
		}
	}
	return false;
}

static bool option_set(struct options *options, int opt)
{
	switch (opt) {
	case 's':
		options->socket = optarg;
		return true;
	case 'c':
		options->file = optarg;
		return true;
	case 'j':
		return options->json = true;
	case 'a':
		return options->all = true;
	case 'v':
		return options->verbose = true;
	case 'V':
		return options->version = true;
	case 'h':
		return options->help = true;
	default:
		return option_set_of_command(options, opt);
	}
}

int options_parse(int argc, char **argv, struct options *options)
{
	struct option all[ARRAY_SIZE(shared) + COMMAND_OPTIONS + 1];
	char letters[64];
	int opt;

	list_options(letters, all);
	while ((opt = getopt_long(argc, argv, letters, all, NULL)) != -1)
		if (!option_set(options, opt))
			return ctl_error_option(argv, opt);
	return 0;
}

/* Writes "trace and capture" to @text, and the first of them to @first. */
static void name_commands(unsigned commands, char text[CONTROL_MAX_ARGUMENT_BYTES],
			  const char **first)
{
	size_t used = 0;

	*first = NULL;
	for (const struct control_command *c = control_commands; c->name; c++) {
		if (!(commands & 1u << c->id))
			continue;
		used += (size_t)snprintf(text + used, CONTROL_MAX_ARGUMENT_BYTES - used, "%s%s",
					 *first ? " and " : "", c->name);
		if (!*first)
			*first = c->name;
	}
}

bool options_check(const struct options *options, const struct control_command *command)
{
	char names[CONTROL_MAX_ARGUMENT_BYTES];
	const char *first;

	for (int i = 0; i < COMMAND_OPTIONS; i++) {
		if (!options->of_command[i] || of_command[i].commands & 1u << command->id)
			continue;
		name_commands(of_command[i].commands, names, &first);
		ctl_error(0, "--%s is for %s: '" PROGRAM " help %s'", of_command[i].name, names,
			  first);
		return false;
	}
	return true;
}

int options_append(const struct options *options, char *argument)
{
	size_t used = strlen(argument), capacity = CONTROL_MAX_ARGUMENT_BYTES + 1;

	for (int i = 0; i < COMMAND_OPTIONS && used < capacity; i++) {
		const char *value = options->of_command[i];

		if (!value || of_command[i].by_client)
			continue;
		/* Spaces separate the words of a request. */
		if (of_command[i].value && (!*value || strchr(value, ' ')))
			return ctl_error(EXIT_USAGE, "--%s: invalid value '%s'", of_command[i].name,
					 value);
		used += (size_t)snprintf(argument + used, capacity - used, "%s--%s%s%s",
					 used ? " " : "", of_command[i].name, *value ? " " : "",
					 value);
	}
	return used < capacity ? 0 : ctl_error(EXIT_USAGE, "the argument is too long");
}
