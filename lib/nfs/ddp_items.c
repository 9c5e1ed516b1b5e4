// SPDX-License-Identifier: BSD-3-Clause
/* Finds the DDP-eligible data items of Replies (RFC 8267). */
#include <errno.h>

#include "nfs/compound.h"
#include "nfs/nfs.h"

/* Collects up to `max` items of a Reply. */
struct ddp_collector {
	struct rpc_payload *payloads;
	unsigned count, max;
	uint32_t elements; /* elements of arrays and lists walked */
};

/* Walks the results of a procedure or an operation. Fills in @marks. */
static bool walk_results(struct ddp_collector *c, const struct nfs_proc *proc,
			 struct xdr_sg_reader *at, struct nfs_marks *marks)
{
	*marks =
		(struct nfs_marks){.elements_max = NFS_REPLY_MAX_ELEMENTS, .elements = c->elements};
	if (!nfs_walk(at, proc->results, marks))
		return false;
	c->elements = marks->elements;
	return true;
}

static void collect(struct ddp_collector *c, const struct nfs_proc *proc,
		    const struct nfs_marks *marks)
{
	if (proc->ddp == NFS_DDP_RESULTS && marks->data_offset && c->count < c->max)
		c->payloads[c->count++] =
			(struct rpc_payload){marks->data_offset, marks->data_bytes};
}

/* A failed operation has no data item; its chunk stays empty. */
static void collect_failed(struct ddp_collector *c, const struct nfs_proc *proc)
{
	if (proc->ddp == NFS_DDP_RESULTS && c->count < c->max)
		c->payloads[c->count++] = (struct rpc_payload){0};
}

/*
 * Returns whether result @i is that of the Call's operation, as far as this is stored. Later ones
 * are only hashed into
 * @sum.
 */
static bool result_matches(const struct call_info *call_info, unsigned i, uint32_t op,
			   uint32_t *sum)
{
	if (i < CALL_LISTED_OPS)
		return op ==
		       (call_info->ops[i] == CALL_OP_ILLEGAL ? NFS_OP_ILLEGAL : call_info->ops[i]);
	*sum = call_info_ops_sum(*sum, op);
	return true;
}

static int collect_compound(struct ddp_collector *c, const struct call_info *call_info,
			    struct xdr_sg_reader *at)
{
	const struct nfs_compound compound = {.minor_version = call_info->minor_version};
	uint32_t results, sum = 0;

	if (!nfs_compound_reply(at, NULL, &results))
		return -EBADMSG;
	for (unsigned i = 0; i < call_info->reply_ops; i++) {
		const struct nfs_proc *row;
		struct nfs_marks marks;
		uint32_t op;

		if (i == results)
			return -EBADMSG;
		row = nfs_compound_op(at, &compound, &op);
		if (!row || !result_matches(call_info, i, op, &sum) ||
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
	return sum == call_info->reply_sum ? (int)c->count : -EBADMSG;
}

static int collect_proc(struct ddp_collector *c, const struct call_info *call_info,
			struct xdr_sg_reader *at)
{
	const struct rpc_call_hdr *hdr = &call_info->hdr;
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
static int find_ddp_items(const struct call_info *call_info, struct xdr_sg_reader *at,
			  const uint8_t *msg, uint32_t have_bytes, struct ddp_collector *c)
{
	struct rpc_reply_hdr hdr;

	if (call_info->stage != CALL_INFO_COMPLETE || call_info->results == CALL_RESULTS_UNKNOWN)
		return -EBADMSG;
	if (call_info->results == CALL_RESULTS_NONE)
		return 0;
	if (rpc_reply_decode(msg, have_bytes, &hdr) != RPC_OK)
		return -EBADMSG;
	if (hdr.stat != RPC_MSG_ACCEPTED || hdr.accept_stat != RPC_SUCCESS)
		return 0;
	if (!xdr_sg_skip(at, hdr.results_offset))
		return -EBADMSG;
	return call_info->compound ? collect_compound(c, call_info, at)
				   : collect_proc(c, call_info, at);
}

int nfs_reply_ddp_items(const struct call_info *call_info, const uint8_t *msg, uint32_t len_bytes,
			struct rpc_payload *payloads, unsigned max)
{
	struct ddp_collector c = {.payloads = payloads, .max = max};
	struct xdr_sg_reader at;

	xdr_sg_reader_init_flat(&at, msg, len_bytes);
	return find_ddp_items(call_info, &at, msg, len_bytes, &c);
}

int nfs_reply_ddp_items_partial(const struct call_info *call_info, const uint8_t *msg,
				uint32_t have_bytes, uint32_t len_bytes,
				struct rpc_payload *payloads, unsigned max)
{
	const struct xdr_sg_entry here = {msg, have_bytes};
	const struct xdr_sg pieces = {&here, 1, len_bytes};
	struct ddp_collector c = {.payloads = payloads, .max = max};
	struct xdr_sg_reader at;

	xdr_sg_reader_init(&at, &pieces, 0);
	return find_ddp_items(call_info, &at, msg, have_bytes, &c);
}
