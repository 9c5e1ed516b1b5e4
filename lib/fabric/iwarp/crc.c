// SPDX-License-Identifier: BSD-3-Clause
/* CRC32C by ISA-L, which picks the fastest way of the processor at hand. */
#include "fabric/iwarp/crc.h"

#include <isa-l.h>

/* ISA-L neither inverts at the start nor at the end; it takes lengths as int. */
#define MAX_STEP (1u << 30)

uint32_t iwarp_crc_add(uint32_t crc, const void *bytes, size_t len_bytes)
{
	unsigned char *at = (unsigned char *)bytes; /* never written: ISA-L forgot the const */

	while (len_bytes > 0) {
		size_t step = len_bytes < MAX_STEP ? len_bytes : MAX_STEP;

		crc = crc32_iscsi(at, (int)step, crc);
		at += step;
		len_bytes -= step;
	}
	return crc;
}

void iwarp_crc_store(uint32_t crc, uint8_t wire[MPA_CRC_BYTES])
{
	crc = ~crc;
	wire[0] = (uint8_t)crc;
	wire[1] = (uint8_t)(crc >> 8);
	wire[2] = (uint8_t)(crc >> 16);
	wire[3] = (uint8_t)(crc >> 24);
}
