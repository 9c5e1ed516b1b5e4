/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter list of one read of several FPDUs. The read puts predicted payloads directly into their
 * places, before their headers have been seen.
 *
 * The list describes the stream: staged bytes, and holes, whose bytes go to the predicted place of
 * a payload instead of staging.
 *
 *	stream  | staged |   hole   | staged |   hole   | staged …
 *	                      |                   |
 *	place          | predicted payload | predicted payload |
 *
 * At each hole the parser checks whether the predicted payload begins there. If not, it first
 * copies the bytes of this and later holes back into staging, where the rest of the stream is then
 * contiguous. So a misprediction only overwrites memory that was declared free.
 *
 * If the header of a payload has already arrived, the rest of this payload is the first hole. Its
 * place is certain, so it is never copied back and takes no staging memory.
 *
 * Pure: it does not parse headers.
 */
#ifndef FABRIC_IWARP_RX_SCATTER_H
#define FABRIC_IWARP_RX_SCATTER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define RX_SCATTER_HOLES 32u

/* The list ends with staged bytes, and a hole lies between two staged parts. */
#define RX_SCATTER_MAX_IOV (2u * RX_SCATTER_HOLES + 1)

struct rx_hole {
	uint8_t *mem;
	size_t at, len_bytes; /* position in the stream read, and length */
};

struct rx_scatter {
	uint8_t *staging;
	size_t end;         /* planned length */
	size_t known_bytes; /* length of the first hole if it is certain; else 0 */
	unsigned nholes;
	unsigned next; /* the first hole not yet passed */
	struct rx_hole holes[RX_SCATTER_HOLES];
};

/** rx_scatter_begin - Initializes an empty list that uses @staging. */
static inline void rx_scatter_begin(struct rx_scatter *scatter, uint8_t *staging)
{
	scatter->staging = staging;
	scatter->end = 0;
	scatter->known_bytes = 0;
	scatter->nholes = 0;
	scatter->next = 0;
}

/** rx_scatter_stage - Appends @len_bytes that stay in staging. */
static inline void rx_scatter_stage(struct rx_scatter *scatter, size_t len_bytes)
{
	scatter->end += len_bytes;
}

/**
 * rx_scatter_hole - Appends @len_bytes that go to @mem, which must be unused meanwhile; returns
 * false if no hole is left.
 */
static inline bool rx_scatter_hole(struct rx_scatter *scatter, uint8_t *mem, size_t len_bytes)
{
	if (scatter->nholes == RX_SCATTER_HOLES)
		return false;
	scatter->holes[scatter->nholes++] = (struct rx_hole){mem, scatter->end, len_bytes};
	scatter->end += len_bytes;
	return true;
}

/** rx_scatter_known - Starts the list with @len_bytes that certainly belong to @mem. */
static inline void rx_scatter_known(struct rx_scatter *scatter, uint8_t *mem, size_t len_bytes)
{
	assert(scatter->end == 0 && scatter->nholes == 0);
	(void)rx_scatter_hole(scatter, mem, len_bytes);
	scatter->known_bytes = len_bytes;
}

/** rx_scatter_iov - Stores the list as at most RX_SCATTER_MAX_IOV pieces; returns how many. */
unsigned rx_scatter_iov(const struct rx_scatter *scatter, struct iovec *iov);

/** rx_scatter_staged_bytes - Returns the bytes of staging memory that the list uses. */
static inline size_t rx_scatter_staged_bytes(const struct rx_scatter *scatter)
{
	return scatter->end - scatter->known_bytes;
}

/** rx_scatter_staging_at - Returns the staging memory of position @at, after the certain hole. */
static inline uint8_t *rx_scatter_staging_at(const struct rx_scatter *scatter, size_t at)
{
	assert(at >= scatter->known_bytes);
	return scatter->staging + (at - scatter->known_bytes);
}

/** rx_scatter_is_known - Returns true if @hole is the certain one. */
static inline bool rx_scatter_is_known(const struct rx_scatter *scatter, const struct rx_hole *hole)
{
	return scatter->known_bytes && hole == scatter->holes;
}

/**
 * rx_scatter_contiguous - Returns how far the @have_bytes received are contiguous: up to the next
 * hole, or the end.
 */
static inline size_t rx_scatter_contiguous(const struct rx_scatter *scatter, size_t have_bytes)
{
	if (scatter->next == scatter->nholes || scatter->holes[scatter->next].at > have_bytes)
		return have_bytes;
	return scatter->holes[scatter->next].at;
}

/** rx_scatter_next_hole - Returns the next hole not yet passed, or NULL. */
static inline const struct rx_hole *rx_scatter_next_hole(const struct rx_scatter *scatter)
{
	return scatter->next < scatter->nholes ? &scatter->holes[scatter->next] : NULL;
}

/** rx_scatter_pass_hole - Passes the next hole, which received the predicted payload. */
static inline void rx_scatter_pass_hole(struct rx_scatter *scatter)
{
	assert(scatter->next < scatter->nholes);
	scatter->next++;
}

/**
 * rx_scatter_copy_back - Undoes a misprediction. It begins at @at, which lies in the next hole.
 *
 * Copies back those of the @have_bytes received that went to holes at and after @at. Returns how
 * many.
 */
size_t rx_scatter_copy_back(struct rx_scatter *scatter, size_t at, size_t have_bytes);

#endif
