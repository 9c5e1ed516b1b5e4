// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/control/control_request.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define COMMAND(text, command) .name = (text), .id = CONTROL_COMMAND_##command

const struct control_command control_commands[] = {
	{COMMAND("status", STATUS), .options = "--exit-code",
	 .help = "one-screen summary: problems and services"},
	{COMMAND("services", SERVICES), .help = "list the services and their load"},
	{COMMAND("connections", CONNECTIONS), .argument = "ID|ADDRESS", .optional = true,
	 .help = "list the connections, or show everything about one"},
	{COMMAND("latency", LATENCY), .argument = "SERVICE [OPERATION]", .words = 2, .min_words = 1,
	 .optional = true, .help = "show how long Calls took, by operation and stage"},
	{COMMAND("top", TOP), .argument = "SERVICE", .optional = true, .by_client = true,
	 .options = "-d, --delay SECONDS, -n, --count N, --connections",
	 .help = "show operations live, or connections with --connections"},
	{COMMAND("trace", TRACE), .argument = "SERVICE", .words = 1 + 2 * CONTROL_TRACE_OPTIONS,
	 .min_words = 1, .optional = true,
	 .options =
		 "--client ADDRESS[/BITS], --operation NAME, --slower TIME, --count N, --seconds N",
	 .help = "print each RPC as it finishes: client, operation, times"},
	{COMMAND("capture", CAPTURE), .argument = "SERVICE", .words = 1 + 2 * CONTROL_TRACE_OPTIONS,
	 .min_words = 1, .optional = true, .privileged = true, .output = "FILE",
	 .options = "--client ADDRESS[/BITS], --operation NAME, --seconds N, --snaplen BYTES, "
		    "--max-bytes BYTES",
	 .help = "write RPC messages to a file for Wireshark"},
	{COMMAND("stats", STATS), .argument = "SERVICE", .optional = true,
	 .help = "show the counters of one service, or of all"},
	{COMMAND("counters", COUNTERS), .help = "explain the counters of stats"},
	{COMMAND("config", CONFIG), .help = "show the active configuration as a file"},
	{COMMAND("check", CHECK), .argument = "SERVICE [--mount]", .words = 2, .min_words = 1,
	 .answer_timeout_s = 120,
	 .help = "test the servers of a service over a separate connection"},
	{COMMAND("support", SUPPORT), .argument = "FILE", .optional = true, .by_client = true,
	 .help = "write a support bundle: one archive to diagnose a fault"},
	{COMMAND("target", TARGET), .argument = "SERVICE ADDRESS up|drain|down", .words = 3,
	 .privileged = true, .help = "enable, drain or disable one of several servers"},
	{COMMAND("log", LOG), .argument = "LEVEL", .privileged = true,
	 .help = "set the log level: error, warning, info or debug"},
	{COMMAND("reload", RELOAD), .privileged = true, .answer_timeout_s = CONTROL_FILE_READ_S,
	 .help = "read the configuration file again"},
	{COMMAND("drain", DRAIN), .argument = "SERVICE", .optional = true, .privileged = true,
	 .help = "stop accepting clients and close connections gracefully"},
	{COMMAND("resume", RESUME), .argument = "SERVICE", .optional = true, .privileged = true,
	 .answer_timeout_s = CONTROL_FILE_READ_S, .help = "accept clients again after drain"},
	{COMMAND("disconnect", DISCONNECT), .argument = "ID|ADDRESS", .privileged = true,
	 .help = "close one connection, or all of an address, immediately"},
	{COMMAND("stop", STOP), .argument = "--now", .optional = true, .privileged = true,
	 .help = "stop the daemon gracefully, or immediately with --now"},
	{0},
};

unsigned control_command_words(const struct control_command *command)
{
	if (!command->argument)
		return 0;
	return command->words ? command->words : 1;
}

unsigned control_command_min_words(const struct control_command *command)
{
	return command->min_words ? command->min_words : control_command_words(command);
}

const struct control_command *control_command_find(const char *name)
{
	for (const struct control_command *c = control_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static const char *request_set(struct control_request *request, const char *command,
			       const char *argument)
{
	const struct control_command *found = control_command_find(command);

	if (!found || found->by_client)
		return "unknown command";
	if (found->argument && !found->optional && !*argument)
		return "the command needs an argument";
	if (!found->argument && *argument)
		return "the command takes no argument";
	if (strlen(argument) > CONTROL_MAX_ARGUMENT_BYTES)
		return "the argument is too long";
	request->command = found;
	strcpy(request->argument, argument);
	return NULL;
}

static const char *parse_object(const json_t *object, struct control_request *request)
{
	const char *command = NULL, *argument = "", *key;
	json_t *value;

	if (!json_is_object(object))
		return "the request is no JSON object";
	json_object_foreach((json_t *)object, key, value)
	{
		if (!json_is_string(value))
			return "the request has a value that is no string";
		if (!strcmp(key, "command"))
			command = json_string_value(value);
		else if (!strcmp(key, "argument"))
			argument = json_string_value(value);
		else
			return "the request has an unknown member";
	}
	if (!command)
		return "the request has no command";
	return request_set(request, command, argument);
}

static const char *parse_json(const char *text, size_t len, struct control_request *request)
{
	json_t *object = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *wrong;

	if (!object)
		return "the request is no JSON object";
	wrong = parse_object(object, request);
	json_decref(object);
	return wrong;
}

static const char *wrong_count(const struct control_command *command, unsigned nwords)
{
	if (nwords > control_command_words(command))
		return "the request has more words than the command takes";
	if (nwords && nwords < control_command_min_words(command))
		return "the command needs more arguments";
	return NULL;
}

static const char *parse_words(const char *text, size_t len, struct control_request *request)
{
	char line[CONTROL_MAX_REQUEST_BYTES + 1];
	char argument[CONTROL_MAX_REQUEST_BYTES + 1] = "";
	char *command, *word, *at;
	const char *wrong;
	unsigned nwords = 0;
	size_t used = 0;

	memcpy(line, text, len);
	line[len] = '\0';
	command = strtok_r(line, " \t", &at);
	if (!command)
		return "the request is empty";
	/* Fits: @line has at least one space between words, too. */
	for (; (word = strtok_r(NULL, " \t", &at)); nwords++)
		used += (size_t)snprintf(argument + used, sizeof(argument) - used, "%s%s",
					 used ? " " : "", word);
	wrong = request_set(request, command, argument);
	if (!wrong)
		wrong = wrong_count(request->command, nwords);
	if (wrong)
		request->command = NULL;
	return wrong;
}

/* jansson writes valid UTF-8 only, and an answer can quote the request. */
static bool is_utf8(const char *text, size_t len)
{
	json_t *string = json_stringn(text, len);

	json_decref(string);
	return string != NULL;
}

const char *control_request_parse(const char *text, size_t len, struct control_request *request)
{
	if (len > CONTROL_MAX_REQUEST_BYTES)
		return "the request is too long";
	if (memchr(text, '\0', len))
		return "the request has a zero byte";
	if (!is_utf8(text, len))
		return "the request is not UTF-8";
	if (len && text[len - 1] == '\r')
		len--;
	if (len && text[0] == '{')
		return parse_json(text, len, request);
	return parse_words(text, len, request);
}
