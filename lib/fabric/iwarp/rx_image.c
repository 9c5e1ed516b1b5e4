// SPDX-License-Identifier: BSD-3-Clause
/* An image of the stream with holes, whose bytes are received elsewhere. */
#include "fabric/iwarp/rx_image.h"

#include <assert.h>
#include <string.h>

void rx_image_begin(struct rx_image *image, uint8_t *staging)
{
	image->staging = staging;
	image->end = 0;
	image->nholes = 0;
	image->next = 0;
}

void rx_image_glue(struct rx_image *image, size_t len_bytes)
{
	image->end += len_bytes;
}

bool rx_image_hole(struct rx_image *image, uint8_t *mem, size_t len_bytes)
{
	if (image->nholes == RX_IMAGE_HOLES)
		return false;
	image->holes[image->nholes++] = (struct rx_hole){mem, image->end, len_bytes};
	image->end += len_bytes;
	return true;
}

static unsigned piece_add(struct iovec *iov, unsigned n, uint8_t *mem, size_t len_bytes)
{
	iov[n].iov_base = mem;
	iov[n].iov_len = len_bytes;
	return len_bytes ? n + 1 : n;
}

unsigned rx_image_iov(const struct rx_image *image, struct iovec *iov)
{
	size_t at = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < image->nholes; i++) {
		const struct rx_hole *hole = &image->holes[i];

		n = piece_add(iov, n, image->staging + at, hole->at - at);
		n = piece_add(iov, n, hole->mem, hole->len_bytes);
		at = hole->at + hole->len_bytes;
	}
	return piece_add(iov, n, image->staging + at, image->end - at);
}

size_t rx_image_stretch(const struct rx_image *image, size_t have_bytes)
{
	if (image->next == image->nholes || image->holes[image->next].at > have_bytes)
		return have_bytes;
	return image->holes[image->next].at;
}

const struct rx_hole *rx_image_next(const struct rx_image *image)
{
	return image->next < image->nholes ? &image->holes[image->next] : NULL;
}

void rx_image_pass(struct rx_image *image)
{
	assert(image->next < image->nholes);
	image->next++;
}

size_t rx_image_mend(struct rx_image *image, size_t at, size_t have_bytes)
{
	size_t copied = 0;

	for (; image->next < image->nholes; image->next++) {
		const struct rx_hole *hole = &image->holes[image->next];
		size_t from = at > hole->at ? at : hole->at, end = hole->at + hole->len_bytes;

		if (end > have_bytes)
			end = have_bytes;
		if (from >= end)
			continue;
		memcpy(image->staging + from, hole->mem + (from - hole->at), end - from);
		copied += end - from;
	}
	return copied;
}
