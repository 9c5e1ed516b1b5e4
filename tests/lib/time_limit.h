/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time limits of tests, adapted to the speed of the machine.
 *
 * A test states how long an operation takes at most on an idle machine. When that time has passed,
 * the limit is multiplied by time_limit_factor(): how much slower this machine is now than the
 * machine on which the limits were chosen. A build with sanitizers slows the measured work as much
 * as the daemon, so its limits grow too. Operations that end in time need no measurement.
 *
 * The program tests/lib/time_limit does the same for scripts; tests/lib/time_limit.sh has functions
 * that use it.
 */
#ifndef TESTS_LIB_TIME_LIMIT_H
#define TESTS_LIB_TIME_LIMIT_H

#include <stdbool.h>

struct time_limit {
	double seconds; /* on an idle machine */
	double begin;   /* by CLOCK_MONOTONIC, in seconds */
	double factor;  /* the largest that was measured, 1 at first */
};

/** time_limit_begin - Starts a limit of @seconds now */
void time_limit_begin(struct time_limit *limit, double seconds);

/**
 * time_limit_passed - Returns true if the limit has passed, even for a machine as slow as this one
 * is now
 *
 * Measures the machine only if the plain number of seconds has passed; that takes 0.1 s or more.
 */
bool time_limit_passed(struct time_limit *limit);

/**
 * time_limit_left_ms - Returns the milliseconds left of the limit, at least 0, as poll() takes them
 *
 * Uses the largest factor measured so far and measures nothing.
 */
int time_limit_left_ms(const struct time_limit *limit);

/**
 * time_limit_factor - Measures how many times slower this machine is now than an idle one
 *
 * Times a fixed piece of work, and reads the load of the last minute. Returns 1 or more.
 */
double time_limit_factor(void);

/**
 * time_limit_factor_of - Returns the factor for a piece of work that took @work_s seconds instead
 * of @idle_s, at a load of @load processes on @cpus
 *
 * This is the larger of both ratios, at least 1 and at most TIME_LIMIT_FACTOR_MAX, so that a test
 * that hangs ends.
 */
double time_limit_factor_of(double work_s, double idle_s, double load, long cpus);

#define TIME_LIMIT_FACTOR_MAX 12.0

/*
 * The time that the fixed piece of work takes, in seconds, in a build with -O2 on an idle machine
 * like the one of the limits. TIME_LIMIT_WORK_S in the environment replaces it, for limits chosen
 * on another machine. TIME_LIMIT_LOAD replaces the load average, which otherwise counts processes
 * of the test itself.
 */
#define TIME_LIMIT_WORK_S 0.050

#endif
