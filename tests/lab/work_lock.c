// SPDX-License-Identifier: BSD-3-Clause
/* Byte-range locks that two clients contend for. */
#include "tests/lab/lab_work.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/time_limit.h"

#define HELD_START   100
#define HELD_BYTES   50
#define BESIDE_START 300
/* A lock that is not free must not be granted for this long; one that is must be within the other (time_limit.h). */
#define REFUSED_MS 300
#define GRANTED_S  60

/* What both processes see, past the file system. */
struct common {
	_Atomic int holders;      /* which have the lock of the count, by their own account */
	_Atomic uint64_t written; /* the count that the last holder wrote */
};

/* One of the two; told and heard by pipes, a byte at a time. */
struct side {
	const char *name;
	int fd, told, heard;
	struct common *common;
};

static void tell(const struct side *side, char what)
{
	if (write(side->told, &what, 1) != 1)
		fail("%s: pipe: %s", side->name, strerror(errno));
}

/* Waits for the other side's word, which must be @what. */
static void hear(const struct side *side, char what)
{
	struct pollfd heard = {.fd = side->heard, .events = POLLIN};
	struct time_limit limit;
	char got = 0;

	time_limit_begin(&limit, GRANTED_S);
	while (poll(&heard, 1, time_limit_left_ms(&limit)) != 1)
		if (time_limit_passed(&limit))
			fail("%s: no '%c' from the other within %.0f s", side->name, what,
			     limit.seconds * limit.factor);
	if (read(side->heard, &got, 1) != 1 || got != what)
		fail("%s: the other ended before '%c'", side->name, what);
}

static void hear_nothing(const struct side *side, int limit_ms)
{
	struct pollfd heard = {.fd = side->heard, .events = POLLIN};

	if (poll(&heard, 1, limit_ms) != 0)
		fail("%s: the other got a lock that is held here", side->name);
}

/* Returns 0, or the error of fcntl(). */
static int lock(const struct side *side, int command, short type, off_t start, off_t len_bytes)
{
	struct flock range = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len_bytes};

	return fcntl(side->fd, command, &range) ? errno : 0;
}

static void must_lock(const struct side *side, int command, short type, off_t start,
		      off_t len_bytes)
{
	int err = lock(side, command, type, start, len_bytes);

	if (err)
		fail("%s: lock of %lld: %s", side->name, (long long)start, strerror(err));
}

static void put(const struct side *side, const char *text)
{
	if (pwrite(side->fd, text, strlen(text), HELD_START) != (ssize_t)strlen(text))
		fail("%s: write: %s", side->name, strerror(errno));
}

static void must_see(const struct side *side, const char *text)
{
	char got[HELD_BYTES + 1] = "";

	if (pread(side->fd, got, strlen(text), HELD_START) != (ssize_t)strlen(text) ||
	    memcmp(got, text, strlen(text)))
		fail("%s: sees \"%s\" where the other wrote \"%s\"", side->name, got, text);
}

/* Holds the lock while the other tries and waits. */
static void steps_of_holder(const struct side *side)
{
	must_lock(side, F_SETLK, F_WRLCK, HELD_START, HELD_BYTES);
	put(side, "first");
	tell(side, 'h'); /* held */
	hear(side, 't'); /* tried, in vain */
	hear(side, 'w'); /* waits from here on */
	hear_nothing(side, REFUSED_MS);
	put(side, "last!");
	must_lock(side, F_SETLK, F_UNLCK, HELD_START, HELD_BYTES);
	hear(side, 'g'); /* granted */
	must_lock(side, F_SETLKW, F_WRLCK, HELD_START, HELD_BYTES);
	must_see(side, "other");
	must_lock(side, F_SETLK, F_UNLCK, HELD_START, HELD_BYTES);
}

static void steps_of_waiter(const struct side *side)
{
	struct flock held = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
	int err;

	hear(side, 'h');
	err = lock(side, F_SETLK, F_WRLCK, HELD_START + 10, 1);
	if (err != EAGAIN && err != EACCES)
		fail("%s: a try within the other's range: %s", side->name, strerror(err));
	err = lock(side, F_SETLK, F_RDLCK, HELD_START, HELD_BYTES);
	if (err != EAGAIN && err != EACCES)
		fail("%s: a try to share the other's range: %s", side->name, strerror(err));
	if (fcntl(side->fd, F_GETLK, &held) || held.l_type != F_WRLCK ||
	    held.l_start != HELD_START || held.l_len != HELD_BYTES)
		fail("%s: asked, the lock is of type %d at %lld, %lld long", side->name,
		     held.l_type, (long long)held.l_start, (long long)held.l_len);
	must_lock(side, F_SETLK, F_WRLCK, BESIDE_START, HELD_BYTES);
	tell(side, 't');
	tell(side, 'w');
	must_lock(side, F_SETLKW, F_WRLCK, HELD_START, HELD_BYTES);
	tell(side, 'g');
	must_see(side, "last!");
	put(side, "other");
	must_lock(side, F_SETLK, F_UNLCK, 0, 0);
}

