// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/time_limit.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WORK_WORDS                                                                                 \
	8192u /* 32 KiB: the work reads and writes memory, as sanitizers slow that most */
#define WORK_ROUNDS 2600u

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Each step needs the one before, so that no compiler runs them side by side. Returns a value so that none is left out. */
static uint32_t work(void)
{
	static _Thread_local volatile uint32_t words[WORK_WORDS];
	uint32_t value = 1;

	for (unsigned round = 0; round < WORK_ROUNDS; round++) {
		for (unsigned i = 0; i < WORK_WORDS; i++) {
			value = value * 1664525u + 1013904223u + words[i];
			words[i] = value;
		}
	}
	return value;
}

double time_limit_factor_of(double work_s, double idle_s, double load, long cpus)
{
	double factor = work_s / idle_s;

	if (cpus > 0 && load / (double)cpus > factor)
		factor = load / (double)cpus;
	if (factor < 1)
		return 1;
	return factor < TIME_LIMIT_FACTOR_MAX ? factor : TIME_LIMIT_FACTOR_MAX;
}

static double idle_s(void)
{
	const char *text = getenv("TIME_LIMIT_WORK_S");
	double seconds = text ? strtod(text, NULL) : 0;

	return seconds > 0 ? seconds : TIME_LIMIT_WORK_S;
}

static double load_now(void)
{
	const char *text = getenv("TIME_LIMIT_LOAD");
	double load;

	if (text)
		return strtod(text, NULL);
	return getloadavg(&load, 1) == 1 ? load : 0;
}

double time_limit_factor(void)
{
	double begin = now_s(), work_s;

	work();
	work_s = now_s() - begin;
	return time_limit_factor_of(work_s, idle_s(), load_now(), sysconf(_SC_NPROCESSORS_ONLN));
}

void time_limit_begin(struct time_limit *limit, double seconds)
{
	*limit = (struct time_limit){.seconds = seconds, .begin = now_s(), .factor = 1};
}

bool time_limit_passed(struct time_limit *limit)
{
	double factor;

	if (now_s() - limit->begin < limit->seconds * limit->factor)
		return false;
	factor = time_limit_factor();
	if (factor > limit->factor)
		limit->factor = factor;
	return now_s() - limit->begin >= limit->seconds * limit->factor;
}

int time_limit_left_ms(const struct time_limit *limit)
{
	double left = limit->begin + limit->seconds * limit->factor - now_s();

	return left > 0 ? (int)(left * 1000) + 1 : 0;
}
