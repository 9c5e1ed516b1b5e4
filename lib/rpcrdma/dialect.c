// SPDX-License-Identifier: BSD-3-Clause
/* The dialects of RPC-over-RDMA. */
#include "rpcrdma/dialect.h"

#include <assert.h>

#include "rpcrdma/proto.h"

static const struct dialect dialects[DIALECT_COUNT] = {
	[DIALECT_RFC8166] =
		{
			.name = "rfc8166",
			.version = RPCRDMA_VERSION_ONE,
		},
};

const struct dialect *dialect(enum dialect_id id)
{
	assert(id < DIALECT_COUNT);
	return &dialects[id];
}
