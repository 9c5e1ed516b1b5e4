// SPDX-License-Identifier: BSD-3-Clause
#include <stddef.h>
#include <string.h>

#include "nfs/compound.h"
#include "nfs/nfs.h"
#include "nfs/reply_size.h"

/* One step of the walk: from where the last one stopped to the first missing byte, or the end. */
struct call_walker {
	struct call_info *call_info;
	const struct nfs_sessions *sessions;
	uint32_t have_bytes; /* of the message */
	struct xdr_sg_reader at;
	/* The receiver of opaques, and what the current one belongs to. */
	const struct nfs_sink *sink;
	struct nfs_listener listener;
	uint32_t op;
	unsigned index;
};

/*
 * Returns whether RFC 8267 makes data items of the program DDP-eligible, and the security flavour
 * allows moving them.
 */
static bool is_movable(const struct call_info *call_info)
{
	return call_info->hdr.prog == NFS_PROGRAM_NFS && call_info->body == CALL_BODY_PLAIN;
}

static bool has_arg_payload(const struct nfs_proc *proc)
{
	return proc->ddp == NFS_DDP_ARGS || proc->ddp == NFS_DDP_TARGET;
}

/* RFC 8267 sections 4 to 6: NFS, its callbacks, and NFSACL, which has no DDP-eligible items. */
static bool is_bound(const struct call_info *call_info)
{
	uint32_t prog = call_info->hdr.prog;

	return call_info->program && (prog == NFS_PROGRAM_NFS || prog == NFS_PROGRAM_CALLBACK ||
				      prog == NFS_PROGRAM_NFSACL);
}

enum nfs_binding nfs_args_binding(const struct call_info *call_info)
{
	const struct rpc_call_hdr *hdr = &call_info->hdr;

	if (!is_bound(call_info))
		return NFS_BINDING_UNKNOWN;
	if (!is_movable(call_info))
		return NFS_BINDING_NO_ITEMS;
	if (call_info->compound || has_arg_payload(nfs_proc_find(hdr->prog, hdr->vers, hdr->proc)))
		return NFS_BINDING_ITEMS;
	return NFS_BINDING_NO_ITEMS;
}

static uint32_t min_u64_u32(uint64_t bytes, uint32_t limit_bytes)
{
	return bytes < limit_bytes ? (uint32_t)bytes : limit_bytes;
}

/* The Reply is proven to have at most @bytes. */
static void set_bounded(struct call_info *call_info, uint64_t bytes)
{
	call_info->is_proved = bytes <= call_info->limit_bytes || call_info->walk.session_limits;
	call_info->reply_bound_bytes = min_u64_u32(bytes, call_info->limit_bytes);
}

/* The Reply gets the bound of what was walked, plus the allowance for the unbounded rest. */
static void set_unbounded(struct call_info *call_info)
{
	uint64_t bytes = call_info->walk.result_bytes + REPLY_UNBOUNDED_BYTES;

	call_info->is_proved = call_info->walk.session_limits && call_info->limit_bytes <= bytes;
	call_info->reply_bound_bytes = min_u64_u32(bytes, call_info->limit_bytes);
}

static void begin_proc(struct call_info *call_info)
{
	const struct rpc_call_hdr *hdr = &call_info->hdr;
	const struct nfs_program *program = nfs_program_find(hdr->prog, hdr->vers);
	const struct nfs_proc *proc = program ? nfs_program_proc(program, hdr->proc) : NULL;

	if (!proc) {
		call_info->stage = CALL_INFO_COMPLETE;
		return;
	}
	call_info->program = program->name;
	call_info->procedure = proc->name;
	if (proc->ddp == NFS_DDP_RESULTS && is_movable(call_info))
		call_info->results = CALL_RESULTS_MAYBE;
	call_info->walk.args_matter = proc->growth != NFS_GROWS_NOT ||
				      (proc->ddp != NFS_DDP_NONE && is_movable(call_info));
	/* Whether the integrity header fits is only known with the message. */
	if (proc->growth == NFS_GROWS_NOT && call_info->body == CALL_BODY_PLAIN)
		set_bounded(call_info, nfs_reply_frame_bytes(call_info->body) + proc->bound_bytes);
}

