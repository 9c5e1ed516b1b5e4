// SPDX-License-Identifier: BSD-3-Clause
/* Fuzzes the stream to an iwarp engine that is the initiator. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/iwarp_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	iwarp_stream_fuzz(true, data, size);
	return 0;
}
