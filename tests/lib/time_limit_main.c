// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs a command and kills it when it exceeds a time limit adapted to this machine; see
 * tests/lib/time_limit.h.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/time_limit.h"

#define KILL_AFTER_S  10.0
#define MOST_RENEWALS 10 /* with -o the command has so many times SECONDS in all */
#define LOOK_MS       200
#define STATUS_LATE   124 /* as timeout(1) has it, with the next */
#define STATUS_FAILED 125

static const char usage_text[] =
	"usage: time_limit [-o] SECONDS COMMAND [ARGUMENT...]\n"
	"       time_limit --factor\n"
	"Runs COMMAND. Sends TERM to its process group after SECONDS, and KILL 10 s later. On a slow\n"
	"machine SECONDS is multiplied by the factor by which it is slower than an idle one. The status\n"
	"is that of COMMAND, or 124 if it took too long.\n"
	"  -o        output of COMMAND passes through and restarts the limit, up to ten times SECONDS\n"
	"            in total\n"
	"  --factor  prints the current factor\n";

struct run {
	pid_t pid;
	int signals; /* a signalfd */
	int output;  /* the command's standard output, or -1 */
	bool ended;  /* but not waited for, so that its process group keeps the number */
	bool late;
};

static int usage(void)
{
	fputs(usage_text, stderr);
	return 2;
}

/* In the child: KILL comes when this process ends, which may already have happened. */
static void end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
}

/* Starts the command with the signal mask of this process from before. */
static int start(struct run *run, char **argv, bool with_output)
{
	int pipe_fds[2] = {-1, -1};
	pid_t parent = getpid();
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
		end_with(parent);
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
	setpgid(run->pid, run->pid); /* the child does it too: either may run first */
	if (with_output)
		close(pipe_fds[1]);
	run->output = pipe_fds[0];
	signal(SIGPIPE, SIG_IGN); /* pass_on() sees EPIPE */
	return 0;
}

/* Writes all of it, or ends the command and this process. */
static void pass_on(const struct run *run, const char *bytes, ssize_t len)
{
	struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};

	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, bytes, (size_t)len);

		if (n >= 0) {
			bytes += n;
			len -= n;
		} else if (errno == EAGAIN) {
			poll(&fd, 1, -1);
		} else if (errno != EINTR) {
			fprintf(stderr, "time_limit: standard output: %s\n", strerror(errno));
			kill(-run->pid, SIGKILL);
			exit(STATUS_FAILED);
		}
	}
}

/* Returns true if the command has written something. */
static bool take_output(struct run *run)
{
	char bytes[4096];
	ssize_t n = read(run->output, bytes, sizeof(bytes));

	if (n > 0) {
		pass_on(run, bytes, n);
		return true;
	}
	if (n == 0 || errno != EINTR) {
		close(run->output);
		run->output = -1;
	}
	return false;
}

static void catch_signals(struct run *run)
{
	struct signalfd_siginfo info;
	siginfo_t child = {0};

	while (read(run->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			kill(-run->pid, (int)info.ssi_signo);
	}
	if (!waitid(P_PID, (id_t)run->pid, &child, WEXITED | WNOHANG | WNOWAIT) &&
	    child.si_pid == run->pid)
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
			catch_signals(run);
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
	struct time_limit limit, in_all;

	time_limit_begin(&limit, seconds);
	time_limit_begin(&in_all, MOST_RENEWALS * seconds);
	while (!run->ended) {
		if (wait_once(run, LOOK_MS) && !run->late)
			time_limit_begin(&limit, seconds);
		if (run->ended ||
		    !(time_limit_passed(&limit) || (!run->late && time_limit_passed(&in_all))))
			continue;
		kill(-run->pid, run->late ? SIGKILL : SIGTERM);
		run->late = true;
		time_limit_begin(&limit, KILL_AFTER_S);
	}
	if (run->late)
		kill(-run->pid, SIGKILL); /* what is left of its group */
	take_rest(run);
}

static int status_of(const struct run *run)
{
	int status = 0;

	waitpid(run->pid, &status, 0);
	if (run->late)
		return STATUS_LATE;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
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
		return STATUS_FAILED;
	}
	wait_for_end(&run, seconds);
	return status_of(&run);
}
