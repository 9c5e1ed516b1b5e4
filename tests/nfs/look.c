// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nfs/look.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool look_header(const struct look *look, struct call_info *call_info)
{
	memset(call_info, 0xa5, sizeof(*call_info));
	if (rpc_call_decode(look->msg, look->len_bytes, &call_info->hdr) != RPC_OK)
		return false;
	nfs_call_walk_begin(call_info, look->limit_bytes);
	return true;
}

static void look_with(const struct look *look, struct call_info *call_info,
		      const struct nfs_sink *sink)
{
	const struct xdr_sg_entry piece = {look->msg, look->len_bytes};
	const struct xdr_sg pieces = {&piece, 1, look->len_bytes};

	if (!look_header(look, call_info))
		abort();
	nfs_call_walk_continue(call_info, look->sessions, &pieces, sink);
	if (call_info->stage != CALL_INFO_COMPLETE)
		abort();
}

void look_whole(const struct look *look, struct call_info *call_info)
{
	look_with(look, call_info, NULL);
}

static void collect(void *arg, const struct nfs_opaque *opaque)
{
	struct spec_items *items = arg;

	if (opaque->is_payload && items->count < SPEC_MAX_ITEMS)
		items->list[items->count++] =
			(struct rpc_payload){opaque->offset_bytes, opaque->len_bytes};
}

int look_payloads(const struct look *look, struct call_info *call_info, struct spec_items *items)
{
	const struct nfs_sink sink = {collect, items};
	struct call_info unheard;

	items->count = 0;
	look_with(look, call_info, &sink);
	look_whole(look, &unheard);
	if (!look_same(call_info, &unheard))
		abort();
	if (call_info->parse != CALL_PARSE_OK)
		return -EBADMSG;
	if (call_info->narg_payloads <= SPEC_MAX_ITEMS && call_info->narg_payloads != items->count)
		abort();
	if (items->count && memcmp(&call_info->arg, &items->list[0], sizeof(call_info->arg)))
		abort();
	return (int)items->count;
}

bool look_same(const struct call_info *a, const struct call_info *b)
{
	uint32_t nops = a->nops < CALL_LISTED_OPS ? a->nops : CALL_LISTED_OPS;

	_Static_assert(offsetof(struct call_info, walk) ==
			       offsetof(struct call_info, nops) + sizeof(a->nops),
		       "bytes that mean nothing are compared");
	return memcmp(a, b, offsetof(struct call_info, walk)) == 0 &&
	       memcmp(a->ops, b->ops, nops) == 0;
}

struct look look_at_msg(const struct nfs_msg *call, uint32_t limit_bytes)
{
	return (struct look){nfs_msg_bytes(call), nfs_msg_len(call), limit_bytes, NULL};
}

uint32_t look_ceiling(const struct nfs_msg *call, uint32_t limit_bytes)
{
	const struct look look = look_at_msg(call, limit_bytes);
	struct call_info call_info;

	look_whole(&look, &call_info);
	return call_info.reply_bound_bytes;
}
