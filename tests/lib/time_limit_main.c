// SPDX-License-Identifier: BSD-3-Clause
/* Ends a command that takes too long on this machine; see tests/lib/time_limit.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/time_limit.h"

#define KILL_AFTER_S 10.0
#define LOOK_MS      200
#define STATUS_LATE  124 /* as timeout(1) has it */

static const char usage_text[] =
	"usage: time_limit [-o] SECONDS COMMAND [ARGUMENT...]\n"
	"       time_limit --factor\n"
	"Runs COMMAND and sends it TERM once it has taken SECONDS, times what this machine is slower now than an idle\n"
	"one; 10 s later KILL; as timeout(1) to the processes that COMMAND has started, too. The status is that of COMMAND, or 124 if it took too long.\n"
	"  -o        COMMAND shows progress by its standard output, which passes through: the limit begins anew with it\n"
	"  --factor  prints how many times slower this machine is now\n";

struct run {
	pid_t pid;
	int signals; /* a signalfd */
	int output;  /* the command's standard output, or -1 */
	int status;  /* of waitpid() */
	bool ended;
	bool late;
	int stopped_by; /* a signal that this process received, or 0 */
};

static int usage(void)
{
	fputs(usage_text, stderr);
	return 2;
}

/* Starts the command with the signal mask of this process from before. */
static int start(struct run *run, char **argv, bool with_output)
{
	int pipe_fds[2] = {-1, -1};
	sigset_t watched, before;

	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGTERM);
	sigaddset(&watched, SIGINT);
	sigaddset(&watched, SIGHUP);
	sigprocmask(SIG_BLOCK, &watched, &before);
	run->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signals < 0 || (with_output && pipe(pipe_fds)))
		return -errno;
	run->pid = fork();
	if (run->pid < 0)
		return -errno;
	if (run->pid == 0) {
		setpgid(0, 0);
		if (with_output) {
			dup2(pipe_fds[1], STDOUT_FILENO);
			close(pipe_fds[0]);
			close(pipe_fds[1]);
		}
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[0], argv);
		fprintf(stderr, "time_limit: %s: %s\n", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	setpgid(run->pid, run->pid); /* both do: whoever comes first */
	if (with_output)
		close(pipe_fds[1]);
	run->output = pipe_fds[0];
	return 0;
}

/* Writes all of it, or ends what this process is for. */
static void pass_on(const char *bytes, ssize_t len)
{
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, bytes, (size_t)len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			bytes += n;
			len -= n;
		}
	}
}

/* Returns true if the command has written something. */
static bool take_output(struct run *run)
{
	char bytes[4096];
	ssize_t n = read(run->output, bytes, sizeof(bytes));

	if (n > 0) {
		pass_on(bytes, n);
		return true;
	}
	if (n == 0 || errno != EINTR) {
		close(run->output);
		run->output = -1;
	}
	return false;
}

static void take_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		run->stopped_by = (int)info.ssi_signo;
		kill(-run->pid, run->stopped_by);
	}
	if (!run->ended && waitpid(run->pid, &run->status, WNOHANG) == run->pid)
		run->ended = true;
}

/* Waits up to @ms. Returns true if the command made progress that can be seen. */
static bool wait_once(struct run *run, int ms)
{
	struct pollfd fds[] = {{.fd = run->signals, .events = POLLIN},
			       {.fd = run->output, .events = POLLIN}};
	bool progress = false;

	if (poll(fds, 2, ms) > 0) {
		if (fds[1].revents)
			progress = take_output(run);
		if (fds[0].revents)
			take_signals(run);
	}
	return progress;
}

/* What is still in the pipe; a process that the command left behind may hold it open for ever. */
static void take_rest(struct run *run)
{
	struct pollfd fd = {.events = POLLIN};

	while ((fd.fd = run->output) >= 0 && poll(&fd, 1, 0) > 0)
		take_output(run);
}

static void wait_for_end(struct run *run, double seconds)
{
	struct time_limit limit;

	time_limit_begin(&limit, seconds);
	while (!run->ended) {
		if (wait_once(run, LOOK_MS))
			time_limit_begin(&limit, seconds);
		if (run->ended || !time_limit_passed(&limit))
			continue;
		kill(-run->pid, run->late ? SIGKILL : SIGTERM);
		run->late = true;
		seconds = KILL_AFTER_S;
		time_limit_begin(&limit, seconds);
	}
	take_rest(run);
}

static int status_of(const struct run *run)
{
	if (run->late)
		return STATUS_LATE;
	if (WIFSIGNALED(run->status))
		return 128 + WTERMSIG(run->status);
	return WEXITSTATUS(run->status);
}

int main(int argc, char **argv)
{
	struct run run = {.output = -1};
	bool with_output = false;
	double seconds;
	char *end;
	int rc;

	if (argc == 2 && !strcmp(argv[1], "--factor")) {
		printf("%.2f\n", time_limit_factor());
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "-o")) {
		with_output = true;
		argv++;
		argc--;
	}
	if (argc < 3)
		return usage();
	seconds = strtod(argv[1], &end);
	if (*end || end == argv[1] || !(seconds > 0))
		return usage();
	rc = start(&run, argv + 2, with_output);
	if (rc) {
		fprintf(stderr, "time_limit: %s\n", strerror(-rc));
		return 125;
	}
	wait_for_end(&run, seconds);
	return status_of(&run);
}
