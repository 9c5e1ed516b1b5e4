// SPDX-License-Identifier: BSD-3-Clause
/* What is asked beside a command. */
#include "daemon/ctl/beside.h"

#include <time.h>

#include "daemon/ctl/cells.h"
#include "daemon/ctl/client.h"

static json_t *ask(const char *socket, const char *command)
{
	json_t *answer = NULL;
	char error[512];

	return client_ask(socket, command, NULL, error, sizeof(error), &answer) ? NULL : answer;
}

/* That member of the answer to the command of the same name, or nothing. */
static void put_member(json_t *beside, const char *socket, const char *command)
{
	json_t *answer = ask(socket, command);
	json_t *member = json_object_get(answer, command);

	if (member)
		json_object_set(beside, command, member);
	json_decref(answer);
}

static json_t *ask_for_status(const char *socket, const json_t *answer)
{
	json_t *beside = json_pack("{s:I}", "time_s", (json_int_t)time(NULL));
	json_t *latency = ask(socket, "latency");

	put_member(beside, socket, "services");
	if (latency)
		json_object_set_new(beside, "latency", latency);
	if (json_number(answer, "connections") <= BESIDE_MAX_CONNECTIONS)
		put_member(beside, socket, "connections");
	return beside;
}

json_t *beside_ask(const char *socket, enum control_command_id command, const json_t *answer)
{
	switch (command) {
	case CONTROL_COMMAND_STATS:
		return ask(socket, "counters");
	case CONTROL_COMMAND_STATUS:
		return ask_for_status(socket, answer);
	default:
		return NULL;
	}
}
