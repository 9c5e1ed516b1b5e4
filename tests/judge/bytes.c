// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/bytes.h"

#define CRC32C_POLYNOMIAL 0x82f63b78u /* reflected */

uint32_t crc32c_of(const uint8_t *data, size_t len)
{
	static uint32_t table[256];
	uint32_t crc = 0xffffffffu;

	if (!table[1]) {
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t value = i;

			for (int bit = 0; bit < 8; bit++)
				value = value >> 1 ^ (value & 1 ? CRC32C_POLYNOMIAL : 0);
			table[i] = value;
		}
	}
	for (size_t i = 0; i < len; i++)
		crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
	return ~crc;
}
