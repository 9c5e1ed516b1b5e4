// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as a Call: its ceiling keeps to the limit, and its payloads lie inside it. */
#include "nfs/nfs.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT (1024u * 1024 + 65536)
#define MAX   4u

static void check_items(const struct rpc_call_hdr *hdr, const uint8_t *data, uint32_t size)
{
	struct nfs_payload found[MAX];
	uint32_t bounds[MAX], end = hdr->args_offset;
	int count = nfs_call_payloads(hdr, data, size, found, MAX);

	FUZZ_ASSERT(count <= (int)MAX);
	for (int i = 0; i < count; i++) {
		FUZZ_ASSERT(found[i].offset_bytes >= end && found[i].offset_bytes <= size);
		FUZZ_ASSERT(found[i].len_bytes <= size - found[i].offset_bytes);
		FUZZ_ASSERT(found[i].offset_bytes % 4 == 0);
		end = found[i].offset_bytes + found[i].len_bytes;
	}
	FUZZ_ASSERT(nfs_result_bounds(hdr, data, size, bounds, MAX) <= (int)MAX);
	FUZZ_ASSERT(nfs_result_bounds(hdr, data, size, bounds, 0) <= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs_sessions sessions = {.count = NFS_MAX_SESSIONS};
	uint32_t len = (uint32_t)size, limit, ceiling;
	struct rpc_call_hdr hdr;
	struct nfs_note note;

	if (rpc_call_decode(data, size, &hdr) != RPC_OK)
		return 0;
	limit = nfs_sessions_limit(&sessions, &hdr, data, len, LIMIT);
	FUZZ_ASSERT(limit <= LIMIT);
	ceiling = nfs_reply_ceiling(&hdr, data, len, LIMIT);
	FUZZ_ASSERT(ceiling >= 424 && ceiling <= LIMIT);
	FUZZ_ASSERT(nfs_reply_ceiling(&hdr, data, len, 100) == 100);
	/* What cannot be read for its end gets all that the service allows, or what it got before. */
	if (len > hdr.args_offset) {
		uint32_t cut = nfs_reply_ceiling(&hdr, data, len - 1, LIMIT);

		FUZZ_ASSERT(cut == LIMIT || cut == ceiling);
	}
	check_items(&hdr, data, len);
	if (nfs_note_call(&note, &hdr, data, len)) {
		FUZZ_ASSERT(note.op_count <= NFS_NOTE_MAX_OPS);
		FUZZ_ASSERT(note.prog == 100003 && note.vers <= 4);
	}
	return 0;
}
