// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/rx_scatter.h"

#include <assert.h>
#include <string.h>

unsigned rx_scatter_iov(const struct rx_scatter *scatter, struct iovec *iov)
{
	size_t at = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < scatter->nholes; i++) {
		const struct rx_hole *hole = &scatter->holes[i];

		if (hole->at > at)
			iov[n++] =
				(struct iovec){rx_scatter_staging_at(scatter, at), hole->at - at};
		iov[n++] = (struct iovec){hole->mem, hole->len_bytes};
		at = hole->at + hole->len_bytes;
	}
	if (scatter->end > at)
		iov[n++] = (struct iovec){rx_scatter_staging_at(scatter, at), scatter->end - at};
	return n;
}

size_t rx_scatter_copy_back(struct rx_scatter *scatter, size_t at, size_t have_bytes)
{
	size_t copied = 0;

	for (; scatter->next < scatter->nholes; scatter->next++) {
		const struct rx_hole *hole = &scatter->holes[scatter->next];
		size_t from = at > hole->at ? at : hole->at, end = hole->at + hole->len_bytes;

		if (end > have_bytes)
			end = have_bytes;
		if (from >= end)
			continue;
		memcpy(rx_scatter_staging_at(scatter, from), hole->mem + (from - hole->at),
		       end - from);
		copied += end - from;
	}
	return copied;
}
