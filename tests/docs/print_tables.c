// SPDX-License-Identifier: BSD-3-Clause
/* Prints the lines that the manual pages must have, from the tables that the programs go by. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "daemon/bridge/bridge_state.h"
#include "daemon/config/config_keys.h"
#include "daemon/control/control_request.h"
#include "daemon/http/metrics_table.h"
#include "daemon/proxy/problems.h"
#include "nfs/operation.h"

#define STATUSES 11000u /* all NFS statuses are below */

static void print_command(const struct control_command *command)
{
	const char *argument = command->argument;

	if (argument && command->optional && command->output)
		printf(".It Cm %s Oo Ar %s Oc Ar %s\n", command->name, argument, command->output);
	else
		printf(".It Cm %s%s%s%s\n", command->name, command->optional ? " Op" : "",
		       argument ? " Ar " : "", argument ? argument : "");
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "";

	if (!strcmp(which, "keys")) {
		for (const struct config_key *key = config_keys; key->name; key++)
			printf(".It Va %s\n", key->name);
		for (const struct config_key *key = config_service_keys; key->name; key++)
			printf(".It Va %s\n", key->name);
	} else if (!strcmp(which, "commands")) {
		for (const struct control_command *c = control_commands; c->name; c++)
			print_command(c);
	} else if (!strcmp(which, "states")) {
		for (unsigned i = 0; i < bridge_states.count; i++)
			printf("%s\n", state_name(&bridge_states, i));
	} else if (!strcmp(which, "problems")) {
		for (unsigned i = 0; i < PROBLEM_COUNT; i++)
			printf("%s %s\n", problem_severity_name(problem_severity(i)),
			       problem_name(i));
	} else if (!strcmp(which, "metrics")) {
		for (const struct metrics_family *one = metrics_families; one->name; one++)
			printf("%s %s\n", one->name, one->help);
	} else if (!strcmp(which, "operations")) {
#define PRINT(name) puts(#name);
		NFS_OPERATIONS_RANKED(PRINT)
	} else if (!strcmp(which, "statuses")) {
		for (uint32_t status = 0; status < STATUSES; status++)
			if (nfs_status_name(status))
				puts(nfs_status_name(status));
	} else {
		fprintf(stderr, "usage: print_tables "
				"keys|commands|states|problems|metrics|operations|statuses\n");
		return 1;
	}
	return 0;
}
