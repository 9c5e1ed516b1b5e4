// SPDX-License-Identifier: BSD-3-Clause
/* A ring of bytes. */
#include "stream/pair_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pair_ring_init(struct pair_ring *ring, uint32_t size)
{
	*ring = (struct pair_ring){.bytes = malloc(size), .size = size};
	return ring->bytes ? 0 : -ENOMEM;
}

void pair_ring_fini(struct pair_ring *ring)
{
	free(ring->bytes);
	ring->bytes = NULL;
}

void pair_ring_read(struct pair_ring *ring, uint8_t *to, uint32_t bytes)
{
	uint32_t first = ring->size - ring->start;

	if (first > bytes)
		first = bytes;
	memcpy(to, ring->bytes + ring->start, first);
	memcpy(to + first, ring->bytes, bytes - first);
	ring->start = (ring->start + bytes) % ring->size;
	ring->filled -= bytes;
}

void pair_ring_write(struct pair_ring *ring, const uint8_t *from, uint32_t bytes)
{
	uint32_t at = (ring->start + ring->filled) % ring->size, first = ring->size - at;

	if (first > bytes)
		first = bytes;
	memcpy(ring->bytes + at, from, first);
	memcpy(ring->bytes, from + first, bytes - first);
	ring->filled += bytes;
}
