// SPDX-License-Identifier: BSD-3-Clause
/*
 * lab_work files DIR MAX | same FROM TO | names DIR COUNT | null ADDRESS PORT COUNT LIMIT_MS
 *
 * The laboratory's workloads that must be quick under emulation: one process instead of hundreds, and only
 * the files' own pages dropped from the cache, not those of every program. Says on standard output what
 * went wrong and exits with 1.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
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

static void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	exit(1);
}

static uint8_t *pattern(size_t len_bytes)
{
	uint8_t *mem = NULL;
	uint32_t x = 2463534242u;

	if (posix_memalign((void **)&mem, 4096, len_bytes + 4096))
		fail("no memory");
	for (size_t i = 0; i < len_bytes; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		mem[i] = (uint8_t)x;
	}
	return mem;
}

static void write_all(int fd, const uint8_t *mem, size_t len_bytes, size_t step_bytes,
		      const char *what)
{
	while (len_bytes) {
		ssize_t n = write(fd, mem, len_bytes < step_bytes ? len_bytes : step_bytes);

		if (n <= 0)
			fail("%s: write: %s", what, strerror(errno));
		mem += n;
		len_bytes -= (size_t)n;
	}
}

static size_t read_all(int fd, uint8_t *mem, size_t len_bytes, const char *what)
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

static void drop_pages(int fd)
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

/* Many names in one directory, read whole and counted; then gone. */
static void do_names(const char *dir, unsigned count)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	unsigned seen = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/many", dir);
	if (mkdir(path, 0755) || chdir(path))
		fail("%s: %s", path, strerror(errno));
	for (unsigned i = 0; i < count; i++) {
		int fd;

		snprintf(path, sizeof(path), "a-file-with-a-name-of-some-length-%06u", i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0)
			fail("%s: %s", path, strerror(errno));
		close(fd);
	}
	d = opendir(".");
	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			seen++;
	if (seen != count)
		fail("READDIR found %u names of %u", seen, count);
	closedir(d);
	for (unsigned i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "a-file-with-a-name-of-some-length-%06u", i);
		if (unlink(path))
			fail("%s: unlink: %s", path, strerror(errno));
	}
	snprintf(path, sizeof(path), "%s/many", dir);
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
	struct timeval limit = {limit_ms / 1000, (limit_ms % 1000) * 1000};
	uint32_t reply[7] = {0};
	double start = now_ms();
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (fd < 0 || connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		fail("connection %u: %s", xid, strerror(errno));
	if (write(fd, call, sizeof(call)) != sizeof(call) ||
	    recv(fd, reply, sizeof(reply), MSG_WAITALL) != sizeof(reply) || ntohl(reply[1]) != xid)
		fail("connection %u: no reply within %u ms", xid, limit_ms);
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

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "files"))
		do_files(argv[2], strtoul(argv[3], NULL, 0));
	else if (argc == 4 && !strcmp(argv[1], "same"))
		do_same(argv[2], argv[3]);
	else if (argc == 4 && !strcmp(argv[1], "names"))
		do_names(argv[2], (unsigned)strtoul(argv[3], NULL, 0));
	else if (argc == 6 && !strcmp(argv[1], "null"))
		do_null(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]),
			(unsigned)atoi(argv[5]));
	else
		fail("usage: lab_work files DIR MAX | same FROM TO | names DIR COUNT | "
		     "null ADDRESS PORT COUNT LIMIT_MS");
	return 0;
}
