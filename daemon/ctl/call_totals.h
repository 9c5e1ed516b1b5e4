/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of Calls, from answers to the command `latency`: of one operation, the sum of several
 * operations, or the difference between two answers.
 */
#ifndef DAEMON_CTL_CALL_TOTALS_H
#define DAEMON_CTL_CALL_TOTALS_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/ctl/json_cells.h"

#define CALL_TOTALS_BUCKETS 64u /* the last one includes further buckets of the daemon */
#define CALL_TOTALS_STAGES  5u

struct call_totals {
	uint64_t calls, errors, request_bytes, reply_bytes;
	uint64_t timed_calls; /* Calls with a known duration */
	double took_s, stage_s[CALL_TOTALS_STAGES];
	uint64_t counts[CALL_TOTALS_BUCKETS]; /* histogram of durations */
};

/**
 * call_totals_stage - Returns the name of a stage: "receive", "memory", "credit", "server",
 * "client".
 */
const char *call_totals_stage(unsigned stage);

/** call_totals_add - Adds one operation of an answer. */
void call_totals_add(struct call_totals *sums, const json_t *operation);
/** call_totals_add_all - Adds all operations of a service in an answer. */
void call_totals_add_all(struct call_totals *sums, const json_t *service);
/**
 * call_totals_since - Subtracts an earlier answer.
 *
 * If any counter has decreased, the daemon has reset its counters, and nothing is subtracted.
 */
void call_totals_since(struct call_totals *sums, const struct call_totals *earlier);

/** call_totals_mean - Returns the mean duration of a Call in seconds; NAN if unknown. */
double call_totals_mean(const struct call_totals *sums);
/**
 * call_totals_quantile - Returns the upper limit, in seconds, of the bucket that contains quantile
 * @q.
 * @limits: limits_s of the answer
 *
 * Returns NAN if unknown, and INFINITY for the last bucket.
 */
double call_totals_quantile(const struct call_totals *sums, const json_t *limits, double q);
/**
 * call_totals_share - Returns the share of the time spent in @stage, 0 to 1; NAN without any time.
 */
double call_totals_share(const struct call_totals *sums, unsigned stage);

/** call_totals_time_text - Writes "1.2 ms", "-" for NAN or "long" for INFINITY. Returns @text. */
const char *call_totals_time_text(double seconds, char text[CELL_BYTES]);

#endif
