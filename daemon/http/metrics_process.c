// SPDX-License-Identifier: BSD-3-Clause
/* Metrics of the process, which have the same names for all programs. */
#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/clock.h"

#include "daemon/http/metrics_families.h"

#define FDS_US                                                                                     \
	15000000u /* between two counts: with ten thousand connections one takes milliseconds */

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

void metrics_process_cpu(struct metrics_text *text, const struct metrics_source *source)
{
	struct rusage usage;

	if (!getrusage(RUSAGE_SELF, &usage))
		metrics_text_put(text, METRICS_NO_LABELS,
				 seconds(usage.ru_utime) + seconds(usage.ru_stime));
}

/* As the daemon's own start, which is a moment after that of the process. */
void metrics_process_start(struct metrics_text *text, const struct metrics_source *source)
{
	const struct proxy *proxy = source->gathered->proxy;
	uint64_t age_us = loop_now_us(proxy->loop) - proxy->start_us;

	metrics_text_put(text, METRICS_NO_LABELS,
			 (double)(clock_us(CLOCK_REALTIME) - age_us) / 1e6);
}

/* Sets pages of all that is mapped, and of what is in RAM. */
static bool read_pages(unsigned long *mapped, unsigned long *resident)
{
	FILE *in = fopen("/proc/self/statm", "re");
	bool good;

	if (!in)
		return false;
	good = fscanf(in, "%lu %lu", mapped, resident) == 2;
	fclose(in);
	return good;
}

void metrics_process_resident(struct metrics_text *text, const struct metrics_source *source)
{
	unsigned long mapped, resident;

	if (read_pages(&mapped, &resident))
		metrics_text_put(text, METRICS_NO_LABELS,
				 (double)resident * (double)sysconf(_SC_PAGESIZE));
}

void metrics_process_virtual(struct metrics_text *text, const struct metrics_source *source)
{
	unsigned long mapped, resident;

	if (read_pages(&mapped, &resident))
		metrics_text_put(text, METRICS_NO_LABELS,
				 (double)mapped * (double)sysconf(_SC_PAGESIZE));
}

/* Without the one that is open for this. */
static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned count = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count - 1;
}

/* The main thread's alone, as all of this is. */
void metrics_process_fds(struct metrics_text *text, const struct metrics_source *source)
{
	static uint64_t counted_us;
	static unsigned count;
	uint64_t now_us = loop_now_us(source->gathered->proxy->loop);

	if (!count || now_us - counted_us >= FDS_US) {
		count = count_fds();
		counted_us = now_us;
	}
	if (count)
		metrics_text_put(text, METRICS_NO_LABELS, count);
}

void metrics_process_max_fds(struct metrics_text *text, const struct metrics_source *source)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit))
		metrics_text_put(text, METRICS_NO_LABELS, (double)limit.rlim_cur);
}
