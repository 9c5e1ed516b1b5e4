// SPDX-License-Identifier: BSD-3-Clause
/*
 * Shifts the time of day for one program. Preloaded, it adds the number of seconds in the file that
 * CLOCKJUMP_FILE names, which can change at any time. Clocks that cannot be set are unchanged.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead_s(void)
{
	const char *path = getenv("CLOCKJUMP_FILE");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[32];
	ssize_t len;

	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return strtol(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, ts);

	if (!rc && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		ts->tv_sec += ahead_s();
	return rc;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;
	int rc = clock_gettime(CLOCK_REALTIME, &ts);

	if (!rc)
		*tv = (struct timeval){.tv_sec = ts.tv_sec, .tv_usec = ts.tv_nsec / 1000};
	return rc;
}

time_t time(time_t *to)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_REALTIME, &ts))
		return (time_t)-1;
	if (to)
		*to = ts.tv_sec;
	return ts.tv_sec;
}
