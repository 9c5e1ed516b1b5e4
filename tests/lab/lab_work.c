// SPDX-License-Identifier: BSD-3-Clause
/*
 * lab_work COMMAND ARGUMENTS: workloads of the laboratory that must be quick under emulation. One
 * process replaces hundreds, and it drops only the files' own pages from the cache, not those of
 * every program.
 */
#include "tests/lab/lab_work.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/time_limit.h"

void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	exit(1);
}

void fill(uint8_t *mem, size_t len_bytes, uint32_t seed)
{
	uint32_t x = seed;

	for (size_t i = 0; i < len_bytes; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		mem[i] = (uint8_t)x;
	}
}

static uint8_t *pattern(size_t len_bytes)
{
	uint8_t *mem = NULL;

	if (posix_memalign((void **)&mem, 4096, len_bytes + 4096))
		fail("no memory");
	fill(mem, len_bytes, 2463534242u);
	return mem;
}

void write_all(int fd, const uint8_t *mem, size_t len_bytes, size_t step_bytes, const char *what)
{
	while (len_bytes) {
		ssize_t n = write(fd, mem, len_bytes < step_bytes ? len_bytes : step_bytes);

		if (n <= 0)
			fail("%s: write: %s", what, strerror(errno));
		mem += n;
		len_bytes -= (size_t)n;
	}
}

size_t read_all(int fd, uint8_t *mem, size_t len_bytes, const char *what)
{
	size_t at = 0;

	while (at < len_bytes) {
		ssize_t n = read(fd, mem + at, len_bytes - at);

		if (n < 0)
			fail("%s: read: %s", what, strerror(errno));
		if (n == 0)
			break;
		at += (size_t)n;
	}
	return at;
}

void drop_pages(int fd)
{
	if (fsync(fd))
		fail("fsync: %s", strerror(errno));
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* Written, dropped from the cache, read back and compared; @flags is 0 or O_DIRECT. */
static void one_file(const char *dir, const uint8_t *from, uint8_t *to, size_t len_bytes, int flags)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/file.%zu", dir, len_bytes);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | flags, 0644);
	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	write_all(fd, from, len_bytes, 1 << 20, path);
	drop_pages(fd);
	if (fstat(fd, &st) || (size_t)st.st_size != len_bytes)
		fail("%s: size is %lld", path, (long long)st.st_size);
	lseek(fd, 0, SEEK_SET);
	memset(to, 0, len_bytes);
	if (read_all(fd, to, len_bytes + 1, path) != len_bytes || memcmp(from, to, len_bytes))
		fail("%s: differs%s", path, flags ? " with O_DIRECT" : "");
	close(fd);
	if (unlink(path))
		fail("%s: unlink: %s", path, strerror(errno));
}

/*
 * O_DIRECT where neither offsets nor lengths fit pages or chunks: written in odd steps that start at an odd
 * offset, read in others.
 */
static void direct_file(const char *dir, const uint8_t *from, uint8_t *to)
{
	static const size_t start = 513, len_bytes = 500009, write_step = 70001, read_step = 33333;
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/direct", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0644);
	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	lseek(fd, (off_t)start, SEEK_SET);
	write_all(fd, from + 1, len_bytes, write_step, path);
	for (size_t at = 0; at < start + len_bytes; at += read_step) {
		size_t step =
			start + len_bytes - at < read_step ? start + len_bytes - at : read_step;

		if (pread(fd, to + 3 + at, step, (off_t)at) != (ssize_t)step)
			fail("%s: short read at %zu", path, at);
	}
	for (size_t at = 0; at < start; at++)
		if (to[3 + at])
			fail("%s: no hole at %zu", path, at);
	if (memcmp(to + 3 + start, from + 1, len_bytes))
		fail("%s: differs", path);
	close(fd);
	unlink(path);
}

static void mapped_file(const char *dir, const uint8_t *from, size_t len_bytes)
{
	char path[PATH_MAX];
	uint8_t *map;
	int fd;

	snprintf(path, sizeof(path), "%s/mapped", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || ftruncate(fd, (off_t)len_bytes))
		fail("%s: %s", path, strerror(errno));
	map = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		fail("%s: mmap: %s", path, strerror(errno));
	memcpy(map, from, len_bytes);
	if (msync(map, len_bytes, MS_SYNC))
		fail("%s: msync: %s", path, strerror(errno));
	munmap(map, len_bytes);
	drop_pages(fd);
	map = mmap(NULL, len_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || memcmp(map, from, len_bytes))
		fail("%s: differs as a mapping", path);
	munmap(map, len_bytes);
	close(fd);
	unlink(path);
}

