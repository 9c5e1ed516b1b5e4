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

/** clock_passed_us - return what has passed since @then_us; 0 if that is later: the loops of two threads differ a little. */
static inline uint64_t clock_passed_us(uint64_t then_us, uint64_t now_us)
{
	return now_us > then_us ? now_us - then_us : 0;
}

#endif
