/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter list of one read of several FPDUs, which receives predicted payloads directly into their
 * places before their headers have been seen.
 *
 * The list describes the stream: staged bytes, and holes, whose bytes go to the predicted place of
 * a payload instead of staging.
 *
 *	stream  | staged |   hole   | staged |   hole   | staged …
 *	                      |                   |
 *	place          | predicted payload | predicted payload |
 *
 * At each hole the parser checks whether the predicted payload has arrived and begins there. If
 * not, the bytes received into this hole and the later ones are copied back into staging before
 * anything else, and the rest of the stream is contiguous. So a misprediction only overwrites
 * memory that was declared free.
 *
 * The payload whose header has arrived is a first hole that is certain. It is never copied back, so
 * the staging memory has no space for it.
 *
 * Pure: it does not parse headers.
 */
#ifndef FABRIC_IWARP_RX_IMAGE_H
#define FABRIC_IWARP_RX_IMAGE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define RX_IMAGE_HOLES 32u

/* The list ends with staged bytes, and a hole lies between two staged parts. */
#define RX_IMAGE_MAX_IOV (2u * RX_IMAGE_HOLES + 1)

struct rx_hole {
	uint8_t *mem;
	size_t at, len_bytes; /* position in the stream read, and length */
};

struct rx_image {
	uint8_t *staging;
	size_t end;        /* planned length */
	size_t sure_bytes; /* length of the first hole if it is certain; else 0 */
	unsigned nholes;
	unsigned next; /* the first hole not yet passed */
	struct rx_hole holes[RX_IMAGE_HOLES];
};

/** rx_image_begin - Initializes an empty list that uses @staging. */
static inline void rx_image_begin(struct rx_image *image, uint8_t *staging)
{
	image->staging = staging;
	image->end = 0;
	image->sure_bytes = 0;
	image->nholes = 0;
	image->next = 0;
}

/** rx_image_glue - Appends @len_bytes that stay in staging. */
static inline void rx_image_glue(struct rx_image *image, size_t len_bytes)
{
	image->end += len_bytes;
}

/**
 * rx_image_hole - Appends @len_bytes that go to @mem, which must be unused meanwhile; returns false
 * if no hole is left.
 */
static inline bool rx_image_hole(struct rx_image *image, uint8_t *mem, size_t len_bytes)
{
	if (image->nholes == RX_IMAGE_HOLES)
		return false;
	image->holes[image->nholes++] = (struct rx_hole){mem, image->end, len_bytes};
	image->end += len_bytes;
	return true;
}

/** rx_image_sure - Starts the list with @len_bytes that certainly belong to @mem. */
static inline void rx_image_sure(struct rx_image *image, uint8_t *mem, size_t len_bytes)
{
	assert(image->end == 0 && image->nholes == 0);
	(void)rx_image_hole(image, mem, len_bytes);
	image->sure_bytes = len_bytes;
}

/** rx_image_iov - Stores the list as at most RX_IMAGE_MAX_IOV pieces; returns how many. */
unsigned rx_image_iov(const struct rx_image *image, struct iovec *iov);

/** rx_image_staged - Returns the bytes of staging memory that the list uses. */
static inline size_t rx_image_staged(const struct rx_image *image)
{
	return image->end - image->sure_bytes;
}

/** rx_image_bytes - Returns the staging memory of position @at, after the certain hole. */
static inline uint8_t *rx_image_bytes(const struct rx_image *image, size_t at)
{
	assert(at >= image->sure_bytes);
	return image->staging + (at - image->sure_bytes);
}

/** rx_image_is_sure - Returns true if @hole is the certain one. */
static inline bool rx_image_is_sure(const struct rx_image *image, const struct rx_hole *hole)
{
	return image->sure_bytes && hole == image->holes;
}

/**
 * rx_image_stretch - Returns how far the @have_bytes received are contiguous: up to the next hole,
 * or the end.
 */
static inline size_t rx_image_stretch(const struct rx_image *image, size_t have_bytes)
{
	if (image->next == image->nholes || image->holes[image->next].at > have_bytes)
		return have_bytes;
	return image->holes[image->next].at;
}

/** rx_image_next - Returns the next hole not yet passed, or NULL. */
static inline const struct rx_hole *rx_image_next(const struct rx_image *image)
{
	return image->next < image->nholes ? &image->holes[image->next] : NULL;
}

/** rx_image_pass - Passes the next hole, which received the predicted payload. */
static inline void rx_image_pass(struct rx_image *image)
{
	assert(image->next < image->nholes);
	image->next++;
}

/**
 * rx_image_mend - Undoes a misprediction from @at on, which lies in the next hole.
 *
 * Copies back those of the @have_bytes received that went to holes at and after @at. Returns how
 * many.
 */
size_t rx_image_mend(struct rx_image *image, size_t at, size_t have_bytes);

#endif
