// SPDX-License-Identifier: BSD-3-Clause
/* Reads that keep a server busy, by several processes, past their client's cache. */
#include "tests/lab/lab_work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_BYTES  512u
#define READERS_MAX 256u

/* Until it is killed. */
static void __attribute__((noreturn)) read_on(const char *path, uint64_t blocks, uint64_t at)
{
	static uint8_t mem[STEP_BYTES] __attribute__((aligned(STEP_BYTES)));
	int fd = open(path, O_RDONLY | O_DIRECT);

	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	for (;; at++) {
		ssize_t got = pread(fd, mem, sizeof(mem), (off_t)(at % blocks * STEP_BYTES));

		if (got != STEP_BYTES)
			fail("%s: block %llu: %s", path, (unsigned long long)(at % blocks),
			     got < 0 ? strerror(errno) : "not whole");
	}
}

static pid_t reader_new(const char *path, uint64_t blocks, uint64_t at)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		read_on(path, blocks, at);
	}
	return pid;
}

void busy_read(const char *path, unsigned count)
{
	pid_t readers[READERS_MAX];
	struct stat st;
	sigset_t ends;
	int number;

	if (count > READERS_MAX)
		fail("%u readers are too many", count);
	if (stat(path, &st) || st.st_size < STEP_BYTES)
		fail("%s: no block to read", path);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGCHLD); /* a reader has failed */
	sigprocmask(SIG_BLOCK, &ends, NULL);
	for (unsigned i = 0; i < count; i++)
		readers[i] = reader_new(path, (uint64_t)st.st_size / STEP_BYTES, i);
	if (sigwait(&ends, &number) || number != SIGTERM)
		fail("%s: a reader has ended", path);
	for (unsigned i = 0; i < count; i++)
		kill(readers[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}
