// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes CM private data: sizes stay in their range, conforming data survive encoding, and texts
 * are printable.
 */
#include <string.h>

#include "rpcrdma/private_data.h"
#include "rpcrdma/reject_reason.h"
#include "tests/fuzz/fuzz.h"

static void check_size(uint32_t size_bytes)
{
	FUZZ_ASSERT(size_bytes >= RPCRDMA_INLINE_MIN && size_bytes <= RPCRDMA_INLINE_MAX);
	FUZZ_ASSERT(size_bytes % 1024 == 0);
}

static void check_words(const uint8_t *data, size_t size)
{
	char words[REJECT_REASON_WORDS_BYTES];

	if (!reject_reason_decode(data, size, words))
		return;
	FUZZ_ASSERT(strnlen(words, sizeof(words)) < sizeof(words) && words[0]);
	for (const char *c = words; *c; c++)
		FUZZ_ASSERT(*c >= 0x20 && *c < 0x7f && *c != '"' && *c != '\\');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t encoded[RPCRDMA_PRIVATE_DATA_BYTES];
	struct rpcrdma_private_data pd, again;
	bool conforms = rpcrdma_private_data_decode(data, size, &pd);

	check_size(pd.send_bytes);
	check_size(pd.recv_bytes);
	check_words(data, size);
	FUZZ_ASSERT(conforms || (!pd.remote_invalidation && pd.send_bytes == RPCRDMA_INLINE_MIN &&
				 pd.recv_bytes == RPCRDMA_INLINE_MIN));
	rpcrdma_private_data_encode(&pd, encoded);
	FUZZ_ASSERT(rpcrdma_private_data_decode(encoded, sizeof(encoded), &again));
	FUZZ_ASSERT(pd.remote_invalidation == again.remote_invalidation);
	FUZZ_ASSERT(pd.send_bytes == again.send_bytes && pd.recv_bytes == again.recv_bytes);
	return 0;
}
