// SPDX-License-Identifier: BSD-3-Clause
/* The commands that the client does itself. */
#include "daemon/ctl/own_commands.h"

#include <limits.h>
#include <stdio.h>

#include "daemon/base/paths.h"
#include "daemon/ctl/capture.h"
#include "daemon/ctl/complain.h"
#include "daemon/ctl/support.h"
#include "daemon/ctl/top.h"
#include "daemon/ctl/trace.h"

/* That the daemon does not answer is something to know, too. */
static int support(const struct options *options, const char *path)
{
	char name[PATH_MAX], error[512];

	if (support_write(options->socket, options->file ? options->file : CONFIG_DEFAULT_FILE,
			  path, name, sizeof(name), error, sizeof(error)))
		return complain(EXIT_USAGE, "%s", error);
	if (error[0])
		complain(0, "without the daemon's answers: %s", error);
	printf("%s\n", name);
	return EXIT_OK;
}

static const struct {
	enum control_command_id id;
	own_command *run;
} own_commands[] = {
	{CONTROL_COMMAND_SUPPORT, support},
	{CONTROL_COMMAND_TOP, top_run},
	{CONTROL_COMMAND_TRACE, trace},
	{CONTROL_COMMAND_CAPTURE, capture},
};

own_command *own_command_find(const struct control_command *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_commands); i++)
		if (own_commands[i].id == command->id)
			return own_commands[i].run;
	return NULL;
}
