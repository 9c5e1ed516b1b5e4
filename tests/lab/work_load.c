// SPDX-License-Identifier: BSD-3-Clause
/*
 * A load whose every byte can be checked afterwards: seeded files, and a journal of the
 * acknowledged ones.
 */
#include "tests/lab/lab_work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX 300000u
#define STEP_BYTES     32768u
/* After this many files, an earlier one is read back. */
#define READ_BACK 4u
/* After this many files, one is renamed when it is complete. */
#define RENAME 5u

struct load {
	const char *dir;
	uint32_t seed;
	uint64_t written_bytes;
	uint64_t part_bytes; /* one moment is drawn in each part */
	unsigned moments, moment;
	uint64_t moment_bytes; /* the next one */
	uint8_t *mem, *back;
};

static volatile sig_atomic_t stop;

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

/* A number for each pair, the same in each run. */
static uint32_t draw(uint32_t seed, uint32_t n)
{
	uint32_t x = seed * 2654435761u ^ (n + 1) * 2246822519u;

	x ^= x >> 15;
	x *= 2246822519u;
	x ^= x >> 13;
	x *= 3266489917u;
	x ^= x >> 16;
	return x ? x : 1;
}

/* Half of the files are small, since more happens there in a second. */
static size_t file_bytes(uint32_t seed, unsigned n)
{
	uint32_t x = draw(seed, 2 * n);

	return x & 1 ? (x >> 1) % 5000 : (x >> 1) % (FILE_BYTES_MAX + 1);
}

static size_t file_fill(uint8_t *mem, uint32_t seed, unsigned n)
{
	size_t len_bytes = file_bytes(seed, n);

	fill(mem, len_bytes, draw(seed, 2 * n + 1));
	return len_bytes;
}

static void next_moment(struct load *load)
{
	if (load->moment < load->moments)
		load->moment_bytes = load->moment * load->part_bytes +
				     draw(~load->seed, load->moment) % load->part_bytes;
	else
		load->moment_bytes = UINT64_MAX;
}

static void count_bytes(struct load *load, size_t len_bytes)
{
	load->written_bytes += len_bytes;
	while (load->written_bytes >= load->moment_bytes) {
		load->moment++;
		printf("moment %u: %llu bytes\n", load->moment,
		       (unsigned long long)load->written_bytes);
		next_moment(load);
	}
}

static void file_path(char path[PATH_MAX], const char *dir, unsigned n, const char *suffix)
{
	snprintf(path, PATH_MAX, "%s/f.%u%s", dir, n, suffix);
}

/* A rename whose answer was lost with a server that forgot it is sent again, and finds nothing left to do. */
static void rename_file(const char *from, const char *to)
{
	struct stat st;

	if (rename(from, to) && (errno != ENOENT || stat(to, &st)))
		fail("%s: rename: %s", to, strerror(errno));
}

/* Written, and acknowledged by fsync, by close or by each write. */
static void put_file(struct load *load, unsigned n)
{
	const char *suffix = n % RENAME ? "" : ".new";
	size_t len_bytes = file_fill(load->mem, load->seed, n);
	char path[PATH_MAX], renamed[PATH_MAX];
	int fd;

	file_path(path, load->dir, n, suffix);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | (n % 3 == 2 ? O_SYNC : 0), 0644);
	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	for (size_t at = 0; at < len_bytes; at += STEP_BYTES) {
		size_t step = len_bytes - at < STEP_BYTES ? len_bytes - at : STEP_BYTES;

		write_all(fd, load->mem + at, step, step, path);
		count_bytes(load, step);
	}
	if (n % 3 == 0 && fsync(fd))
		fail("%s: fsync: %s", path, strerror(errno));
	if (close(fd))
		fail("%s: close: %s", path, strerror(errno));
	if (*suffix) {
		file_path(renamed, load->dir, n, "");
		rename_file(path, renamed);
	}
}

