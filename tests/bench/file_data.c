// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bench/file_data.h"

#include <string.h>

#include "tests/e2e/message.h"

#define FILE_DATA_SEED 9

static uint8_t memory[FILE_DATA_PERIOD + FILE_DATA_CHUNK];

void file_data_init(void)
{
	struct buf period = {0};

	pattern_put(&period, FILE_DATA_SEED, FILE_DATA_PERIOD);
	for (size_t pos = 0; pos < sizeof(memory); pos++)
		memory[pos] = period.data[pos % FILE_DATA_PERIOD];
	buf_free(&period);
}

const uint8_t *file_data_at(uint64_t offset)
{
	return memory + offset % FILE_DATA_PERIOD;
}

bool file_data_is(uint64_t offset, const uint8_t *data, size_t len)
{
	while (len > 0) {
		size_t n = len < FILE_DATA_CHUNK ? len : FILE_DATA_CHUNK;

		if (memcmp(file_data_at(offset), data, n))
			return false;
		offset += n;
		data += n;
		len -= n;
	}
	return true;
}
