// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as CM private data: sizes stay in their range, and what conforms survives encoding. */
#include "rpcrdma/private_data.h"
#include "tests/fuzz/fuzz.h"

static void check_size(uint32_t size_bytes)
{
	FUZZ_ASSERT(size_bytes >= RPCRDMA_INLINE_MIN && size_bytes <= RPCRDMA_INLINE_MAX);
	FUZZ_ASSERT(size_bytes % 1024 == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t encoded[RPCRDMA_PRIVATE_DATA_BYTES];
	struct rpcrdma_private_data pd, again;
	bool conforms = rpcrdma_private_data_decode(data, size, &pd);

	check_size(pd.send_bytes);
	check_size(pd.recv_bytes);
	FUZZ_ASSERT(conforms || (!pd.remote_invalidation && pd.send_bytes == RPCRDMA_INLINE_MIN &&
				 pd.recv_bytes == RPCRDMA_INLINE_MIN));
	rpcrdma_private_data_encode(&pd, encoded);
	FUZZ_ASSERT(rpcrdma_private_data_decode(encoded, sizeof(encoded), &again));
	FUZZ_ASSERT(pd.remote_invalidation == again.remote_invalidation);
	FUZZ_ASSERT(pd.send_bytes == again.send_bytes && pd.recv_bytes == again.recv_bytes);
	return 0;
}
