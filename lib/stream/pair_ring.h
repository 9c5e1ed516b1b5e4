/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of bytes: what was sent to an end of a pair and is not read; for stream/pair.c. */
#ifndef STREAM_PAIR_RING_H
#define STREAM_PAIR_RING_H

#include <stdint.h>

#include "base/compiler.h"

struct pair_ring {
	uint8_t *bytes;
	uint32_t size, start, filled;
};

/** pair_ring_init - an empty ring of @size bytes. Returns 0 or -ENOMEM. */
int pair_ring_init(struct pair_ring *ring, uint32_t size) MUST_CHECK;
/** pair_ring_fini - free it. */
void pair_ring_fini(struct pair_ring *ring);
/** pair_ring_read - take out @bytes, at most as many as are filled. */
void pair_ring_read(struct pair_ring *ring, uint8_t *to, uint32_t bytes);
/** pair_ring_write - put in @bytes, for which there must be room. */
void pair_ring_write(struct pair_ring *ring, const uint8_t *from, uint32_t bytes);

#endif
