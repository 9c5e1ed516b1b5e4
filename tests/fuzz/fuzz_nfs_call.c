// SPDX-License-Identifier: BSD-3-Clause
/* Fuzzes Calls: the maximum Reply size respects the limit, and payloads lie inside the Call. */
#include <string.h>

#include "nfs/nfs.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT (64u * 1024 * 1024 + 65536)

static void look(struct call_info *call_info, const uint8_t *data, uint32_t len, uint32_t limit,
		 const struct nfs_sessions *sessions, const struct nfs_sink *sink)
{
	const struct xdr_sg_entry piece = {data, len};
	const struct xdr_sg pieces = {&piece, 1, len};

	nfs_call_walk_begin(call_info, limit);
	nfs_call_walk_continue(call_info, sessions, &pieces, sink);
	FUZZ_ASSERT(call_info->stage == CALL_INFO_COMPLETE);
	FUZZ_ASSERT(call_info->walk.steps <= CALL_MAX_OPS &&
		    call_info->walk.elements <= CALL_MAX_ELEMENTS);
	FUZZ_ASSERT(call_info->limit_bytes <= limit &&
		    call_info->reply_bound_bytes <= call_info->limit_bytes);
}

struct on_opaque {
	const struct call_info *call_info;
	uint32_t len, end;
	bool over; /* the last one was longer than what was left */
	unsigned payloads;
};

/* In order, separate, and inside, except for the end of the last one. */
static void hear(void *arg, const struct nfs_opaque *opaque)
{
	struct on_opaque *on_opaque = arg;

	FUZZ_ASSERT(!on_opaque->over);
	FUZZ_ASSERT(opaque->offset_bytes >= on_opaque->end + 4 &&
		    opaque->offset_bytes <= on_opaque->len);
	FUZZ_ASSERT(opaque->offset_bytes % 4 == 0);
	on_opaque->over = opaque->len_bytes > on_opaque->len - opaque->offset_bytes;
	on_opaque->end =
		on_opaque->over ? on_opaque->len : opaque->offset_bytes + opaque->len_bytes;
	if (opaque->is_payload)
		on_opaque->payloads++;
}

static void check_items(const struct call_info *call_info, const struct on_opaque *on_opaque)
{
	FUZZ_ASSERT(!on_opaque->over || call_info->parse != CALL_PARSE_OK ||
		    !call_info->narg_payloads);
	FUZZ_ASSERT(call_info->parse != CALL_PARSE_OK ||
		    call_info->narg_payloads == on_opaque->payloads);
	FUZZ_ASSERT(call_info->arg.offset_bytes <= on_opaque->len);
	FUZZ_ASSERT(call_info->arg.len_bytes <= on_opaque->len - call_info->arg.offset_bytes);
	FUZZ_ASSERT(!call_info->arg_is_data || call_info->narg_payloads);
	FUZZ_ASSERT(call_info->parse == CALL_PARSE_OK ||
		    (call_info->narg_payloads == 0 && call_info->nresult_payloads == 0));
	FUZZ_ASSERT(call_info->reply_ops <= CALL_MAX_OPS &&
		    call_info->reply_ops <= call_info->nops);
	FUZZ_ASSERT(call_info->results == CALL_RESULTS_NONE || call_info->hdr.prog == 100003);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs_sessions sessions = {.count = NFS_MAX_SESSIONS};
	struct on_opaque on_opaque = {.len = (uint32_t)size};
	const struct nfs_sink sink = {hear, &on_opaque};
	struct call_info call_info;
	uint32_t ceiling;

	if (rpc_call_decode(data, size, &call_info.hdr) != RPC_OK)
		return 0;
	look(&call_info, data, on_opaque.len, LIMIT, &sessions, NULL);
	look(&call_info, data, on_opaque.len, 100, NULL, NULL);
	FUZZ_ASSERT(call_info.reply_bound_bytes == 100);
	look(&call_info, data, on_opaque.len, LIMIT, NULL, NULL);
	ceiling = call_info.reply_bound_bytes;
	FUZZ_ASSERT(ceiling >= 424);
	/*
	 * What cannot be read for its end gets what is allowed without a proof, or what it got
	 * before.
	 */
	if (on_opaque.len > call_info.hdr.args_offset) {
		look(&call_info, data, on_opaque.len - 1, LIMIT, NULL, NULL);
		FUZZ_ASSERT(call_info.reply_bound_bytes >= REPLY_UNBOUNDED_BYTES ||
			    call_info.reply_bound_bytes == ceiling);
	}
	look(&call_info, data, on_opaque.len, LIMIT, NULL, &sink);
	FUZZ_ASSERT(call_info.reply_bound_bytes == ceiling);
	check_items(&call_info, &on_opaque);
	return 0;
}