static void check_file(const struct load *load, unsigned n)
{
	size_t len_bytes = file_fill(load->mem, load->seed, n), got;
	char path[PATH_MAX];
	int fd;

	file_path(path, load->dir, n, "");
	fd = open(path, O_RDONLY);
	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	drop_pages(fd);
	got = read_all(fd, load->back, len_bytes + 1, path);
	if (got != len_bytes)
		fail("%s: %zu bytes, not %zu", path, got, len_bytes);
	for (size_t at = 0; at < len_bytes; at++)
		if (load->mem[at] != load->back[at])
			fail("%s: differs at %zu of %zu", path, at, len_bytes);
	close(fd);
}

static void load_init(struct load *load, const char *dir, uint32_t seed)
{
	*load = (struct load){.dir = dir, .seed = seed, .moment_bytes = UINT64_MAX};
	load->mem = malloc(FILE_BYTES_MAX + 1);
	load->back = malloc(FILE_BYTES_MAX + 1);
	if (!load->mem || !load->back)
		fail("no memory");
}

static void load_fini(struct load *load)
{
	free(load->mem);
	free(load->back);
}

void load_run(const char *dir, uint32_t seed, uint64_t total_bytes, const char *journal,
	      unsigned moments)
{
	FILE *log = fopen(journal, "w");
	struct load load;
	unsigned n = 0;

	if (!log)
		fail("%s: %s", journal, strerror(errno));
	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(log, NULL, _IOLBF, 0);
	signal(SIGTERM, on_term);
	load_init(&load, dir, seed);
	if (moments) {
		load.moments = moments;
		load.part_bytes = total_bytes / moments;
		next_moment(&load);
	}
	for (; load.written_bytes < total_bytes && !stop; n++) {
		put_file(&load, n);
		fprintf(log, "%u\n", n);
		printf("file %u\n", n);
		if (n % READ_BACK == READ_BACK - 1)
			check_file(&load, draw(seed, ~n) % (n + 1));
	}
	printf("done %u\n", n);
	fclose(log);
	load_fini(&load);
}

/* How many files the journal says were acknowledged. */
static unsigned journal_count(const char *journal)
{
	FILE *log = fopen(journal, "r");
	unsigned n, count = 0;

	if (!log)
		fail("%s: %s", journal, strerror(errno));
	while (fscanf(log, "%u", &n) == 1) {
		if (n != count)
			fail("%s: %u stands where %u was due", journal, n, count);
		count++;
	}
	fclose(log);
	return count;
}

static void check_names(const char *dir, unsigned count)
{
	char torn[32], torn_new[32];
	const struct dirent *entry;
	unsigned seen = 0;
	DIR *d = opendir(dir);

	if (!d)
		fail("%s: %s", dir, strerror(errno));
	snprintf(torn, sizeof(torn), "f.%u", count);
	snprintf(torn_new, sizeof(torn_new), "f.%u.new", count);
	while ((entry = readdir(d))) {
		unsigned n;
		int end = 0;

		if (entry->d_name[0] == '.')
			continue;
		if (!strcmp(entry->d_name, torn) || !strcmp(entry->d_name, torn_new)) {
			printf("%s was being written\n", entry->d_name);
			continue;
		}
		if (sscanf(entry->d_name, "f.%u%n", &n, &end) != 1 || entry->d_name[end] ||
		    n >= count)
			fail("%s/%s: nobody should have left it", dir, entry->d_name);
		seen++;
	}
	closedir(d);
	if (seen != count)
		fail("%s: %u names of %u", dir, seen, count);
}

void load_verify(const char *dir, uint32_t seed, const char *journal)
{
	unsigned count = journal_count(journal);
	struct load load;

	check_names(dir, count);
	load_init(&load, dir, seed);
	for (unsigned n = 0; n < count; n++)
		check_file(&load, n);
	load_fini(&load);
	printf("%u files as acknowledged\n", count);
}
