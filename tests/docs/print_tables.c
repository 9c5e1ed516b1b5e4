// SPDX-License-Identifier: BSD-3-Clause
/* Prints the lines that the manual pages must have, from the tables that the programs go by. */
#include <stdio.h>
#include <string.h>

#include "daemon/bridge/bridge.h"
#include "daemon/config/config_keys.h"
#include "daemon/control/control_request.h"

static void describe(const struct config_key *key, char *text, size_t size)
{
	size_t n = 0;

	switch (key->type) {
	case CONFIG_KEY_NUMBER:
		n = (size_t)snprintf(text, size, "%u to %u%s%s", key->min, key->max,
				     key->unit ? " " : "", key->unit ? key->unit : "");
		if (key->multiple)
			snprintf(text + n, size - n, ", a multiple of %u", key->multiple);
		break;
	case CONFIG_KEY_BOOL:
		snprintf(text, size, "true or false");
		break;
	case CONFIG_KEY_CHOICE:
		for (size_t i = 0; key->choices[i]; i++)
			n += (size_t)snprintf(text + n, size - n, "%s%s",
					      !i                    ? ""
					      : key->choices[i + 1] ? ", "
								    : " or ",
					      key->choices[i]);
		break;
	case CONFIG_KEY_PATH:
		snprintf(text, size, "path");
		break;
	case CONFIG_KEY_FOLDER:
		snprintf(text, size, "path");
		break;
	case CONFIG_KEY_LISTEN:
		snprintf(text, size, "address");
		break;
	case CONFIG_KEY_CONNECT:
		snprintf(text, size, "address or array of addresses");
		break;
	case CONFIG_KEY_ALLOW:
		snprintf(text, size, "array of prefixes");
		break;
	case CONFIG_KEY_DEFAULTS:
		snprintf(text, size, "group");
		break;
	case CONFIG_KEY_SERVICES:
		snprintf(text, size, "list");
		break;
	case CONFIG_KEY_NAME:
		text[0] = '\0';
		break;
	}
}

static void print_key(const struct config_key *key)
{
	char text[256];
	size_t n;

	describe(key, text, sizeof(text));
	n = strlen(text);
	if (key->mandatory)
		snprintf(text + n, sizeof(text) - n, "%srequired", n ? "; " : "");
	else if (key->preset)
		snprintf(text + n, sizeof(text) - n, "; default %s", key->preset);
	if (strchr(text, ' '))
		printf(".It Va %s Pq \"%s\"\n", key->name, text);
	else
		printf(".It Va %s Pq %s\n", key->name, text);
}

static void print_command(const struct control_command *command)
{
	printf(".It Cm %s%s%s%s\n", command->name, command->optional ? " Op" : "",
	       command->argument ? " Ar " : "", command->argument ? command->argument : "");
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "";

	if (!strcmp(which, "keys")) {
		for (const struct config_key *key = config_keys; key->name; key++)
			print_key(key);
		for (const struct config_key *key = config_service_keys; key->name; key++)
			print_key(key);
	} else if (!strcmp(which, "commands")) {
		for (const struct control_command *c = control_commands; c->name; c++)
			print_command(c);
	} else if (!strcmp(which, "states")) {
		for (unsigned i = 0; i < bridge_states.count; i++)
			printf("%s\n", state_name(&bridge_states, i));
	} else {
		fprintf(stderr, "usage: print_tables keys|commands|states\n");
		return 1;
	}
	return 0;
}
