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
struct on_opaque {
	uint32_t count, sum, last_offset;
};

struct input {
	const uint8_t *call;
	uint32_t len;
	unsigned count;
	struct xdr_sg_entry pieces[MAX_CUTS + 1]; /* in memory of their own, of their exact sizes */
	bool is_hole[MAX_CUTS + 1];
	struct call_info begun, whole;
	struct on_opaque on_opaque;
};

static void hear(void *arg, const struct nfs_opaque *opaque)
{
	struct on_opaque *on_opaque = arg;

	FUZZ_ASSERT(opaque->offset_bytes > on_opaque->last_offset);
	on_opaque->last_offset = opaque->offset_bytes;
	on_opaque->count++;
	on_opaque->sum = on_opaque->sum * 31 + opaque->offset_bytes + 7 * opaque->len_bytes +
			 11 * opaque->op + 13 * opaque->index + opaque->is_payload;
}

static bool same(const struct call_info *a, const struct call_info *b)
{
	uint32_t nops = a->nops < CALL_LISTED_OPS ? a->nops : CALL_LISTED_OPS;

	return memcmp(a, b, offsetof(struct call_info, walk)) == 0 &&
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
		in->pieces[in->count++] = (struct xdr_sg_entry){data, len};
		at += len;
	}
}

static void walk_whole(struct input *in)
{
	const struct xdr_sg_entry piece = {in->call, in->len};
	const struct xdr_sg pieces = {&piece, 1, in->len};
	const struct nfs_sink sink = {hear, &in->on_opaque};
	struct call_info call_info = in->begun;

	in->whole = in->begun;
	nfs_call_walk_continue(&in->whole, NULL, &pieces, NULL);
	nfs_call_walk_continue(&call_info, NULL, &pieces, &sink);
	FUZZ_ASSERT(in->whole.stage == CALL_INFO_COMPLETE && same(&call_info, &in->whole));
}

static void walk_pieces(const struct input *in)
{
	const struct xdr_sg pieces = {in->pieces, in->count, in->len};
	struct on_opaque on_opaque = {0};
	const struct nfs_sink sink = {hear, &on_opaque};
	struct call_info call_info = in->begun;

	nfs_call_walk_continue(&call_info, NULL, &pieces, NULL);
	FUZZ_ASSERT(same(&call_info, &in->whole) && call_info.walk.steps == in->whole.walk.steps);
	call_info = in->begun;
	nfs_call_walk_continue(&call_info, NULL, &pieces, &sink);
	FUZZ_ASSERT(same(&call_info, &in->whole) &&
		    !memcmp(&on_opaque, &in->on_opaque, sizeof(on_opaque)));
}

static void walk_holes(const struct input *in)
{
	struct xdr_sg_entry list[MAX_CUTS + 1];
	const struct xdr_sg pieces = {list, in->count, in->len};
	struct call_info call_info = in->begun;

	for (unsigned i = 0; i < in->count; i++) {
		list[i] = in->pieces[i];
		if (in->is_hole[i])
			list[i].data = NULL;
	}
	nfs_call_walk_continue(&call_info, NULL, &pieces, NULL);
	FUZZ_ASSERT(call_info.stage == CALL_INFO_COMPLETE);
	if (call_info.parse != CALL_PARSE_HOLE) {
		FUZZ_ASSERT(same(&call_info, &in->whole));
		return;
	}
	FUZZ_ASSERT(call_info.is_proved
			    ? call_info.reply_bound_bytes == in->begun.reply_bound_bytes
			    : call_info.reply_bound_bytes >= in->begun.reply_bound_bytes);
	FUZZ_ASSERT(call_info.narg_payloads == 0 && call_info.nresult_payloads == 0);
	FUZZ_ASSERT(call_info.walk.steps <= in->whole.walk.steps);
}

/* Without the holes: each piece adds to what has come. */
static void walk_arrivals(const struct input *in)
{
	struct on_opaque on_opaque = {0};
	const struct nfs_sink sink = {hear, &on_opaque};
	struct call_info call_info = in->begun, before;

	for (unsigned i = 1; i <= in->count; i++) {
		const struct xdr_sg pieces = {in->pieces, i, in->len};

		before = call_info;
		nfs_call_walk_continue(&call_info, NULL, &pieces, &sink);
		FUZZ_ASSERT(call_info.stage >= before.stage);
		FUZZ_ASSERT(call_info.stage == CALL_INFO_COMPLETE ||
			    (call_info.reply_bound_bytes >= before.reply_bound_bytes &&
			     call_info.reply_bound_bytes <= (uint64_t)in->whole.reply_bound_bytes +
								    REPLY_UNBOUNDED_BYTES));
		FUZZ_ASSERT(call_info.walk.wasted_bytes <= 2 * in->len);
	}
	FUZZ_ASSERT(same(&call_info, &in->whole) &&
		    !memcmp(&on_opaque, &in->on_opaque, sizeof(on_opaque)));
	FUZZ_ASSERT(call_info.walk.steps <= in->whole.walk.steps + in->count);
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
	nfs_call_walk_begin(&in.begun, LIMIT);
	cut(&in, data + 1, ncuts);
	walk_whole(&in);
	walk_pieces(&in);
	walk_holes(&in);
	walk_arrivals(&in);
	for (unsigned i = 0; i < in.count; i++)
		free((void *)in.pieces[i].data);
	return 0;
}