static void begin_compound(struct call_info *call_info)
{
	bool callback = call_info->hdr.prog == NFS_PROGRAM_CALLBACK;

	call_info->program = callback ? "NFS_CB" : "NFS";
	call_info->procedure = callback ? "CB_COMPOUND" : "COMPOUND";
	call_info->compound = call_info->walk.args_matter = true;
	if (is_movable(call_info))
		call_info->results = CALL_RESULTS_UNKNOWN;
}

void nfs_call_walk_begin(struct call_info *call_info, uint32_t limit_bytes)
{
	clear_bytes((char *)call_info + offsetof(struct call_info, program),
		    offsetof(struct call_info, ops) - offsetof(struct call_info, program));
	nfs_call_walk_begin_cleared(call_info, limit_bytes);
}

void nfs_call_walk_begin_cleared(struct call_info *call_info, uint32_t limit_bytes)
{
	const struct rpc_call_hdr *hdr = &call_info->hdr;

	call_info->stage = CALL_INFO_HEAD;
	call_info->body = call_info_body(hdr);
	call_info->limit_bytes = limit_bytes;
	call_info->reply_bound_bytes = min_u64_u32(REPLY_UNBOUNDED_BYTES, limit_bytes);
	call_info->walk.at_bytes = hdr->args_offset;
	if (call_info->body == CALL_BODY_INTEGRITY)
		call_info->walk.at_bytes += NFS_INTEGRITY_HEAD_BYTES;
	if (nfs_compound_is(hdr->prog, hdr->vers, hdr->proc))
		begin_compound(call_info);
	else
		begin_proc(call_info);
	if (call_info->body == CALL_BODY_CONTROL)
		set_bounded(call_info, nfs_reply_frame_bytes(call_info->body));
	if (call_info->body == CALL_BODY_CONTROL || call_info->body == CALL_BODY_OPAQUE)
		call_info->stage = CALL_INFO_COMPLETE;
}

/* ---- evaluation of a walked procedure or operation ---- */

static void count_arg(struct call_info *call_info, const struct nfs_proc *proc,
		      const struct nfs_marks *marks)
{
	if (!marks->data_offset)
		return;
	if (call_info->narg_payloads++ == 0) {
		call_info->arg = (struct rpc_payload){marks->data_offset, marks->data_bytes};
		call_info->arg_is_data = proc->ddp == NFS_DDP_ARGS;
		call_info->stage = CALL_INFO_DATA;
	}
}

static void count_result(struct call_info *call_info, const struct nfs_proc *proc,
			 const struct nfs_marks *marks)
{
	/* A READ has a count. A READLINK's path is the whole growth of its row. */
	bool is_data = proc->growth == NFS_GROWS_COUNT;
	uint32_t i = call_info->nresult_payloads++;

	if (i < CALL_MAX_BOUNDS)
		call_info->bounds_bytes[i] = is_data ? marks->count : NFS_PATH_BYTES;
	if (i == 0)
		call_info->result_is_data = is_data;
}

static void count_proc(struct call_info *call_info, const struct nfs_proc *proc,
		       const struct nfs_marks *marks)
{
	uint64_t bytes = nfs_reply_results_bytes(proc, marks);

	if (bytes == NFS_UNBOUNDED)
		call_info->walk.unbounded = true;
	else
		call_info->walk.result_bytes += bytes;
	if (!is_movable(call_info))
		return;
	if (has_arg_payload(proc))
		count_arg(call_info, proc, marks);
	else if (proc->ddp == NFS_DDP_RESULTS)
		count_result(call_info, proc, marks);
}

/* ---- end of a walk ---- */

/* The next bytes are missing. Records when another attempt is useful. */
static void walk_wait(struct call_walker *w)
{
	struct call_walk_state *walk = &w->call_info->walk;
	uint32_t at = min_u64_u32(xdr_sg_offset(&w->at), w->have_bytes);

	walk->want_bytes = w->at.want_bytes;
	if (at > walk->at_bytes)
		walk->wasted_bytes += at - walk->at_bytes;
}

static void walk_fail(struct call_info *call_info, enum call_parse parse)
{
	call_info->parse = parse;
	call_info->stage = CALL_INFO_COMPLETE;
	call_info->arg = (struct rpc_payload){0};
	call_info->arg_is_data = call_info->result_is_data = false;
	call_info->narg_payloads = call_info->nresult_payloads = 0;
	call_info->reply_ops = 0;
	call_info->reply_sum = 0;
}

