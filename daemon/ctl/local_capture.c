// SPDX-License-Identifier: BSD-3-Clause
/* capture: writes the daemon's pcapng stream to a file and checks that it is complete. */
#include "daemon/ctl/local_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/humanize.h"
#include "daemon/ctl/client.h"
#include "daemon/ctl/ctl_error.h"
#include "daemon/ctl/pcapng_verify.h"
#include "daemon/tap/tap_request.h"

#define CHUNK_BYTES (256u * 1024u)

static int daemon_fd;

/* The daemon then ends the file and closes the connection. */
static void on_interrupt(int signal)
{
	shutdown(daemon_fd, SHUT_WR);
}

/* Only the first signal is caught: the second one ends the program. */
static void catch_interrupts(void)
{
	const struct sigaction action = {.sa_handler = on_interrupt,
					 .sa_flags = SA_RESTART | (int)SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static bool is_pipe(const char *path)
{
	return !strcmp(path, "-");
}

/* Returns a descriptor or a negative errno. */
static int open_output(const char *path)
{
	int fd = is_pipe(path) ? STDOUT_FILENO
			       : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* Returns 0 or a negative errno. */
static int write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Returns 0 when the daemon has closed the connection, or the negative errno of a failed write. */
static int copy_stream(int out, struct pcapng_verify *verify)
{
	static uint8_t chunk[CHUNK_BYTES];
	ssize_t n;
	int rc = 0;

	while (!rc && (n = recv(daemon_fd, chunk, sizeof(chunk), 0)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return 0;
		pcapng_verify_add(verify, chunk, (size_t)n);
		rc = write_all(out, chunk, (size_t)n);
	}
	return rc;
}

static int print_result(const char *path, const struct pcapng_verify *verify)
{
	char bytes[HUMANIZE_TEXT_BYTES];

	if (!pcapng_verify_is_complete(verify))
		return ctl_error(
			EXIT_UNREACHABLE,
			"the daemon closed before the end of the capture: it is not complete");
	return ctl_error(EXIT_OK, "%s%s%" PRIu64 " packets, %s; %" PRIu64 " messages dropped%s%s",
			 is_pipe(path) ? "" : path, is_pipe(path) ? "" : ": ", verify->packets,
			 humanize_bytes(verify->bytes, bytes), verify->missed,
			 verify->why[0] ? "; " : "", verify->why);
}

static void tell_begin(const char *path, const struct tap_request *request)
{
	char bytes[HUMANIZE_TEXT_BYTES];

	ctl_error(0, "capturing to %s for at most %" PRIu32 " s or %s; Ctrl-C stops it",
		  is_pipe(path) ? "standard output" : path, request->seconds,
		  humanize_bytes(request->max_bytes, bytes));
}

static int write_to(const char *path, const struct tap_request *request)
{
	struct pcapng_verify verify = {0};
	int rc, out = open_output(path);

	if (out < 0)
		return ctl_error(EXIT_USAGE, "cannot write %s: %s", path, strerror(-out));
	catch_interrupts();
	tell_begin(path, request);
	rc = copy_stream(out, &verify);
	if (close(out) && !rc)
		rc = -errno;
	/* A reader that has closed the pipe is not a failure. */
	if (rc == -EPIPE)
		return EXIT_OK;
	if (rc)
		return ctl_error(EXIT_USAGE, "cannot write %s: %s", path, strerror(-rc));
	return print_result(path, &verify);
}

/*
 * Returns whether @name is a service. If the user omits FILE, the service's name is in its place.
 */
static bool is_service(const struct options *options, const char *name)
{
	bool is = false;
	char error[512];
	json_t *answer, *service;
	size_t i;

	if (client_request(options->socket, "services", NULL, error, sizeof(error), &answer))
		return false;
	json_array_foreach(json_object_get(answer, "services"), i, service)
	{
		const char *is_called = json_string_value(json_object_get(service, "name"));

		is = is || (is_called && !strcmp(is_called, name));
	}
	json_decref(answer);
	return is;
}

int local_capture(const struct options *options, const char *argument)
{
	struct tap_request request;
	char error[512];
	int rc, status;
	json_t *grant;
	FILE *in;

	if (is_pipe(options->output) && isatty(STDOUT_FILENO))
		return ctl_error(EXIT_USAGE,
				 "not writing a capture to a terminal: name a file or use a pipe");
	if (tap_request_parse(TAP_MESSAGES, argument ? argument : "", &request, error))
		return ctl_error(EXIT_USAGE, "%s", error);
	if (!request.service[0] && is_service(options, options->output))
		return ctl_error(EXIT_USAGE, "%s is a service: FILE is missing", options->output);
	rc = client_stream(options->socket, "capture", argument, error, sizeof(error), &grant, &in);
	if (rc)
		return ctl_error(rc > 0 ? EXIT_REFUSED : EXIT_UNREACHABLE, "%s", error);
	json_decref(grant);
	daemon_fd = fileno(in);
	status = write_to(options->output, &request);
	fclose(in);
	return status;
}
