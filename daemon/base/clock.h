/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the system's clocks, for code that cannot use loop_now_us() (base/loop.h). */
#ifndef DAEMON_BASE_CLOCK_H
#define DAEMON_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** clock_us - Returns the time of @clock, such as CLOCK_MONOTONIC, in microseconds. */
static inline uint64_t clock_us(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/**
 * clock_elapsed_us - Returns the time since @then_us. Returns 0 if @then_us is later: the loops of
 * two threads differ slightly.
 */
static inline uint64_t clock_elapsed_us(uint64_t then_us, uint64_t now_us)
{
	return now_us > then_us ? now_us - then_us : 0;
}

#endif
