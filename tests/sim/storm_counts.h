/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts, for each dialect, how often a storm really used each feature. */
#ifndef TESTS_SIM_STORM_COUNTS_H
#define TESTS_SIM_STORM_COUNTS_H

#include "tests/sim/storm_plan.h"

/* Of the gates' counters. */
#define STORM_FEATURES(X)                                                                          \
	X(sends_msgp)                                                                              \
	X(msgp_received)                                                                           \
	X(replies_lent)                                                                            \
	X(dones_received)                                                                          \
	X(lent_timeouts)                                                                           \
	X(conf_asked)                                                                              \
	X(conf_served)                                                                             \
	X(recv_raises)                                                                             \
	X(reverse_timeouts)                                                                        \
	X(reverse_late_replies)                                                                    \
	X(bad_replies)                                                                             \
	X(reverse_refused)                                                                         \
	X(replies_too_big)                                                                         \
	X(chunks_misplaced)

/* Counts of one run, or of several. */
struct storm_counts {
	uint64_t seeds, answered, reverse_answered;
	uint64_t failed, reverse_failed; /* of these, by SYSTEM_ERR */
	uint64_t connections, asked_again, swallowable, executed_before;
	uint64_t swallowed;       /* of those on one connection, while they were in flight */
	uint64_t gss_swallowable; /* of RPCSEC_GSS, with another sequence number */
	uint64_t faults;
	uint64_t spoiled,
		reverse_spoiled; /* Replies whose header could not be used, of these to reverse Calls */
	uint64_t misplaced;      /* Calls whose read chunk was moved to a position without data */
	uint64_t lies, reverse_lies; /* parts of Replies claimed but not written, likewise */
	uint64_t sizes_asked; /* times that an end should ask its peer for another Receive size */
	uint64_t early;       /* Calls that were answered before all of them had arrived */
	uint64_t
		gone; /* clients that sent one Call and disconnected; the first gate ended connections … */
	uint64_t half_closed, half_closed_timeouts; /* … for these reasons */
	uint64_t rests,
		rested; /* times that all was idle, and RDMA connections that were up then */
	uint64_t reverse_chunk_bytes;
	uint64_t reverse_bad_replies; /* of bad_replies, those to reverse Calls */
#define STORM_FEATURE_COUNT(name) uint64_t name;
	STORM_FEATURES(STORM_FEATURE_COUNT)
#undef STORM_FEATURE_COUNT
};

/** storm_counts_gates - Adds the counts of a chain's gates. */
void storm_counts_gates(struct storm_counts *counts, const struct chain *chain);
/** storm_counts_add - Adds one to another. */
void storm_counts_add(struct storm_counts *to, const struct storm_counts *from);
/** storm_counts_print - Prints the counts of a dialect. */
void storm_counts_print(const struct storm_counts *counts, enum storm_dialect dialect);
/**
 * storm_counts_check - Asserts that each feature happened where it is spoken, and nowhere else,
 * over every seed of a matrix.
 */
void storm_counts_check(const struct storm_counts counts[STORM_DIALECT_COUNT]);

#endif
