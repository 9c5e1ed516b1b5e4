// SPDX-License-Identifier: BSD-3-Clause
/* Fuzzes the counting of capture files: any bytes give the same counts in any pieces. */
#include <string.h>

#include "daemon/ctl/pcapng_verify.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pcapng_verify whole, parts;

	memset(&whole, 0, sizeof(whole));
	memset(&parts, 0, sizeof(parts));
	pcapng_verify_add(&whole, data, size);
	for (size_t at = 0, n; at < size; at += n) {
		n = 1 + at % 7 < size - at ? 1 + at % 7 : size - at;
		pcapng_verify_add(&parts, data + at, n);
	}
	FUZZ_ASSERT(whole.bytes == size && parts.bytes == size);
	FUZZ_ASSERT(whole.broken == parts.broken);
	FUZZ_ASSERT(whole.packets == parts.packets && whole.missed == parts.missed);
	FUZZ_ASSERT(pcapng_verify_is_complete(&whole) == pcapng_verify_is_complete(&parts));
	return 0;
}
