// SPDX-License-Identifier: BSD-3-Clause
/* trace: prints RPCs as they finish. */
#include "daemon/ctl/local_commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ctl/client.h"
#include "daemon/ctl/ctl_error.h"
#include "daemon/ctl/render.h"
#include "daemon/tap/tap_request.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	interrupted = 1;
}

/* Makes a signal interrupt the wait for a line, unless the caller ignores the signal. */
static void catch_interrupt(int signal)
{
	const struct sigaction action = {.sa_handler = on_interrupt};
	struct sigaction old;

	sigaction(signal, NULL, &old);
	if (old.sa_handler != SIG_IGN)
		sigaction(signal, &action, NULL);
}

static void print_json(const json_t *line)
{
	(void)json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
	putchar('\n');
}

/*
 * Prints a line immediately and skips lines that are not JSON. Returns whether it is the last one.
 */
static bool print_line(const struct options *options, const char *text, size_t len)
{
	json_t *line = sanitize_load(text, len);
	bool last = json_object_get(line, "end") != NULL;

	if (!line)
		return false;
	if (options->json)
		print_json(line);
	else
		render_trace_line(line, options->all, stdout);
	fflush(stdout);
	json_decref(line);
	return last;
}

/* Returns false if the daemon closed the trace before its last line. */
static bool print_lines(const struct options *options, FILE *in)
{
	bool last = false;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while (!last && !interrupted && !ferror(stdout) && (len = getline(&line, &size, in)) > 0)
		last = print_line(options, line, (size_t)len);
	free(line);
	return last || interrupted || ferror(stdout);
}

int local_trace(const struct options *options, const char *argument)
{
	struct tap_request request;
	char error[512];
	json_t *grant;
	bool all;
	FILE *in;
	int rc;

	if (tap_request_parse(TAP_CALLS, argument ? argument : "", &request, error))
		return ctl_error(EXIT_USAGE, "%s", error);
	rc = client_stream(options->socket, "trace", argument, error, sizeof(error), &grant, &in);
	if (rc)
		return ctl_error(rc > 0 ? EXIT_REFUSED : EXIT_UNREACHABLE, "%s", error);
	catch_interrupt(SIGINT);
	catch_interrupt(SIGTERM);
	if (options->json)
		print_json(grant);
	else
		render_trace_titles(options->all, stdout);
	json_decref(grant);
	fflush(stdout);
	all = print_lines(options, in);
	fclose(in);
	return all ? EXIT_OK
		   : ctl_error(EXIT_UNREACHABLE, "the daemon closed the trace before its end");
}
