// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nfs/look.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool look_header(const struct look *look, struct call_facts *facts)
{
	memset(facts, 0xa5, sizeof(*facts));
	if (rpc_call_decode(look->msg, look->len_bytes, &facts->hdr) != RPC_OK)
		return false;
	nfs_facts_begin(facts, look->limit_bytes);
	return true;
}

static void look_with(const struct look *look, struct call_facts *facts,
		      const struct nfs_sink *sink)
{
	const struct rpc_piece piece = {look->msg, look->len_bytes};
	const struct rpc_pieces pieces = {&piece, 1, look->len_bytes};

	if (!look_header(look, facts))
		abort();
	nfs_facts_go_on(facts, look->sessions, &pieces, sink);
	if (facts->stage != FACTS_WHOLE)
		abort();
}

void look_whole(const struct look *look, struct call_facts *facts)
{
	look_with(look, facts, NULL);
}

static void collect(void *arg, const struct nfs_opaque *opaque)
{
	struct spec_items *items = arg;

	if (opaque->is_payload && items->count < SPEC_MAX_ITEMS)
		items->list[items->count++] =
			(struct rpc_payload){opaque->offset_bytes, opaque->len_bytes};
}

int look_payloads(const struct look *look, struct call_facts *facts, struct spec_items *items)
{
	const struct nfs_sink sink = {collect, items};
	struct call_facts unheard;

	items->count = 0;
	look_with(look, facts, &sink);
	look_whole(look, &unheard);
	if (!look_same(facts, &unheard))
		abort();
	if (facts->trail != FACTS_FOLLOWED)
		return -EBADMSG;
	if (facts->narg_payloads <= SPEC_MAX_ITEMS && facts->narg_payloads != items->count)
		abort();
	if (items->count && memcmp(&facts->arg, &items->list[0], sizeof(facts->arg)))
		abort();
	return (int)items->count;
}

bool look_same(const struct call_facts *a, const struct call_facts *b)
{
	uint32_t nops = a->nops < FACTS_LISTED_OPS ? a->nops : FACTS_LISTED_OPS;

	_Static_assert(offsetof(struct call_facts, walk) ==
			       offsetof(struct call_facts, nops) + sizeof(a->nops),
		       "bytes that mean nothing are compared");
	return memcmp(a, b, offsetof(struct call_facts, walk)) == 0 &&
	       memcmp(a->ops, b->ops, nops) == 0;
}

struct look look_at_msg(const struct nfs_msg *call, uint32_t limit_bytes)
{
	return (struct look){nfs_msg_bytes(call), nfs_msg_len(call), limit_bytes, NULL};
}

uint32_t look_ceiling(const struct nfs_msg *call, uint32_t limit_bytes)
{
	const struct look look = look_at_msg(call, limit_bytes);
	struct call_facts facts;

	look_whole(&look, &facts);
	return facts.ceiling_bytes;
}
