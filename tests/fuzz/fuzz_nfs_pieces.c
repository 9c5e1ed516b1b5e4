// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes Calls that are in pieces, have holes, or arrive bit by bit: the facts are those of the
 * whole Call, or say that a hole hides the rest. An input is the number of cuts in a byte; for each
 * cut two bytes, whose highest bit makes a hole and whose other bits are the length of a piece; and
 * the Call.
 */
#include <stddef.h>
#include <string.h>

#include "nfs/nfs.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT     (64u * 1024 * 1024 + 65536)
#define MAX_CUTS  16u
#define HOLE_FLAG 0x8000u

/* A summary of what a sink received. */
struct heard {
	uint32_t count, sum, last_offset;
};

struct input {
	const uint8_t *call;
	uint32_t len;
	unsigned count;
	struct rpc_piece pieces[MAX_CUTS + 1]; /* in memory of their own, of their exact sizes */
	bool is_hole[MAX_CUTS + 1];
	struct call_facts begun, whole;
	struct heard heard;
};

static void hear(void *arg, const struct nfs_opaque *opaque)
{
	struct heard *heard = arg;

	FUZZ_ASSERT(opaque->offset_bytes > heard->last_offset);
	heard->last_offset = opaque->offset_bytes;
	heard->count++;
	heard->sum = heard->sum * 31 + opaque->offset_bytes + 7 * opaque->len_bytes +
		     11 * opaque->op + 13 * opaque->index + opaque->is_payload;
}

static bool same(const struct call_facts *a, const struct call_facts *b)
{
	uint32_t nops = a->nops < FACTS_LISTED_OPS ? a->nops : FACTS_LISTED_OPS;

	return memcmp(a, b, offsetof(struct call_facts, walk)) == 0 &&
	       memcmp(a->ops, b->ops, nops) == 0;
}

static void cut(struct input *in, const uint8_t *cuts, unsigned ncuts)
{
	uint32_t at = 0;

	for (unsigned i = 0; i <= ncuts; i++) {
		uint32_t word = i < ncuts ? (uint32_t)cuts[2 * i] << 8 | cuts[2 * i + 1] : in->len;
		uint32_t len = i < ncuts ? word & ~HOLE_FLAG : word;
		uint8_t *data;

		if (len > in->len - at)
			len = in->len - at;
		data = malloc(len ? len : 1);
		FUZZ_ASSERT(data);
		if (len)
			memcpy(data, in->call + at, len);
		in->is_hole[i] = i < ncuts && (word & HOLE_FLAG);
		in->pieces[in->count++] = (struct rpc_piece){data, len};
		at += len;
	}
}

static void walk_whole(struct input *in)
{
	const struct rpc_piece piece = {in->call, in->len};
	const struct rpc_pieces pieces = {&piece, 1, in->len};
	const struct nfs_sink sink = {hear, &in->heard};
	struct call_facts facts = in->begun;

	in->whole = in->begun;
	nfs_facts_go_on(&in->whole, NULL, &pieces, NULL);
	nfs_facts_go_on(&facts, NULL, &pieces, &sink);
	FUZZ_ASSERT(in->whole.stage == FACTS_WHOLE && same(&facts, &in->whole));
}

static void walk_pieces(const struct input *in)
{
	const struct rpc_pieces pieces = {in->pieces, in->count, in->len};
	struct heard heard = {0};
	const struct nfs_sink sink = {hear, &heard};
	struct call_facts facts = in->begun;

	nfs_facts_go_on(&facts, NULL, &pieces, NULL);
	FUZZ_ASSERT(same(&facts, &in->whole) && facts.walk.steps == in->whole.walk.steps);
	facts = in->begun;
	nfs_facts_go_on(&facts, NULL, &pieces, &sink);
	FUZZ_ASSERT(same(&facts, &in->whole) && !memcmp(&heard, &in->heard, sizeof(heard)));
}

static void walk_holes(const struct input *in)
{
	struct rpc_piece list[MAX_CUTS + 1];
	const struct rpc_pieces pieces = {list, in->count, in->len};
	struct call_facts facts = in->begun;

	for (unsigned i = 0; i < in->count; i++) {
		list[i] = in->pieces[i];
		if (in->is_hole[i])
			list[i].data = NULL;
	}
	nfs_facts_go_on(&facts, NULL, &pieces, NULL);
	FUZZ_ASSERT(facts.stage == FACTS_WHOLE);
	if (facts.trail != FACTS_LOST_IN_HOLE) {
		FUZZ_ASSERT(same(&facts, &in->whole));
		return;
	}
	FUZZ_ASSERT(facts.is_proved ? facts.ceiling_bytes == in->begun.ceiling_bytes
				    : facts.ceiling_bytes >= in->begun.ceiling_bytes);
	FUZZ_ASSERT(facts.narg_payloads == 0 && facts.nresult_payloads == 0);
	FUZZ_ASSERT(facts.walk.steps <= in->whole.walk.steps);
}

/* Without the holes: each piece adds to what has come. */
static void walk_arrivals(const struct input *in)
{
	struct heard heard = {0};
	const struct nfs_sink sink = {hear, &heard};
	struct call_facts facts = in->begun, before;

	for (unsigned i = 1; i <= in->count; i++) {
		const struct rpc_pieces pieces = {in->pieces, i, in->len};

		before = facts;
		nfs_facts_go_on(&facts, NULL, &pieces, &sink);
		FUZZ_ASSERT(facts.stage >= before.stage);
		FUZZ_ASSERT(facts.stage == FACTS_WHOLE ||
			    (facts.ceiling_bytes >= before.ceiling_bytes &&
			     facts.ceiling_bytes <=
				     (uint64_t)in->whole.ceiling_bytes + FACTS_UNBOUNDED_BYTES));
		FUZZ_ASSERT(facts.walk.vain_bytes <= 2 * in->len);
	}
	FUZZ_ASSERT(same(&facts, &in->whole) && !memcmp(&heard, &in->heard, sizeof(heard)));
	FUZZ_ASSERT(facts.walk.steps <= in->whole.walk.steps + in->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {0};
	unsigned ncuts;

	if (size < 1 || data[0] > MAX_CUTS || size < 1 + 2 * (size_t)data[0])
		return 0;
	ncuts = data[0];
	in.call = data + 1 + 2 * ncuts;
	in.len = (uint32_t)(size - 1 - 2 * ncuts);
	if (rpc_call_decode(in.call, in.len, &in.begun.hdr) != RPC_OK)
		return 0;
	nfs_facts_begin(&in.begun, LIMIT);
	cut(&in, data + 1, ncuts);
	walk_whole(&in);
	walk_pieces(&in);
	walk_holes(&in);
	walk_arrivals(&in);
	for (unsigned i = 0; i < in.count; i++)
		free((void *)in.pieces[i].data);
	return 0;
}
