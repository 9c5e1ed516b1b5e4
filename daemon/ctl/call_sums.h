/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of Calls: of an operation as `latency` tells it, of several together, or between two such answers. */
#ifndef DAEMON_CTL_CALL_SUMS_H
#define DAEMON_CTL_CALL_SUMS_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/ctl/cells.h"

#define CALL_SUMS_BUCKETS 64u /* of a histogram; what a daemon tells beyond is in the last */
#define CALL_SUMS_STAGES  5u

struct call_sums {
	uint64_t calls, errors, request_bytes, reply_bytes;
	uint64_t took; /* Calls of which it is known how long they took */
	double took_s, stage_s[CALL_SUMS_STAGES];
	uint64_t counts[CALL_SUMS_BUCKETS]; /* of those that took so long */
};

/** call_sums_stage - its name: "receive", "memory", "credit", "server", "client". */
const char *call_sums_stage(unsigned stage);

/** call_sums_add - add an operation of an answer to latency. */
void call_sums_add(struct call_sums *sums, const json_t *operation);
/** call_sums_add_all - add each operation of a service of it. */
void call_sums_add_all(struct call_sums *sums, const json_t *service);
/**
 * call_sums_since - what has come since an earlier answer
 *
 * Where anything has become less, the daemon has begun to count anew, and all of it has come since.
 */
void call_sums_since(struct call_sums *sums, const struct call_sums *earlier);

/** call_sums_mean - how long one took on the average, in seconds; NAN if it is not known. */
double call_sums_mean(const struct call_sums *sums);
/**
 * call_sums_quantile - where the bucket ends in which the @q-th part of them do, in seconds
 * @limits: limits_s of the answer
 *
 * NAN if it is not known, INFINITY of the last one.
 */
double call_sums_quantile(const struct call_sums *sums, const json_t *limits, double q);
/** call_sums_share - which part of the time was in that stage, 0 to 1; NAN if there was none. */
double call_sums_share(const struct call_sums *sums, unsigned stage);

/** call_sums_time_text - "1.2 ms"; "-" of what is not known, "long" of what has no end. Returns @text. */
const char *call_sums_time_text(double seconds, char text[CELL_BYTES]);

#endif
