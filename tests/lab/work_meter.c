// SPDX-License-Identifier: BSD-3-Clause
/*
 * Measures how long a machine was not idle, in nanoseconds: these are instructions if its clock
 * counts instructions (boot.sh).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/lab/lab_work.h"

#define TIMERS "/proc/timer_list"

/* The sum of all values after @name. */
static uint64_t sum_of(const char *text, const char *name)
{
	uint64_t sum = 0;

	if (!strstr(text, name))
		fail("meter: " TIMERS " has no %s", name);
	while ((text = strstr(text, name))) {
		text += strlen(name);
		sum += strtoull(text, NULL, 10);
	}
	return sum;
}

/*
 * The nanoseconds that all processors have been idle until an interrupt came. Where a thread waits for a page, as those do that
 * read and write files of a mount, the kernel counts them apart.
 */
static uint64_t idle_ns(int fd)
{
	static char text[1 << 20];
	size_t len = 0;
	ssize_t got;

	if (lseek(fd, 0, SEEK_SET))
		fail("meter: " TIMERS ": %s", strerror(errno));
	while (len < sizeof(text) - 1 && (got = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	return sum_of(text, ".idle_sleeptime : ") + sum_of(text, ".iowait_sleeptime: ");
}

void meter_run(void)
{
	struct timespec now;
	uint64_t idle;
	int fd = open(TIMERS, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("meter: " TIMERS ": %s", strerror(errno));
	while (getchar() != EOF) {
		idle = idle_ns(fd);
		clock_gettime(CLOCK_MONOTONIC, &now);
		printf("%" PRIu64 "\n",
		       (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - idle);
		fflush(stdout);
	}
	close(fd);
}