/* Sizes around the limits of inline messages, pages and chunks, and each pad residue. */
static void do_files(const char *dir, size_t max_bytes)
{
	static const size_t sizes[] = {0,    1,    2,    3,     4,     5,      801,    999,
				       1000, 1001, 1002, 1003,  3840,  4000,   4001,   4095,
				       4096, 4097, 8191, 65535, 65537, 262145, 524287, 1048577};
	static const size_t direct[] = {513, 4099, 70001, 1000003};
	uint8_t *from = pattern(max_bytes + 4096), *to = pattern(max_bytes + 4096);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] < max_bytes; i++)
		one_file(dir, from, to, sizes[i], 0);
	one_file(dir, from, to, max_bytes, 0);
	for (size_t i = 0; i < sizeof(direct) / sizeof(direct[0]) && direct[i] < max_bytes; i++)
		one_file(dir, from, to, direct[i], O_DIRECT);
	direct_file(dir, from, to);
	mapped_file(dir, from, 300001);
	free(from);
	free(to);
}

static const char *same_from, *same_to;

static int same_visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char other[PATH_MAX];
	uint8_t *a, *b;
	int fd;

	if (type != FTW_F)
		return 0;
	snprintf(other, sizeof(other), "%s%s", same_to, path + strlen(same_from));
	a = malloc((size_t)st->st_size + 1);
	b = malloc((size_t)st->st_size + 1);
	fd = open(path, O_RDONLY);
	if (!a || !b || fd < 0)
		fail("%s: %s", path, strerror(errno));
	read_all(fd, a, (size_t)st->st_size, path);
	close(fd);
	fd = open(other, O_RDWR);
	if (fd < 0)
		fail("%s: %s", other, strerror(errno));
	drop_pages(fd);
	if (read_all(fd, b, (size_t)st->st_size + 1, other) != (size_t)st->st_size ||
	    memcmp(a, b, (size_t)st->st_size))
		fail("%s: differs", other);
	close(fd);
	free(a);
	free(b);
	return 0;
}

static void do_same(const char *from, const char *to)
{
	same_from = from;
	same_to = to;
	if (nftw(from, same_visit, 16, FTW_PHYS))
		fail("%s: %s", from, strerror(errno));
}

static void name_of(char name[64], unsigned i)
{
	snprintf(name, 64, "a-file-with-a-name-of-some-length-%06u", i);
}

/* A directory of @count empty files; leaves this process in it. */
static void make_names(const char *dir, unsigned count)
{
	char name[64];

	if (mkdir(dir, 0755) || chdir(dir))
		fail("%s: %s", dir, strerror(errno));
	for (unsigned i = 0; i < count; i++) {
		int fd;

		name_of(name, i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0)
			fail("%s: %s", name, strerror(errno));
		close(fd);
	}
}

/* Reads the directory whole: each name must come once. */
static void list_names(const char *dir, unsigned count)
{
	uint8_t *seen = calloc(count + 1, 1);
	const struct dirent *entry;
	unsigned found = 0, i;
	DIR *d = opendir(dir);
	char name[64];

	if (!d || !seen)
		fail("%s: %s", dir, strerror(errno));
	errno = 0;
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		if (sscanf(entry->d_name, "a-file-with-a-name-of-some-length-%u", &i) != 1 ||
		    i >= count || (name_of(name, i), strcmp(name, entry->d_name)) || seen[i])
			fail("READDIR found %s, unexpected or for the second time", entry->d_name);
		seen[i] = 1;
		found++;
	}
	if (errno || found != count)
		fail("READDIR found %u names of %u: %s", found, count, strerror(errno));
	closedir(d);
	free(seen);
}