/* The walk cannot continue. */
static void stop(struct call_walker *w)
{
	if (!w->call_info->is_proved)
		set_unbounded(w->call_info);
	if (w->at.stop == XDR_SG_MISSING)
		walk_wait(w);
	else
		walk_fail(w->call_info,
			  w->at.stop == XDR_SG_HOLE ? CALL_PARSE_HOLE : CALL_PARSE_FAILED);
}

static void walk_finish(struct call_info *call_info)
{
	call_info->stage = CALL_INFO_COMPLETE;
	if (!call_info->walk.unbounded)
		set_bounded(call_info,
			    nfs_reply_frame_bytes(call_info->body) + call_info->walk.result_bytes);
	else
		set_unbounded(call_info);
	if (!call_info->compound || !is_movable(call_info))
		return;
	call_info->results = call_info->reply_ops ? CALL_RESULTS_MAYBE : CALL_RESULTS_NONE;
}

/* ---- the walk ---- */

/* Opaques that were reported are not reported again when their operation is walked again. */
static void report_opaque(struct call_walker *w, uint32_t offset_bytes, uint32_t len_bytes,
			  bool is_data)
{
	const struct nfs_opaque opaque = {offset_bytes, len_bytes, w->op, w->index++, is_data};

	if (offset_bytes <= w->call_info->walk.reported_bytes)
		return;
	w->call_info->walk.reported_bytes = offset_bytes;
	w->sink->opaque(w->sink->arg, &opaque);
}

static uint64_t on_opaque(struct nfs_listener *listener, uint32_t offset_bytes, uint32_t len_bytes,
			  bool is_data)
{
	struct call_walker *w = container_of(listener, struct call_walker, listener);

	report_opaque(w, offset_bytes, len_bytes, is_data && is_movable(w->call_info));
	return xdr_padded_bytes(len_bytes);
}

/* Walks the arguments of a procedure, or of operation number @op of the COMPOUND. */
static bool walk_args(struct call_walker *w, const struct nfs_proc *proc, uint32_t op,
		      struct nfs_marks *marks)
{
	marks->listener = w->sink ? &w->listener : NULL;
	marks->elements_max = CALL_MAX_ELEMENTS;
	marks->elements = w->call_info->walk.elements;
	w->op = op;
	w->index = 0;
	if (!nfs_walk(&w->at, proc->args, marks))
		return false;
	/* If the operation is walked again they count once. */
	w->call_info->walk.elements = (uint16_t)marks->elements;
	return true;
}

/* The arguments of most procedures need not be read, and an error in them does not matter. */
static void walk_proc(struct call_walker *w)
{
	struct call_info *call_info = w->call_info;
	const struct rpc_call_hdr *hdr = &call_info->hdr;
	const struct nfs_proc *proc = nfs_proc_find(hdr->prog, hdr->vers, hdr->proc);
	bool needed = call_info->walk.args_matter;
	struct nfs_marks marks = {0};

	if (needed || w->sink) {
		call_info->walk.steps++;
		if (!walk_args(w, proc, 0, &marks) && (needed || w->at.stop == XDR_SG_MISSING)) {
			stop(w);
			return;
		}
	}
	count_proc(call_info, proc, &marks);
	walk_finish(call_info);
}

static bool walk_frame(struct call_walker *w)
{
	struct call_info *call_info = w->call_info;
	struct nfs_compound compound;

	if (!nfs_compound_call(call_info->hdr.prog, &w->at, NULL, &compound))
		return false;
	if (w->sink) {
		w->op = NFS_OPAQUE_TAG;
		w->index = 0;
		report_opaque(w, call_info->walk.at_bytes + XDR_UNIT_BYTES, compound.tag_bytes,
			      false);
	}
	call_info->minor_version = compound.minor_version;
	call_info->walk.ops_left = compound.op_count;
	call_info->walk.result_bytes += nfs_reply_compound_bytes(&compound);
	call_info->walk.at_bytes = xdr_sg_offset(&w->at);
	call_info->walk.framed = true;
	return compound.op_count <= CALL_MAX_OPS;
}

