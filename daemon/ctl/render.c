// SPDX-License-Identifier: BSD-3-Clause
/* Answers as text: which one, and the short ones. */
#include "daemon/ctl/render.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/ctl/cells.h"

int render_answer(enum control_command_id command, const json_t *answer, const json_t *beside,
		  bool all, FILE *out)
{
	switch (command) {
	case CONTROL_COMMAND_STATUS:
		return render_status(answer, beside, all, out);
	case CONTROL_COMMAND_SERVICES:
		return render_services(answer, all, out);
	case CONTROL_COMMAND_CONNECTIONS:
		return render_connections(answer, all, out);
	case CONTROL_COMMAND_LATENCY:
		return render_latency(answer, all, out);
	case CONTROL_COMMAND_STATS:
		return render_stats(answer, beside, all, out);
	case CONTROL_COMMAND_COUNTERS:
		return render_counters(answer, out);
	case CONTROL_COMMAND_CONFIG:
		render_config(answer, out);
		return 0;
	case CONTROL_COMMAND_CHECK:
		render_check(answer, out);
		return 0;
	case CONTROL_COMMAND_SUPPORT: /* no answer of the daemon's, or none that ends */
	case CONTROL_COMMAND_TOP:
	case CONTROL_COMMAND_TRACE:
	case CONTROL_COMMAND_CAPTURE:
		return 0;
	case CONTROL_COMMAND_TARGET:
		fprintf(out, "%s: server %s: %s\n", json_text(answer, "service"),
			json_text(answer, "target"), json_text(answer, "order"));
		return 0;
	case CONTROL_COMMAND_LOG:
		fprintf(out, "log level is %s\n", json_text(answer, "level"));
		return 0;
	case CONTROL_COMMAND_RELOAD:
		render_reload(answer, out);
		return 0;
	case CONTROL_COMMAND_DRAIN:
		render_drain(answer, out);
		return 0;
	case CONTROL_COMMAND_RESUME:
		render_resume(answer, out);
		return 0;
	case CONTROL_COMMAND_DISCONNECT:
		render_disconnect(answer, out);
		return 0;
	case CONTROL_COMMAND_STOP:
		fprintf(out, "stopping\n");
		return 0;
	}
	return -EINVAL;
}
