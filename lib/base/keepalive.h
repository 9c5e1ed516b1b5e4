/* SPDX-License-Identifier: BSD-3-Clause */
/* How TCP asks a quiet peer whether it is still there: the same for every socket of both rooms that have some. */
#ifndef BASE_KEEPALIVE_H
#define BASE_KEEPALIVE_H

#include <errno.h>
#include <stdbool.h>

#define KEEPALIVE_PROBES         10u /* while a silent peer is asked again */
#define KEEPALIVE_INTERVAL_MAX_S 3u
#define KEEPALIVE_ASK_MIN_S      3u
#define KEEPALIVE_ASK_MAX_S      (KEEPALIVE_PROBES * KEEPALIVE_INTERVAL_MAX_S)

/*
 * Connections that came at about the same time are asked in one tick of the kernel's, which is as coarse as 2 s, and of
 * thousands of probes at once the host drops what its queues do not hold. So they are asked at times that differ; and
 * often, since those that were dropped are repeated together, each time fewer.
 */

/** keepalive_ask_s - the silence after which the peer at @fd is asked: half of @idle_s to all of it. */
static inline unsigned keepalive_ask_s(unsigned idle_s, int fd)
{
	unsigned mixed =
		(unsigned)fd * 2654435761u >> 16; /* golden ratio: neighbours are far apart */

	return idle_s - mixed % (idle_s / 2 + 1);
}

/** keepalive_interval_s - between two probes, of a peer that is asked after @idle_s of silence at most. */
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
	if (idle_s < KEEPALIVE_ASK_MIN_S)
		return idle_s + KEEPALIVE_ASK_MIN_S;
	return idle_s + (idle_s < KEEPALIVE_ASK_MAX_S ? idle_s : KEEPALIVE_ASK_MAX_S);
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
