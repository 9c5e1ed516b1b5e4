// SPDX-License-Identifier: BSD-3-Clause
/* Fuzzes a server's answers to the Calls of a check. */
#include <string.h>

#include "daemon/health/check_rpc.h"
#include "daemon/rpcbind/rpcb_xdr.h"
#include "tests/fuzz/fuzz.h"

static void check_results(const uint8_t *data, size_t size)
{
	char first[NFS3_PATH_BYTES + 1];
	struct xdr_reader reader;
	struct nfs3_handle handle;
	unsigned count;
	uint32_t status;

	xdr_reader_init(&reader, data, size);
	if (nfs3_reply_export(&reader, &count, first))
		FUZZ_ASSERT(strlen(first) <= NFS3_PATH_BYTES && count <= size / 12);
	xdr_reader_init(&reader, data, size);
	if (nfs3_reply_mnt(&reader, &status, &handle))
		FUZZ_ASSERT(handle.len_bytes <= NFS3_HANDLE_BYTES &&
			    (!status || !handle.len_bytes));
}

static void check_rpcbind(const uint8_t *data, size_t size, uint32_t xid)
{
	uint16_t port = 0;
	enum rpcb_reply reply = rpcb_reply_port(data, size, xid, &port);

	FUZZ_ASSERT((reply == RPCBIND_YES) == (port != 0));
	FUZZ_ASSERT(reply != RPCBIND_YES || size >= RPC_ERROR_REPLY_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_reply_hdr hdr;
	struct check_rpc_reply reply;

	for (int compound = 0; compound < 2; compound++) {
		check_rpc_reply_parse(data, (uint32_t)size, compound, &reply);
		FUZZ_ASSERT(reply.is_rpc || reply.nfs_status == UINT32_MAX);
	}
	check_rpcbind(data, size, size >= 4 ? be32_get(data) : 0);
	if (rpc_reply_decode(data, size, &hdr) == RPC_OK && hdr.stat == RPC_MSG_ACCEPTED)
		check_results(data + hdr.results_offset, size - hdr.results_offset);
	return 0;
}
