/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One read of several FPDUs of a tagged message, whose payloads are received where they belong although their headers have
 * not been seen.
 *
 * The staging memory is an image of the stream, with holes: where a payload is expected, its bytes go to its place instead.
 *
 *	image   | glue |   hole   | glue |   hole   | glue …
 *	                    |                 |
 *	place        | expected payload | expected payload |
 *
 * Who takes the stream apart finds out at each hole whether the payload expected there has come, and begins there. If not,
 * the image is mended: what was received into this hole and those behind it is copied back, before anything else is
 * done, and from there on the stream is in one piece. So a wrong guess changes nothing but memory that was said to be free.
 *
 * The payload whose header has come is a first hole that is not in doubt: it is never copied back, so the staging memory
 * has no room for it.
 *
 * Pure: it knows nothing of headers.
 */
#ifndef FABRIC_IWARP_RX_IMAGE_H
#define FABRIC_IWARP_RX_IMAGE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define RX_IMAGE_HOLES 32u

/* The image ends with a glue, and a hole lies between two. */
#define RX_IMAGE_MAX_IOV (2u * RX_IMAGE_HOLES + 1)

struct rx_hole {
	uint8_t *mem;
	size_t at, len_bytes; /* in the image */
};

struct rx_image {
	uint8_t *staging;
	size_t end;        /* of what is planned */
	size_t sure_bytes; /* of the first hole, if that is not in doubt; else 0 */
	unsigned nholes;
	unsigned next; /* the first hole that has not been passed */
	struct rx_hole holes[RX_IMAGE_HOLES];
};

/** rx_image_begin - an image of nothing yet, in @staging. */
static inline void rx_image_begin(struct rx_image *image, uint8_t *staging)
{
	image->staging = staging;
	image->end = 0;
	image->sure_bytes = 0;
	image->nholes = 0;
	image->next = 0;
}

/** rx_image_glue - @len_bytes more of it stay there. */
static inline void rx_image_glue(struct rx_image *image, size_t len_bytes)
{
	image->end += len_bytes;
}

/** rx_image_hole - @len_bytes more go to @mem, which nobody looks at while the image is in use; false: no hole is left. */
static inline bool rx_image_hole(struct rx_image *image, uint8_t *mem, size_t len_bytes)
{
	if (image->nholes == RX_IMAGE_HOLES)
		return false;
	image->holes[image->nholes++] = (struct rx_hole){mem, image->end, len_bytes};
	image->end += len_bytes;
	return true;
}

/** rx_image_sure - the image begins with @len_bytes that are known to belong to @mem. */
static inline void rx_image_sure(struct rx_image *image, uint8_t *mem, size_t len_bytes)
{
	assert(image->end == 0 && image->nholes == 0);
	(void)rx_image_hole(image, mem, len_bytes);
	image->sure_bytes = len_bytes;
}

/** rx_image_iov - the image as pieces, at most RX_IMAGE_MAX_IOV; returns how many. */
unsigned rx_image_iov(const struct rx_image *image, struct iovec *iov);

/** rx_image_staged - how much of the staging memory it takes. */
static inline size_t rx_image_staged(const struct rx_image *image)
{
	return image->end - image->sure_bytes;
}

/** rx_image_bytes - what is in the staging memory of the image from @at on, which is behind what is sure. */
static inline uint8_t *rx_image_bytes(const struct rx_image *image, size_t at)
{
	assert(at >= image->sure_bytes);
	return image->staging + (at - image->sure_bytes);
}

/** rx_image_is_sure - whether this hole of it is not in doubt. */
static inline bool rx_image_is_sure(const struct rx_image *image, const struct rx_hole *hole)
{
	return image->sure_bytes && hole == image->holes;
}

/** rx_image_stretch - how far the image of @have_bytes that came is in one piece: the next hole, or the end. */
static inline size_t rx_image_stretch(const struct rx_image *image, size_t have_bytes)
{
	if (image->next == image->nholes || image->holes[image->next].at > have_bytes)
		return have_bytes;
	return image->holes[image->next].at;
}

/** rx_image_next - the next hole that has not been passed, or NULL. */
static inline const struct rx_hole *rx_image_next(const struct rx_image *image)
{
	return image->next < image->nholes ? &image->holes[image->next] : NULL;
}

/** rx_image_pass - in the next hole came what was to come there: what follows is behind it. */
static inline void rx_image_pass(struct rx_image *image)
{
	assert(image->next < image->nholes);
	image->next++;
}

/**
 * rx_image_mend - the stream is not as was expected, from @at on, which lies in the next hole
 *
 * Of @have_bytes that came, those at and behind @at that went to a place are copied back. Returns how many.
 */
size_t rx_image_mend(struct rx_image *image, size_t at, size_t have_bytes);

#endif
