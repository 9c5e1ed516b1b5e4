// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/dialect.h"

#include <assert.h>

#include "rpcrdma/proto.h"

static const struct dialect dialects[DIALECT_COUNT] = {
	[DIALECT_RFC8166] =
		{
			.name = "rfc8166",
			.version = RPCRDMA_VERSION_ONE,
			.least_inline_bytes = RPCRDMA_DEFAULT_INLINE,
			.private_data = true,
			.done = true,
			.reduces_results = true,
			.returns_reply_chunk = true,
			.configuration = true,
		},
	/* draft-ietf-nfsv4-rpcrdma-03 */
	[DIALECT_DRAFT03] =
		{
			.name = "draft03",
			.version = RPCRDMA_VERSION_ONE,
			.least_inline_bytes = RPCRDMA_DEFAULT_INLINE,
			.done = true,
			.padding = true,
			.read_chunk_replies = true,
			.zero_grants = true,
			.configuration = true,
		},
	/* draft-cel-nfsv4-rpcrdma-version-two-00 */
	[DIALECT_V2] =
		{
			.version = RPCRDMA_VERSION_TWO,
			.least_inline_bytes = RPCRDMA_DEFAULT_INLINE_TWO,
			.reduces_results = true,
			.returns_reply_chunk = true,
			.options = true,
			.one_sided_invalidation = true,
			.read_list_marks_call = true,
		},
};

const struct dialect *dialect(enum dialect_id id)
{
	assert(id < DIALECT_COUNT);
	return &dialects[id];
}
