// SPDX-License-Identifier: BSD-3-Clause
/* Where the DDP-eligible data items of Calls and Replies are (RFC 8267). */
#include <errno.h>

#include "nfs/args.h"
#include "nfs/compound.h"
#include "nfs/nfs.h"

/* What stands for OP_ILLEGAL in a note. */
#define NOTE_ILLEGAL UINT8_MAX

/* Takes the items of one side of a message, as many as there is room for. */
struct collector {
	enum nfs_ddp side; /* NFS_DDP_ARGS or NFS_DDP_RESULTS */
	const uint8_t *msg;
	struct nfs_payload *payloads; /* or: */
	uint32_t *bounds_bytes;
	unsigned count, max;
	enum nfs_ddp last; /* what the last of the payloads is */
};

static bool is_on_side(const struct nfs_proc *proc, enum nfs_ddp side)
{
	return proc->ddp == side || (side == NFS_DDP_ARGS && proc->ddp == NFS_DDP_TARGET);
}

static void collect(struct collector *c, const struct nfs_proc *proc, const struct nfs_marks *marks)
{
	if (!is_on_side(proc, c->side) || c->count == c->max)
		return;
	if (c->bounds_bytes) {
		/* A READ says how much it wants; a READLINK's path is all of its row's growth. */
		c->bounds_bytes[c->count++] =
			proc->growth == NFS_GROWS_COUNT ? marks->count : NFS_PATH_BYTES;
	} else if (marks->data) {
		c->payloads[c->count].offset_bytes = (uint32_t)(marks->data - c->msg);
		c->payloads[c->count++].len_bytes = marks->data_bytes;
		c->last = proc->ddp;
	}
}

/* The program, if the arguments can be read and RFC 8267 lets data items of it move. */
static bool eligible(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
		     struct xdr_reader *args)
{
	return hdr->prog == NFS_PROGRAM_NFS &&
	       nfs_args_open(hdr, msg, len_bytes, args) == NFS_ARGS_PLAIN;
}

static int collect_compound(struct collector *c, struct xdr_reader *args)
{
	struct nfs_compound compound;

	if (!nfs_compound_call(NFS_PROGRAM_NFS, args, &compound))
		return -EBADMSG;
	for (uint32_t i = 0; i < compound.op_count; i++) {
		struct nfs_marks marks = {0};
		uint32_t op;
		const struct nfs_proc *row = nfs_compound_op(args, &compound, &op);

		if (!row || !nfs_walk(args, row->args, &marks))
			return -EBADMSG;
		collect(c, row, &marks);
	}
	return (int)c->count;
}

static int collect_call(struct collector *c, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			uint32_t len_bytes)
{
	struct nfs_marks marks = {0};
	struct xdr_reader args;
	const struct nfs_proc *proc;

	if (!eligible(hdr, msg, len_bytes, &args))
		return 0;
	if (nfs_compound_is(hdr->prog, hdr->vers, hdr->proc))
		return collect_compound(c, &args);
	proc = nfs_proc_find(hdr->prog, hdr->vers, hdr->proc);
	if (!proc || !is_on_side(proc, c->side))
		return 0;
	if (!nfs_walk(&args, proc->args, &marks))
		return -EBADMSG;
	collect(c, proc, &marks);
	return (int)c->count;
}

int nfs_call_payloads(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
		      struct nfs_payload *payloads, unsigned max)
{
	struct collector c = {.side = NFS_DDP_ARGS, .msg = msg, .payloads = payloads, .max = max};

	return collect_call(&c, hdr, msg, len_bytes);
}

bool nfs_call_writes(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes)
{
	struct nfs_payload first;
	struct collector c = {.side = NFS_DDP_ARGS, .msg = msg, .payloads = &first, .max = 1};

	return collect_call(&c, hdr, msg, len_bytes) == 1 && c.last == NFS_DDP_ARGS;
}

int nfs_result_bounds(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
		      uint32_t *bounds_bytes, unsigned max)
{
	struct collector c = {.side = NFS_DDP_RESULTS, .bounds_bytes = bounds_bytes, .max = max};

	return collect_call(&c, hdr, msg, len_bytes);
}

