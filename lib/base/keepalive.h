/* SPDX-License-Identifier: BSD-3-Clause */
/* How TCP asks a quiet peer whether it is still there: the same for every socket of both rooms that have some. */
#ifndef BASE_KEEPALIVE_H
#define BASE_KEEPALIVE_H

#include <errno.h>
#include <stdbool.h>

#define KEEPALIVE_PROBES         3u /* unanswered, and the peer is given up */
#define KEEPALIVE_INTERVAL_MAX_S 10u

/** keepalive_interval_s - between two probes, of a peer that is asked after @idle_s of silence. */
static inline unsigned keepalive_interval_s(unsigned idle_s)
{
	unsigned part_s = idle_s / KEEPALIVE_PROBES;

	if (part_s > KEEPALIVE_INTERVAL_MAX_S)
		return KEEPALIVE_INTERVAL_MAX_S;
	return part_s ? part_s : 1;
}

/** keepalive_end_s - from the last word of the peer until it is given up. */
static inline unsigned keepalive_end_s(unsigned idle_s)
{
	return idle_s + KEEPALIVE_PROBES * keepalive_interval_s(idle_s);
}

/**
 * keepalive_says_silent - whether @err, of a connection that was up, says that nobody answers any more
 *
 * What the network said last, while TCP asked in vain, takes the place of ETIMEDOUT.
 */
static inline bool keepalive_says_silent(int err)
{
	return err == ETIMEDOUT || err == EHOSTUNREACH || err == ENETUNREACH;
}

#endif
