// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes Replies to a Call: payloads are in order and lie inside. An input is the length of the
 * Call in four bytes, the Call, and the Reply.
 */
#include <stdlib.h>
#include <string.h>

#include "nfs/nfs.h"
#include "tests/fuzz/fuzz.h"

#define MAX 4u

static void check_reply(const struct call_info *call_info, const uint8_t *reply, uint32_t len)
{
	struct rpc_payload found[MAX], fewer[MAX];
	int count = nfs_reply_ddp_items(call_info, reply, len, found, MAX);
	uint32_t end = 24; /* of the RPC header */

	FUZZ_ASSERT(count <= (int)MAX);
	for (int i = 0; i < count; i++) {
		FUZZ_ASSERT(found[i].offset_bytes <= len);
		FUZZ_ASSERT(found[i].len_bytes <= len - found[i].offset_bytes);
		if (found[i].len_bytes == 0)
			continue;
		/* An operation, a status and a length stand before each. */
		FUZZ_ASSERT(found[i].offset_bytes >= end + (call_info->hdr.vers < 4 ? 8 : 12));
		FUZZ_ASSERT(found[i].offset_bytes % 4 == 0);
		end = found[i].offset_bytes + found[i].len_bytes;
	}
	/* A smaller array only reduces how many are reported. */
	if (count > 0)
		FUZZ_ASSERT(nfs_reply_ddp_items(call_info, reply, len, fewer, 1) == 1 &&
			    !memcmp(fewer, found, sizeof(found[0])));
}

/* Of its first bytes nothing is found but what is in all of it, and nothing behind them is read. */
static void check_begun(const struct call_info *call_info, const uint8_t *reply, uint32_t len,
			uint32_t have)
{
	struct rpc_payload found[MAX], whole[MAX];
	uint8_t *here = malloc(have);
	int count;

	FUZZ_ASSERT(here || !have);
	if (have)
		memcpy(here, reply, have);
	count = nfs_reply_ddp_items_partial(call_info, here, have, len, found, MAX);
	free(here);
	if (count < 0)
		return;
	FUZZ_ASSERT(nfs_reply_ddp_items(call_info, reply, len, whole, MAX) == count);
	FUZZ_ASSERT(!memcmp(found, whole, (size_t)count * sizeof(found[0])));
}

static void look(struct call_info *call_info, const uint8_t *call, uint32_t len)
{
	const struct xdr_sg_entry piece = {call, len};
	const struct xdr_sg pieces = {&piece, 1, len};

	nfs_call_walk_begin(call_info, UINT32_MAX);
	nfs_call_walk_continue(call_info, NULL, &pieces, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs_sessions sessions = {0};
	struct call_info call_info;
	uint32_t call_len, len;
	const uint8_t *reply;

	if (size < 4)
		return 0;
	call_len = be32_get(data);
	data += 4;
	len = (uint32_t)size - 4;
	if (call_len > len || rpc_call_decode(data, call_len, &call_info.hdr) != RPC_OK)
		return 0;
	reply = data + call_len;
	len -= call_len;
	look(&call_info, data, call_len);
	check_reply(&call_info, reply, len);
	check_begun(&call_info, reply, len, len / 2);
	check_begun(&call_info, reply, len, len - len / 8);
	nfs_sessions_learn(&sessions, &call_info, reply, len);
	FUZZ_ASSERT(sessions.count <= NFS_MAX_SESSIONS && sessions.next < NFS_MAX_SESSIONS);
	return 0;
}
