// SPDX-License-Identifier: BSD-3-Clause
/*
 * READs of a file, timed by the client.
 *
 *	timed_reads URL FILE READS BYTES DEPTH [STOP_MS]
 *
 * Reads the first BYTES of FILE repeatedly, DEPTH at a time, and prints the median time of a READ
 * in microseconds. With STOP_MS it sends the first DEPTH Calls, and then reads nothing for STOP_MS.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nfsc/libnfs.h>

static struct nfs_context *nfs;
static struct nfsfh *file;
static uint64_t bytes;
static unsigned reads, depth, begun, done;
static uint32_t *took_us;

struct one {
	uint64_t begin_us;
};

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void die(const char *what)
{
	fprintf(stderr, "timed_reads: %s: %s\n", what, nfs_get_error(nfs));
	exit(1);
}

static void begin(void);

static void on_read(int status, struct nfs_context *context, void *data, void *arg)
{
	struct one *one = arg;

	(void)context, (void)data;
	if (status != (int)bytes)
		die("a READ failed, or was short");
	took_us[done++] = (uint32_t)(now_us() - one->begin_us);
	free(one);
	if (begun < reads)
		begin();
}

static void begin(void)
{
	struct one *one = malloc(sizeof(*one));

	if (!one)
		die("no memory");
	begun++;
	one->begin_us = now_us();
	if (nfs_pread_async(nfs, file, 0, bytes, on_read, one))
		die("pread");
}

/* @events: of those that libnfs wants, the ones to go by. */
static void serve(short events, int timeout_ms)
{
	struct pollfd pollfd = {nfs_get_fd(nfs), (short)(nfs_which_events(nfs) & events), 0};

	if (poll(&pollfd, 1, timeout_ms) > 0 && nfs_service(nfs, pollfd.revents) < 0)
		die("service");
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct nfs_url *url;

	if (argc != 6 && argc != 7)
		return 2;
	nfs = nfs_init_context();
	url = nfs_parse_url_dir(nfs, argv[1]);
	reads = (unsigned)strtoul(argv[3], NULL, 10);
	bytes = strtoul(argv[4], NULL, 10);
	depth = (unsigned)strtoul(argv[5], NULL, 10);
	took_us = calloc(reads, sizeof(*took_us));
	if (!url || !took_us || nfs_mount(nfs, url->server, url->path))
		die("mount");
	nfs_set_readahead(nfs, 0);
	if (nfs_open(nfs, argv[2], O_RDONLY, &file))
		die("open");
	while (begun < depth && begun < reads)
		begin();
	if (argc == 7) {
		while (nfs_which_events(nfs) & POLLOUT)
			serve(POLLOUT, 1000);
		poll(NULL, 0, atoi(argv[6]));
	}
	while (done < reads)
		serve(POLLIN | POLLOUT, 60000);
	qsort(took_us, reads, sizeof(*took_us), compare);
	printf("%" PRIu32 "\n", took_us[reads / 2]);
	nfs_close(nfs, file);
	nfs_destroy_url(url);
	nfs_destroy_context(nfs);
	free(took_us);
	return 0;
}