static uint64_t count_read(const struct side *side)
{
	uint64_t count = 0;

	if (pread(side->fd, &count, sizeof(count), 0) != sizeof(count))
		fail("%s: read: %s", side->name, strerror(errno));
	return count;
}

/* Reads once more as the page cache has it, and as the server has it, so that it is known who is wrong. */
static void fail_stale(const struct side *side, unsigned round, uint64_t found, uint64_t written)
{
	uint64_t cached = count_read(side), served;

	drop_pages(side->fd);
	served = count_read(side);
	fail("%s, round %u: reads %llu under its lock, where the last holder wrote %llu; read again it is %llu, and "
	     "without the cached page %llu",
	     side->name, round, (unsigned long long)found, (unsigned long long)written,
	     (unsigned long long)cached, (unsigned long long)served);
}

/* Tries are repeated rather than waited for: a waiting client may be told, or ask again after many seconds. */
static void count_up(const struct side *side, unsigned rounds)
{
	struct common *common = side->common;
	unsigned refused = 0;

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t count, written;
		int err;

		while ((err = lock(side, F_SETLK, F_WRLCK, 0, sizeof(count)))) {
			if (err != EAGAIN && err != EACCES)
				fail("%s: round %u: %s", side->name, i, strerror(err));
			refused++;
			sched_yield();
		}
		if (atomic_fetch_add(&common->holders, 1))
			fail("%s: round %u: both have the lock", side->name, i);
		written = atomic_load(&common->written);
		count = count_read(side);
		if (count != written)
			fail_stale(side, i, count, written);
		count++;
		if (pwrite(side->fd, &count, sizeof(count), 0) != sizeof(count))
			fail("%s: round %u: write: %s", side->name, i, strerror(errno));
		atomic_store(&common->written, count);
		atomic_fetch_sub(&common->holders, 1);
		must_lock(side, F_SETLK, F_UNLCK, 0, sizeof(count));
	}
	printf("%s: %u rounds, %u tries refused\n", side->name, rounds, refused);
}

static int open_in(const char *dir, int flags)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/contended", dir);
	fd = open(path, O_RDWR | flags, 0644);
	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	return fd;
}

static uint64_t count_in(const char *dir)
{
	int fd = open_in(dir, 0);
	uint64_t count = 0;

	drop_pages(fd);
	if (pread(fd, &count, sizeof(count), 0) != sizeof(count))
		fail("%s: read: %s", dir, strerror(errno));
	close(fd);
	return count;
}

static void check_counts(const char *dir_a, const char *dir_b, unsigned rounds)
{
	uint64_t count_a = count_in(dir_a), count_b = count_in(dir_b);

	if (count_a != 2ull * rounds || count_b != 2ull * rounds)
		fail("counted to %llu as the first client has it and %llu as the second has it, not %llu",
		     (unsigned long long)count_a, (unsigned long long)count_b, 2ull * rounds);
}

void lock_contend(const char *dir_a, const char *dir_b, unsigned rounds)
{
	static const uint8_t zero[512];
	struct side a = {.name = "first client"}, b = {.name = "second client"};
	char path[PATH_MAX];
	int to_a[2], to_b[2], status = 0;
	struct common *common;
	pid_t other;

	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (common == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	a.common = b.common = common;
	if (pipe(to_a) || pipe(to_b))
		fail("pipe: %s", strerror(errno));
	a.fd = open_in(dir_a, O_CREAT | O_TRUNC);
	write_all(a.fd, zero, sizeof(zero), sizeof(zero), "contended");
	drop_pages(a.fd);
	fflush(stdout);
	other = fork();
	if (other < 0)
		fail("fork: %s", strerror(errno));
	if (!other) {
		close(to_a[0]);
		close(to_b[1]);
		close(a.fd);
		b.told = to_a[1];
		b.heard = to_b[0];
		b.fd = open_in(dir_b, 0);
		steps_of_waiter(&b);
		count_up(&b, rounds);
		exit(0);
	}
	close(to_a[1]);
	close(to_b[0]);
	a.told = to_b[1];
	a.heard = to_a[0];
	steps_of_holder(&a);
	count_up(&a, rounds);
	close(a.fd);
	if (waitpid(other, &status, 0) != other || status)
		fail("the second client failed");
	check_counts(dir_a, dir_b, rounds);
	munmap(common, sizeof(*common));
	snprintf(path, sizeof(path), "%s/contended", dir_a);
	unlink(path);
}