/* Many names made, read and taken away. */
static void do_names(const char *dir, unsigned count)
{
	char path[PATH_MAX], name[64];

	snprintf(path, sizeof(path), "%s/many", dir);
	make_names(path, count);
	list_names(".", count);
	for (unsigned i = 0; i < count; i++) {
		name_of(name, i);
		if (unlink(name))
			fail("%s: unlink: %s", name, strerror(errno));
	}
	if (chdir("/") || rmdir(path))
		fail("%s: rmdir: %s", path, strerror(errno));
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

/* A fresh connection, a NULL Call of NFSv3, its reply; how long it took. */
static double one_null(const struct sockaddr_in *addr, uint32_t xid, unsigned limit_ms)
{
	const uint32_t call[] = {
		htonl(0x80000028), htonl(xid), 0, htonl(2), htonl(100003), htonl(3), 0, 0, 0, 0, 0};
	uint32_t reply[7] = {0};
	double start = now_ms();
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct pollfd answer = {.fd = fd, .events = POLLIN};
	struct time_limit limit;

	time_limit_begin(&limit, limit_ms / 1e3);
	if (fd < 0 || connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		fail("connection %u: %s", xid, strerror(errno));
	if (write(fd, call, sizeof(call)) != sizeof(call))
		fail("connection %u: %s", xid, strerror(errno));
	while (poll(&answer, 1, time_limit_left_ms(&limit)) <= 0)
		if (time_limit_passed(&limit))
			fail("connection %u: no reply within %.0f ms", xid,
			     limit.seconds * limit.factor * 1e3);
	if (recv(fd, reply, sizeof(reply), MSG_WAITALL) != sizeof(reply) || ntohl(reply[1]) != xid)
		fail("connection %u: no reply", xid);
	close(fd);
	return now_ms() - start;
}

static void do_null(const char *address, unsigned port, unsigned count, unsigned limit_ms)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	double worst = 0;

	if (inet_pton(AF_INET, address, &addr.sin_addr) != 1)
		fail("%s: not an address", address);
	for (unsigned i = 1; i <= count; i++) {
		double ms = one_null(&addr, i, limit_ms);

		if (ms > worst)
			worst = ms;
	}
	printf("slowest of %u: %.0f ms\n", count, worst);
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 0);
}

static void run_files(char **args)
{
	do_files(args[0], number(args[1]));
}

static void run_same(char **args)
{
	do_same(args[0], args[1]);
}

static void run_names(char **args)
{
	do_names(args[0], number(args[1]));
}

static void run_make(char **args)
{
	make_names(args[0], number(args[1]));
}

static void run_list(char **args)
{
	list_names(args[0], number(args[1]));
}

static void run_null(char **args)
{
	do_null(args[0], number(args[1]), number(args[2]), number(args[3]));
}

static void run_load(char **args)
{
	load_run(args[0], number(args[1]), strtoull(args[2], NULL, 0), args[3], number(args[4]));
}

static void run_verify(char **args)
{
	load_verify(args[0], number(args[1]), args[2]);
}

static void run_contend(char **args)
{
	lock_contend(args[0], args[1], number(args[2]));
}

static void run_change(char **args)
{
	change_bytes(args[0], args[1], number(args[2]));
}

static void run_busy(char **args)
{
	busy_read(args[0], number(args[1]));
}

static void run_meter(char **args)
{
	(void)args;
	meter_run();
}

static const struct {
	const char *name, *usage;
	int args;
	void (*run)(char **args);
} commands[] = {
	{"files", "DIR MAX_BYTES", 2, run_files},
	{"same", "FROM TO", 2, run_same},
	{"names", "DIR COUNT", 2, run_names},
	{"make", "DIR COUNT", 2, run_make},
	{"list", "DIR COUNT", 2, run_list},
	{"null", "ADDRESS PORT COUNT LIMIT_MS", 4, run_null},
	{"load", "DIR SEED TOTAL_BYTES JOURNAL MOMENTS", 5, run_load},
	{"verify", "DIR SEED JOURNAL", 3, run_verify},
	{"busy", "FILE READERS", 2, run_busy},
	{"change", "MOUNT SERVER TURNS", 3, run_change},
	{"contend", "DIR DIR ROUNDS", 3, run_contend},
	{"meter", "", 0, run_meter},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc == commands[i].args + 2 && !strcmp(argv[1], commands[i].name)) {
			commands[i].run(argv + 2);
			return 0;
		}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		printf("usage: lab_work %s %s\n", commands[i].name, commands[i].usage);
	return 2;
}
