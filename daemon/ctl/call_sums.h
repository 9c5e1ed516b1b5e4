/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of Calls: of an operation in an answer to `latency`, of several, or the change between two answers. */
#ifndef DAEMON_CTL_CALL_SUMS_H
#define DAEMON_CTL_CALL_SUMS_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/ctl/cells.h"

#define CALL_SUMS_BUCKETS 64u /* the last one includes further buckets of the daemon */
#define CALL_SUMS_STAGES  5u

struct call_sums {
	uint64_t calls, errors, request_bytes, reply_bytes;
	uint64_t took; /* Calls with a known duration */
	double took_s, stage_s[CALL_SUMS_STAGES];
	uint64_t counts[CALL_SUMS_BUCKETS]; /* histogram of durations */
};

/** call_sums_stage - Returns the name of a stage: "receive", "memory", "credit", "server", "client". */
const char *call_sums_stage(unsigned stage);

/** call_sums_add - Adds an operation of an answer to `latency`. */
void call_sums_add(struct call_sums *sums, const json_t *operation);
/** call_sums_add_all - Adds all operations of a service in an answer to `latency`. */
void call_sums_add_all(struct call_sums *sums, const json_t *service);
/**
 * call_sums_since - Subtracts an earlier answer.
 *
 * If any counter has decreased, the daemon has reset its counters, and nothing is subtracted.
 */
void call_sums_since(struct call_sums *sums, const struct call_sums *earlier);

/** call_sums_mean - Returns the mean duration of a Call in seconds; NAN if unknown. */
double call_sums_mean(const struct call_sums *sums);
/**
 * call_sums_quantile - Returns the upper limit, in seconds, of the bucket that contains quantile @q.
 * @limits: limits_s of the answer
 *
 * Returns NAN if unknown, and INFINITY for the last bucket.
 */
double call_sums_quantile(const struct call_sums *sums, const json_t *limits, double q);
/** call_sums_share - Returns the share of the time spent in @stage, 0 to 1; NAN without any time. */
double call_sums_share(const struct call_sums *sums, unsigned stage);

/** call_sums_time_text - Writes "1.2 ms", "-" for NAN or "long" for INFINITY. Returns @text. */
const char *call_sums_time_text(double seconds, char text[CELL_BYTES]);

#endif
