/* SPDX-License-Identifier: BSD-3-Clause */
/* The system's clocks, for what has no loop (base/loop.h: loop_now_us()), or must see the time within one iteration of it. */
#ifndef DAEMON_BASE_CLOCK_H
#define DAEMON_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** clock_us - return the time of @clock, CLOCK_MONOTONIC or another, in microseconds. */
static inline uint64_t clock_us(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

#endif
