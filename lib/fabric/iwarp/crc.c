// SPDX-License-Identifier: BSD-3-Clause
/* CRC32C as MPA puts it on the wire. */
#include "fabric/iwarp/crc.h"

void iwarp_crc_store(uint32_t crc, uint8_t wire[MPA_CRC_BYTES])
{
	crc = ~crc;
	wire[0] = (uint8_t)crc;
	wire[1] = (uint8_t)(crc >> 8);
	wire[2] = (uint8_t)(crc >> 16);
	wire[3] = (uint8_t)(crc >> 24);
}
