// SPDX-License-Identifier: BSD-3-Clause
/* Finds the DDP-eligible data items of Replies (RFC 8267). */
#include <errno.h>

#include "nfs/compound.h"
#include "nfs/nfs.h"

/* Collects up to `max` items of a Reply. */
struct collector {
	struct rpc_payload *payloads;
	unsigned count, max;
	uint32_t elements; /* elements of arrays and lists walked */
};

/* Walks the results of a procedure or an operation. Fills in @marks. */
static bool walk_results(struct collector *c, const struct nfs_proc *proc, struct pieces_reader *at,
			 struct nfs_marks *marks)
{
	*marks =
		(struct nfs_marks){.elements_max = NFS_REPLY_MAX_ELEMENTS, .elements = c->elements};
	if (!nfs_walk(at, proc->results, marks))
		return false;
	c->elements = marks->elements;
	return true;
}

static void collect(struct collector *c, const struct nfs_proc *proc, const struct nfs_marks *marks)
{
	if (proc->ddp == NFS_DDP_RESULTS && marks->data_offset && c->count < c->max)
		c->payloads[c->count++] =
			(struct rpc_payload){marks->data_offset, marks->data_bytes};
}

/* A failed operation has no data item; its chunk stays empty. */
static void collect_failed(struct collector *c, const struct nfs_proc *proc)
{
	if (proc->ddp == NFS_DDP_RESULTS && c->count < c->max)
		c->payloads[c->count++] = (struct rpc_payload){0};
}

/*
 * Returns whether result @i is that of the Call's operation, as far as this is stored. Later ones are only hashed into
 * @sum.
 */
static bool answers(const struct call_facts *facts, unsigned i, uint32_t op, uint32_t *sum)
{
	if (i < FACTS_LISTED_OPS)
		return op == (facts->ops[i] == FACTS_OP_ILLEGAL ? NFS_OP_ILLEGAL : facts->ops[i]);
	*sum = facts_ops_sum(*sum, op);
	return true;
}

static int collect_compound(struct collector *c, const struct call_facts *facts,
			    struct pieces_reader *at)
{
	const struct nfs_compound compound = {.minor_version = facts->minor_version};
	uint32_t results, sum = 0;

	if (!nfs_compound_reply(at, NULL, &results))
		return -EBADMSG;
	for (unsigned i = 0; i < facts->reply_ops; i++) {
		const struct nfs_proc *row;
		struct nfs_marks marks;
		uint32_t op;

		if (i == results)
			return -EBADMSG;
		row = nfs_compound_op(at, &compound, &op);
		if (!row || !answers(facts, i, op, &sum) ||
		    (size_t)(at->end - at->pos) < XDR_UNIT_BYTES)
			return -EBADMSG;
		/* The first failure ends the COMPOUND (RFC 8881 section 16.2.3). */
		if (be32_get(at->pos) != 0) {
			collect_failed(c, row);
			return (int)c->count;
		}
		if (!walk_results(c, row, at, &marks))
			return -EBADMSG;
		collect(c, row, &marks);
	}
	return sum == facts->reply_sum ? (int)c->count : -EBADMSG;
}

static int collect_proc(struct collector *c, const struct call_facts *facts,
			struct pieces_reader *at)
{
	const struct rpc_call_hdr *hdr = &facts->hdr;
	const struct nfs_proc *proc = nfs_proc_find(hdr->prog, hdr->vers, hdr->proc);
	struct nfs_marks marks;

	if (!proc || !walk_results(c, proc, at, &marks))
		return -EBADMSG;
	if (marks.status != 0)
		collect_failed(c, proc);
	else
		collect(c, proc, &marks);
	return (int)c->count;
}

/* @at is at the start of the message, whose first @have_bytes are at @msg. */
static int find(const struct call_facts *facts, struct pieces_reader *at, const uint8_t *msg,
		uint32_t have_bytes, struct collector *c)
{
	struct rpc_reply_hdr hdr;

	if (facts->stage != FACTS_WHOLE || facts->results == FACTS_RESULTS_UNKNOWN)
		return -EBADMSG;
	if (facts->results == FACTS_RESULTS_NONE)
		return 0;
	if (rpc_reply_decode(msg, have_bytes, &hdr) != RPC_OK)
		return -EBADMSG;
	if (hdr.stat != RPC_MSG_ACCEPTED || hdr.accept_stat != RPC_SUCCESS)
		return 0;
	if (!pieces_skip(at, hdr.results_offset))
		return -EBADMSG;
	return facts->compound ? collect_compound(c, facts, at) : collect_proc(c, facts, at);
}

int nfs_reply_payloads(const struct call_facts *facts, const uint8_t *msg, uint32_t len_bytes,
		       struct rpc_payload *payloads, unsigned max)
{
	struct collector c = {.payloads = payloads, .max = max};
	struct pieces_reader at;

	pieces_reader_init_whole(&at, msg, len_bytes);
	return find(facts, &at, msg, len_bytes, &c);
}

int nfs_reply_payloads_begun(const struct call_facts *facts, const uint8_t *msg,
			     uint32_t have_bytes, uint32_t len_bytes, struct rpc_payload *payloads,
			     unsigned max)
{
	const struct rpc_piece here = {msg, have_bytes};
	const struct rpc_pieces pieces = {&here, 1, len_bytes};
	struct collector c = {.payloads = payloads, .max = max};
	struct pieces_reader at;

	pieces_reader_init(&at, &pieces, 0);
	return find(facts, &at, msg, have_bytes, &c);
}
