// SPDX-License-Identifier: BSD-3-Clause
/* Changes bytes while they are being sent. */
#include "tests/lab/lab_work.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHANGED_BYTES 65536u

static int open_in(const char *dir, int flags)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/changed", dir);
	fd = open(path, O_RDWR | flags, 0666);
	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	return fd;
}

/* Both ends see the mapping. */
static uint8_t *memory(void)
{
	void *mem = mmap(NULL, CHANGED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);

	if (mem == MAP_FAILED)
		fail("no memory");
	return mem;
}

/* Starts a process that gives the memory other bytes all the time, and @fd too, unless that is negative. */
static pid_t change_begin(uint8_t *mem, int fd)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (uint8_t with = 0;; with++) {
		memset(mem, with, CHANGED_BYTES);
		if (fd >= 0 && pwrite(fd, mem, CHANGED_BYTES, 0) != CHANGED_BYTES)
			fail("the file cannot be changed: %s", strerror(errno));
	}
}

static void change_end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		fail("the bytes did not change to the end");
}

/* The last bytes written after all changes are what both have. */
static void check_last(int mounted, int served, uint8_t *mem)
{
	uint8_t *back = memory();

	fill(mem, CHANGED_BYTES, 2463534242u);
	if (pwrite(mounted, mem, CHANGED_BYTES, 0) != CHANGED_BYTES)
		fail("write: %s", strerror(errno));
	if (pread(mounted, back, CHANGED_BYTES, 0) != CHANGED_BYTES ||
	    memcmp(mem, back, CHANGED_BYTES))
		fail("bytes differ through the mount");
	if (pread(served, back, CHANGED_BYTES, 0) != CHANGED_BYTES ||
	    memcmp(mem, back, CHANGED_BYTES))
		fail("bytes differ at the server");
	munmap(back, CHANGED_BYTES);
}

void change_bytes(const char *mount, const char *server, unsigned turns)
{
	uint8_t *changing = memory(), *mem = memory();
	int served = open_in(server, O_CREAT | O_TRUNC), mounted;
	char path[PATH_MAX];
	pid_t pid;

	write_all(served, mem, CHANGED_BYTES, CHANGED_BYTES, "changed");
	mounted = open_in(mount, O_DIRECT);
	pid = change_begin(changing, served);
	for (unsigned i = 0; i < turns; i++) {
		if (pread(mounted, mem, CHANGED_BYTES, 0) != CHANGED_BYTES)
			fail("read %u: %s", i, strerror(errno));
	}
	change_end(pid);
	pid = change_begin(changing, -1);
	for (unsigned i = 0; i < turns; i++) {
		if (pwrite(mounted, changing, CHANGED_BYTES, 0) != CHANGED_BYTES)
			fail("write %u: %s", i, strerror(errno));
	}
	change_end(pid);
	check_last(mounted, served, mem);
	close(mounted);
	close(served);
	snprintf(path, sizeof(path), "%s/changed", server);
	unlink(path);
}