/* Keeps the operations up to the last that has a payload; false if they cannot be followed. */
static bool note_ops(struct nfs_note *note, struct xdr_reader *args)
{
	struct nfs_compound compound;

	if (!nfs_compound_call(NFS_PROGRAM_NFS, args, &compound))
		return false;
	note->minor_version = compound.minor_version;
	for (uint32_t i = 0; i < compound.op_count; i++) {
		struct nfs_marks marks = {0};
		uint32_t op;
		const struct nfs_proc *row = nfs_compound_op(args, &compound, &op);

		if (!row || i == NFS_NOTE_MAX_OPS || !nfs_walk(args, row->args, &marks))
			return false;
		note->ops[i] = op == NFS_OP_ILLEGAL ? NOTE_ILLEGAL : (uint8_t)op;
		if (row->ddp == NFS_DDP_RESULTS)
			note->op_count = (uint8_t)(i + 1);
	}
	return true;
}

bool nfs_note_call(struct nfs_note *note, const struct rpc_call_hdr *hdr, const uint8_t *msg,
		   uint32_t len_bytes)
{
	const struct nfs_proc *proc;
	struct xdr_reader args;

	if (!eligible(hdr, msg, len_bytes, &args))
		return false;
	note->prog = hdr->prog;
	note->vers = hdr->vers;
	note->proc = hdr->proc;
	note->minor_version = 0;
	note->op_count = 0;
	if (nfs_compound_is(hdr->prog, hdr->vers, hdr->proc)) {
		note->followed = note_ops(note, &args);
		return !note->followed || note->op_count > 0;
	}
	proc = nfs_proc_find(hdr->prog, hdr->vers, hdr->proc);
	note->followed = true;
	return proc && proc->ddp == NFS_DDP_RESULTS;
}

/* An operation that has failed carries no data item; its chunk stays empty. */
static void collect_failed(struct collector *c, const struct nfs_proc *proc)
{
	if (proc->ddp == NFS_DDP_RESULTS && c->count < c->max)
		c->payloads[c->count++] = (struct nfs_payload){0};
}

static int collect_results(struct collector *c, const struct nfs_note *note, struct xdr_reader *at)
{
	const struct nfs_compound compound = {.minor_version = note->minor_version};
	uint32_t results;

	if (!nfs_compound_reply(at, &results))
		return -EBADMSG;
	for (unsigned i = 0; i < note->op_count; i++) {
		struct nfs_marks marks = {0};
		uint32_t op, want = note->ops[i] == NOTE_ILLEGAL ? NFS_OP_ILLEGAL : note->ops[i];
		const struct nfs_proc *row;

		if (i == results)
			return -EBADMSG;
		row = nfs_compound_op(at, &compound, &op);
		if (!row || op != want || xdr_remaining_bytes(at) < XDR_UNIT_BYTES)
			return -EBADMSG;
		/* The first that fails ends the COMPOUND (RFC 8881 section 16.2.3). */
		if (xdr_load_u32(at->pos) != 0) {
			collect_failed(c, row);
			break;
		}
		if (!nfs_walk(at, row->results, &marks))
			return -EBADMSG;
		collect(c, row, &marks);
	}
	return (int)c->count;
}

int nfs_reply_payloads(const struct nfs_note *note, const uint8_t *msg, uint32_t len_bytes,
		       struct nfs_payload *payloads, unsigned max)
{
	struct collector c = {
		.side = NFS_DDP_RESULTS, .msg = msg, .payloads = payloads, .max = max};
	struct nfs_marks marks = {0};
	const struct nfs_proc *proc;
	struct rpc_reply_hdr hdr;
	struct xdr_reader at;

	if (!note->followed || rpc_reply_decode(msg, len_bytes, &hdr) != RPC_OK)
		return -EBADMSG;
	if (hdr.stat != RPC_MSG_ACCEPTED || hdr.accept_stat != RPC_SUCCESS)
		return 0;
	xdr_reader_init(&at, msg, len_bytes);
	if (!xdr_skip(&at, hdr.results_offset))
		return -EBADMSG;
	if (nfs_compound_is(note->prog, note->vers, note->proc))
		return collect_results(&c, note, &at);
	proc = nfs_proc_find(note->prog, note->vers, note->proc);
	if (!proc || !nfs_walk(&at, proc->results, &marks))
		return -EBADMSG;
	if (marks.status != 0)
		collect_failed(&c, proc);
	else
		collect(&c, proc, &marks);
	return (int)c.count;
}