static void enter_op(struct call_info *call_info, uint32_t op, const struct nfs_proc *proc)
{
	uint32_t i = call_info->nops++;

	if (i < CALL_LISTED_OPS)
		call_info->ops[i] = op == NFS_OP_ILLEGAL ? CALL_OP_ILLEGAL : (uint8_t)op;
	else
		call_info->walk.ops_sum = call_info_ops_sum(call_info->walk.ops_sum, op);
	if (proc->ddp == NFS_DDP_RESULTS && is_movable(call_info)) {
		call_info->reply_ops = (uint16_t)(i + 1);
		call_info->reply_sum = call_info->walk.ops_sum;
	}
}

/* A Call that begins with SEQUENCE gets no larger Reply than its session allows. */
static void apply_session_limit(struct call_walker *w, const struct nfs_marks *marks)
{
	struct call_info *call_info = w->call_info;
	uint32_t limit = nfs_sessions_limit(w->sessions, marks->session, call_info->limit_bytes);

	call_info->walk.session_limits = limit < call_info->limit_bytes;
	call_info->limit_bytes = limit;
}

/* Clients send CREATE_SESSION alone, or after the SEQUENCE of another session. */
static bool may_be_create_session(const struct call_info *call_info, uint32_t op)
{
	return op == NFS_OP_CREATE_SESSION &&
	       (call_info->nops == 0 ||
		(call_info->nops == 1 && call_info->ops[0] == NFS_OP_SEQUENCE));
}

static bool walk_op(struct call_walker *w)
{
	struct call_info *call_info = w->call_info;
	const struct nfs_compound compound = {
		.callback = call_info->hdr.prog == NFS_PROGRAM_CALLBACK,
		.minor_version = call_info->minor_version,
	};
	struct nfs_marks marks = {0};
	uint32_t op;
	const struct nfs_proc *proc = nfs_compound_op(&w->at, &compound, &op);

	if (!proc)
		return false;
	call_info->walk.steps++;
	call_info->may_create_session |= may_be_create_session(call_info, op);
	if (!walk_args(w, proc, call_info->nops, &marks))
		return false;
	if (call_info->nops == 0 && marks.has_session && w->sessions)
		apply_session_limit(w, &marks);
	call_info->walk.result_bytes += XDR_UNIT_BYTES; /* the operation's number */
	count_proc(call_info, proc, &marks);
	enter_op(call_info, op, proc);
	call_info->walk.at_bytes = xdr_sg_offset(&w->at);
	call_info->walk.ops_left--;
	return true;
}

static void walk_compound(struct call_walker *w)
{
	struct call_walk_state *walk = &w->call_info->walk;

	if (!walk->framed && !walk_frame(w)) {
		stop(w);
		return;
	}
	while (walk->ops_left > 0) {
		if (!walk_op(w)) {
			stop(w);
			return;
		}
	}
	walk_finish(w->call_info);
}

/*
 * Returns whether enough has arrived for another attempt. Attempts in vain may take no more time
 * than successful ones: once their bytes add up to what has arrived, the next attempt waits until
 * as much again has arrived.
 */
static bool is_worth_retry(const struct call_walk_state *walk, uint32_t have_bytes,
			   uint32_t len_bytes)
{
	return have_bytes == len_bytes ||
	       (have_bytes >= walk->want_bytes && walk->wasted_bytes <= have_bytes);
}

void nfs_call_walk_continue(struct call_info *call_info, const struct nfs_sessions *sessions,
			    const struct xdr_sg *msg, const struct nfs_sink *sink)
{
	struct call_walker w;

	if (call_info->stage == CALL_INFO_COMPLETE)
		return;
	if (!call_info->walk.args_matter && call_info->body == CALL_BODY_PLAIN && !sink) {
		call_info->stage = CALL_INFO_COMPLETE;
		return;
	}
	w.have_bytes = xdr_sg_have_bytes(msg);
	if (!is_worth_retry(&call_info->walk, w.have_bytes, msg->len_bytes))
		return;
	if (call_info->walk.at_bytes > msg->len_bytes) {
		walk_fail(call_info, CALL_PARSE_FAILED);
		return;
	}
	w.call_info = call_info;
	w.sessions = sessions;
	w.sink = sink;
	w.listener.on_opaque = on_opaque;
	xdr_sg_reader_init(&w.at, msg, call_info->walk.at_bytes);
	if (call_info->compound)
		walk_compound(&w);
	else
		walk_proc(&w);
}
