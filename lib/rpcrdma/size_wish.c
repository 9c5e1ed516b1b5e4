// SPDX-License-Identifier: BSD-3-Clause
/* Which receive size the messages of one direction want: counts of them by class. */
#include "rpcrdma/size_wish.h"

#include <string.h>

#define FIRST_CLASS_BYTES 4096u

void size_wish_init(struct size_wish *wish, uint32_t max_bytes, uint64_t now_us)
{
	*wish = (struct size_wish){
		.max_bytes = max_bytes / 1024 * 1024,
		.since_us = now_us,
	};
}

uint32_t size_wish_by_chunk(struct size_wish *wish, uint64_t bytes, uint64_t now_us)
{
	uint32_t size = FIRST_CLASS_BYTES;
	unsigned at = 0;

	if (bytes > wish->max_bytes)
		return 0;
	while (at < SIZE_WISH_CLASSES && bytes > size) {
		at++;
		size *= 2;
	}
	if (at == SIZE_WISH_CLASSES)
		return 0;
	if (now_us - wish->since_us > SIZE_WISH_US) {
		memset(wish->by_chunk, 0, sizeof(wish->by_chunk));
		wish->since_us = now_us;
	}
	if (++wish->by_chunk[at] % SIZE_WISH_OFTEN != 0)
		return 0;
	return size < wish->max_bytes ? size : wish->max_bytes;
}
