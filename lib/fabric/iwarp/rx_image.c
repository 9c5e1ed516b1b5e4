// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/rx_image.h"

#include <assert.h>
#include <string.h>

unsigned rx_image_iov(const struct rx_image *image, struct iovec *iov)
{
	size_t at = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < image->nholes; i++) {
		const struct rx_hole *hole = &image->holes[i];

		if (hole->at > at)
			iov[n++] = (struct iovec){rx_image_bytes(image, at), hole->at - at};
		iov[n++] = (struct iovec){hole->mem, hole->len_bytes};
		at = hole->at + hole->len_bytes;
	}
	if (image->end > at)
		iov[n++] = (struct iovec){rx_image_bytes(image, at), image->end - at};
	return n;
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
		memcpy(rx_image_bytes(image, from), hole->mem + (from - hole->at), end - from);
		copied += end - from;
	}
	return copied;
}
