// SPDX-License-Identifier: BSD-3-Clause
/* What another program says, within bounds: in a process group of its own, so that it ends with all that it started. */
#include "daemon/ctl/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/clock.h"

#define NOT_FOUND 127

static int64_t now_ms(void)
{
	return (int64_t)(clock_us(CLOCK_MONOTONIC) / 1000);
}

static void run(const char *const *words, int out)
{
	char *copy[RUN_PROGRAM_MAX_WORDS + 1] = {NULL};
	int in = open("/dev/null", O_RDONLY);

	for (unsigned i = 0; i < RUN_PROGRAM_MAX_WORDS && words[i]; i++)
		copy[i] = (char *)words[i];
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		_exit(NOT_FOUND);
	execvp(copy[0], copy);
	_exit(NOT_FOUND);
}

/* Returns why it is to be ended, or NULL at the end of what it says. */
static const char *copy_output(int from, unsigned timeout_s, size_t max_bytes, FILE *out)
{
	struct pollfd pollfd = {.fd = from, .events = POLLIN};
	int64_t end_ms = now_ms() + (int64_t)timeout_s * 1000, left_ms;
	char buffer[4096];
	ssize_t n;

	while (max_bytes) {
		left_ms = end_ms - now_ms();
		if (left_ms <= 0)
			return "was ended after its time";
		if (poll(&pollfd, 1, (int)left_ms) <= 0)
			continue;
		n = read(from, buffer, sizeof(buffer) < max_bytes ? sizeof(buffer) : max_bytes);
		if (n <= 0)
			return NULL;
		fwrite(buffer, 1, (size_t)n, out);
		max_bytes -= (size_t)n;
	}
	return "said more than is kept";
}

static void tell_status(const char *name, int status, FILE *out)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		fprintf(out, "[%s cannot be run]\n", name);
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		fprintf(out, "[%s ended with status %d]\n", name, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		fprintf(out, "[%s was ended by signal %d]\n", name, WTERMSIG(status));
}

void run_program(const char *const *words, unsigned timeout_s, size_t max_bytes, FILE *out)
{
	const char *broken_off;
	int ends[2], status = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC)) {
		fprintf(out, "[%s: %s]\n", words[0], strerror(errno));
		return;
	}
	pid = fork();
	if (!pid)
		run(words, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		fprintf(out, "[%s: %s]\n", words[0], strerror(errno));
		close(ends[0]);
		return;
	}
	setpgid(pid, pid); /* in either process: whichever comes first */
	broken_off = copy_output(ends[0], timeout_s, max_bytes, out);
	close(ends[0]);
	if (broken_off) {
		kill(-pid, SIGKILL);
		fprintf(out, "\n[%s %s]\n", words[0], broken_off);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!broken_off)
		tell_status(words[0], status, out);
}
