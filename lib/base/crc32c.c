// SPDX-License-Identifier: BSD-3-Clause
/* Uses ISA-L, which selects the fastest implementation for the processor. */
#include "base/crc32c.h"

#include <isa-l.h>

#include "base/compiler.h"

/* ISA-L inverts neither at the start nor at the end, and takes lengths as int. */
#define MAX_STEP (1u << 30)

NOT_INLINE static uint32_t add_long(uint32_t crc, unsigned char *at, size_t len_bytes)
{
	while (len_bytes > 0) {
		size_t step = len_bytes < MAX_STEP ? len_bytes : MAX_STEP;

		crc = crc32_iscsi(at, (int)step, crc);
		at += step;
		len_bytes -= step;
	}
	return crc;
}

uint32_t crc32c_add(uint32_t crc, const void *bytes, size_t len_bytes)
{
	/* Never written; the prototype of ISA-L lacks the const. */
	unsigned char *at = (unsigned char *)bytes;

	if (!len_bytes)
		return crc;
	if (len_bytes > MAX_STEP)
		return add_long(crc, at, len_bytes);
	return crc32_iscsi(at, (int)len_bytes, crc);
}
