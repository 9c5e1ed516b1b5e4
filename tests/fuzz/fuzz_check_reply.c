// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as what a server answers to the Calls of a check. */
#include <string.h>

#include "daemon/health/nfs3_call.h"
#include "daemon/health/probe_call.h"
#include "tests/fuzz/fuzz.h"

static void check_results(const uint8_t *data, size_t size)
{
	char first[NFS3_PATH_BYTES + 1];
	struct xdr_reader reader;
	struct nfs3_handle handle;
	unsigned count;
	uint32_t status;
	uint16_t port;

	xdr_reader_init(&reader, data, size);
	if (nfs3_reply_getaddr(&reader, &port))
		FUZZ_ASSERT(size >= 4);
	xdr_reader_init(&reader, data, size);
	if (nfs3_reply_export(&reader, &count, first))
		FUZZ_ASSERT(strlen(first) <= NFS3_PATH_BYTES && count <= size / 12);
	xdr_reader_init(&reader, data, size);
	if (nfs3_reply_mnt(&reader, &status, &handle))
		FUZZ_ASSERT(handle.len_bytes <= NFS3_HANDLE_BYTES &&
			    (!status || !handle.len_bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_reply_hdr hdr;
	struct probe_reply reply;

	for (int compound = 0; compound < 2; compound++) {
		probe_reply_read(data, (uint32_t)size, compound, &reply);
		FUZZ_ASSERT(reply.is_rpc || reply.nfs_status == UINT32_MAX);
	}
	if (rpc_reply_decode(data, size, &hdr) == RPC_OK && hdr.stat == RPC_MSG_ACCEPTED)
		check_results(data + hdr.results_offset, size - hdr.results_offset);
	return 0;
}
