// SPDX-License-Identifier: BSD-3-Clause
#include <stddef.h>
#include <string.h>

#include "nfs/ceiling.h"
#include "nfs/compound.h"
#include "nfs/nfs.h"

/* One step of the walk: from where the last one stopped to the first missing byte, or the end. */
struct walker {
	struct call_facts *facts;
	const struct nfs_sessions *sessions;
	uint32_t have_bytes; /* of the message */
	struct pieces_reader at;
	/* The receiver of opaques, and what the current one belongs to. */
	const struct nfs_sink *sink;
	struct nfs_listener listener;
	uint32_t op;
	unsigned index;
};

/* Returns whether RFC 8267 makes data items of the program DDP-eligible, and the security flavour allows moving them. */
static bool is_movable(const struct call_facts *facts)
{
	return facts->hdr.prog == NFS_PROGRAM_NFS && facts->body == FACTS_BODY_PLAIN;
}

static bool has_arg_payload(const struct nfs_proc *proc)
{
	return proc->ddp == NFS_DDP_ARGS || proc->ddp == NFS_DDP_TARGET;
}

/* RFC 8267 sections 4 to 6: NFS, its callbacks, and NFSACL, which has no DDP-eligible items. */
static bool is_bound(const struct call_facts *facts)
{
	uint32_t prog = facts->hdr.prog;

	return facts->program && (prog == NFS_PROGRAM_NFS || prog == NFS_PROGRAM_CALLBACK ||
				  prog == NFS_PROGRAM_NFSACL);
}

enum nfs_binding nfs_args_binding(const struct call_facts *facts)
{
	const struct rpc_call_hdr *hdr = &facts->hdr;

	if (!is_bound(facts))
		return NFS_BINDING_UNKNOWN;
	if (!is_movable(facts))
		return NFS_BINDING_NO_ITEMS;
	if (facts->compound || has_arg_payload(nfs_proc_find(hdr->prog, hdr->vers, hdr->proc)))
		return NFS_BINDING_ITEMS;
	return NFS_BINDING_NO_ITEMS;
}

static uint32_t lesser(uint64_t bytes, uint32_t limit_bytes)
{
	return bytes < limit_bytes ? (uint32_t)bytes : limit_bytes;
}

/* The Reply is proven to have at most @bytes. */
static void prove(struct call_facts *facts, uint64_t bytes)
{
	facts->is_proved = bytes <= facts->limit_bytes || facts->walk.session_limits;
	facts->ceiling_bytes = lesser(bytes, facts->limit_bytes);
}

/* The Reply gets the bound of what was walked, plus the allowance for the unbounded rest. */
static void allow(struct call_facts *facts)
{
	uint64_t bytes = facts->walk.result_bytes + FACTS_UNBOUNDED_BYTES;

	facts->is_proved = facts->walk.session_limits && facts->limit_bytes <= bytes;
	facts->ceiling_bytes = lesser(bytes, facts->limit_bytes);
}

static void begin_proc(struct call_facts *facts)
{
	const struct rpc_call_hdr *hdr = &facts->hdr;
	const struct nfs_program *program = nfs_program_find(hdr->prog, hdr->vers);
	const struct nfs_proc *proc = program ? nfs_program_proc(program, hdr->proc) : NULL;

	if (!proc) {
		facts->stage = FACTS_WHOLE;
		return;
	}
	facts->program = program->name;
	facts->procedure = proc->name;
	if (proc->ddp == NFS_DDP_RESULTS && is_movable(facts))
		facts->results = FACTS_RESULTS_MAYBE;
	facts->walk.args_matter =
		proc->growth != NFS_GROWS_NOT || (proc->ddp != NFS_DDP_NONE && is_movable(facts));
	/* Whether the integrity header fits is only known with the message. */
	if (proc->growth == NFS_GROWS_NOT && facts->body == FACTS_BODY_PLAIN)
		prove(facts, nfs_frame_bytes(facts->body) + proc->bound_bytes);
}

static void begin_compound(struct call_facts *facts)
{
	bool callback = facts->hdr.prog == NFS_PROGRAM_CALLBACK;

	facts->program = callback ? "NFS_CB" : "NFS";
	facts->procedure = callback ? "CB_COMPOUND" : "COMPOUND";
	facts->compound = facts->walk.args_matter = true;
	if (is_movable(facts))
		facts->results = FACTS_RESULTS_UNKNOWN;
}

void nfs_facts_begin(struct call_facts *facts, uint32_t limit_bytes)
{
	clear_bytes((char *)facts + offsetof(struct call_facts, program),
		    offsetof(struct call_facts, ops) - offsetof(struct call_facts, program));
	nfs_facts_begin_cleared(facts, limit_bytes);
}

void nfs_facts_begin_cleared(struct call_facts *facts, uint32_t limit_bytes)
{
	const struct rpc_call_hdr *hdr = &facts->hdr;

	facts->stage = FACTS_HEAD;
	facts->body = call_facts_body(hdr);
	facts->limit_bytes = limit_bytes;
	facts->ceiling_bytes = lesser(FACTS_UNBOUNDED_BYTES, limit_bytes);
	facts->walk.at_bytes = hdr->args_offset;
	if (facts->body == FACTS_BODY_INTEGRITY)
		facts->walk.at_bytes += NFS_INTEGRITY_HEAD_BYTES;
	if (nfs_compound_is(hdr->prog, hdr->vers, hdr->proc))
		begin_compound(facts);
	else
		begin_proc(facts);
	if (facts->body == FACTS_BODY_CONTROL)
		prove(facts, nfs_frame_bytes(facts->body));
	if (facts->body == FACTS_BODY_CONTROL || facts->body == FACTS_BODY_HIDDEN)
		facts->stage = FACTS_WHOLE;
}

/* ---- evaluation of a walked procedure or operation ---- */

static void take_arg(struct call_facts *facts, const struct nfs_proc *proc,
		     const struct nfs_marks *marks)
{
	if (!marks->data_offset)
		return;
	if (facts->narg_payloads++ == 0) {
		facts->arg = (struct rpc_payload){marks->data_offset, marks->data_bytes};
		facts->arg_is_data = proc->ddp == NFS_DDP_ARGS;
		facts->stage = FACTS_DATA;
	}
}

static void take_result(struct call_facts *facts, const struct nfs_proc *proc,
			const struct nfs_marks *marks)
{
	/* A READ has a count. A READLINK's path is the whole growth of its row. */
	bool is_data = proc->growth == NFS_GROWS_COUNT;
	uint32_t i = facts->nresult_payloads++;

	if (i < FACTS_MAX_BOUNDS)
		facts->bounds_bytes[i] = is_data ? marks->count : NFS_PATH_BYTES;
	if (i == 0)
		facts->result_is_data = is_data;
}

static void take(struct call_facts *facts, const struct nfs_proc *proc,
		 const struct nfs_marks *marks)
{
	uint64_t bytes = nfs_results_bytes(proc, marks);

	if (bytes == NFS_UNBOUNDED)
		facts->walk.unbounded = true;
	else
		facts->walk.result_bytes += bytes;
	if (!is_movable(facts))
		return;
	if (has_arg_payload(proc))
		take_arg(facts, proc, marks);
	else if (proc->ddp == NFS_DDP_RESULTS)
		take_result(facts, proc, marks);
}

/* ---- end of a walk ---- */

/* The next bytes are missing. Records when another attempt is useful. */
static void wait_for_more(struct walker *w)
{
	struct facts_walk *walk = &w->facts->walk;
	uint32_t at = lesser(pieces_offset(&w->at), w->have_bytes);

	walk->want_bytes = w->at.want_bytes;
	if (at > walk->at_bytes)
		walk->vain_bytes += at - walk->at_bytes;
}

static void lose(struct call_facts *facts, enum facts_trail trail)
{
	facts->trail = trail;
	facts->stage = FACTS_WHOLE;
	facts->arg = (struct rpc_payload){0};
	facts->arg_is_data = facts->result_is_data = false;
	facts->narg_payloads = facts->nresult_payloads = 0;
	facts->reply_ops = 0;
	facts->reply_sum = 0;
}

/* The walk cannot continue. */
static void stop(struct walker *w)
{
	if (!w->facts->is_proved)
		allow(w->facts);
	if (w->at.stop == PIECES_LATER)
		wait_for_more(w);
	else
		lose(w->facts, w->at.stop == PIECES_HOLE ? FACTS_LOST_IN_HOLE : FACTS_LOST);
}

static void finish(struct call_facts *facts)
{
	facts->stage = FACTS_WHOLE;
	if (!facts->walk.unbounded)
		prove(facts, nfs_frame_bytes(facts->body) + facts->walk.result_bytes);
	else
		allow(facts);
	if (!facts->compound || !is_movable(facts))
		return;
	facts->results = facts->reply_ops ? FACTS_RESULTS_MAYBE : FACTS_RESULTS_NONE;
}

/* ---- the walk ---- */

/* Opaques that were reported are not reported again when their operation is walked again. */
static void tell(struct walker *w, uint32_t offset_bytes, uint32_t len_bytes, bool is_data)
{
	const struct nfs_opaque opaque = {offset_bytes, len_bytes, w->op, w->index++, is_data};

	if (offset_bytes <= w->facts->walk.told_bytes)
		return;
	w->facts->walk.told_bytes = offset_bytes;
	w->sink->opaque(w->sink->arg, &opaque);
}

static uint64_t heard(struct nfs_listener *listener, uint32_t offset_bytes, uint32_t len_bytes,
		      bool is_data)
{
	struct walker *w = container_of(listener, struct walker, listener);

	tell(w, offset_bytes, len_bytes, is_data && is_movable(w->facts));
	return xdr_padded_bytes(len_bytes);
}

/* Walks the arguments of a procedure, or of operation number @op of the COMPOUND. */
static bool walk_args(struct walker *w, const struct nfs_proc *proc, uint32_t op,
		      struct nfs_marks *marks)
{
	marks->listener = w->sink ? &w->listener : NULL;
	marks->elements_max = FACTS_MAX_ELEMENTS;
	marks->elements = w->facts->walk.elements;
	w->op = op;
	w->index = 0;
	if (!nfs_walk(&w->at, proc->args, marks))
		return false;
	/* If the operation is walked again they count once. */
	w->facts->walk.elements = (uint16_t)marks->elements;
	return true;
}

/* The arguments of most procedures need not be read, and an error in them does not matter. */
static void walk_proc(struct walker *w)
{
	struct call_facts *facts = w->facts;
	const struct rpc_call_hdr *hdr = &facts->hdr;
	const struct nfs_proc *proc = nfs_proc_find(hdr->prog, hdr->vers, hdr->proc);
	bool needed = facts->walk.args_matter;
	struct nfs_marks marks = {0};

	if (needed || w->sink) {
		facts->walk.steps++;
		if (!walk_args(w, proc, 0, &marks) && (needed || w->at.stop == PIECES_LATER)) {
			stop(w);
			return;
		}
	}
	take(facts, proc, &marks);
	finish(facts);
}

static bool walk_frame(struct walker *w)
{
	struct call_facts *facts = w->facts;
	struct nfs_compound compound;

	if (!nfs_compound_call(facts->hdr.prog, &w->at, NULL, &compound))
		return false;
	if (w->sink) {
		w->op = NFS_OPAQUE_TAG;
		w->index = 0;
		tell(w, facts->walk.at_bytes + XDR_UNIT_BYTES, compound.tag_bytes, false);
	}
	facts->minor_version = compound.minor_version;
	facts->walk.ops_left = compound.op_count;
	facts->walk.result_bytes += nfs_compound_bytes(&compound);
	facts->walk.at_bytes = pieces_offset(&w->at);
	facts->walk.framed = true;
	return compound.op_count <= FACTS_MAX_OPS;
}

static void enter_op(struct call_facts *facts, uint32_t op, const struct nfs_proc *proc)
{
	uint32_t i = facts->nops++;

	if (i < FACTS_LISTED_OPS)
		facts->ops[i] = op == NFS_OP_ILLEGAL ? FACTS_OP_ILLEGAL : (uint8_t)op;
	else
		facts->walk.ops_sum = facts_ops_sum(facts->walk.ops_sum, op);
	if (proc->ddp == NFS_DDP_RESULTS && is_movable(facts)) {
		facts->reply_ops = (uint16_t)(i + 1);
		facts->reply_sum = facts->walk.ops_sum;
	}
}

/* A Call that begins with SEQUENCE gets no larger Reply than its session allows. */
static void limit_by_session(struct walker *w, const struct nfs_marks *marks)
{
	struct call_facts *facts = w->facts;
	uint32_t limit = nfs_sessions_limit(w->sessions, marks->session, facts->limit_bytes);

	facts->walk.session_limits = limit < facts->limit_bytes;
	facts->limit_bytes = limit;
}

/* Clients send CREATE_SESSION alone, or after the SEQUENCE of another session. */
static bool is_session_maker(const struct call_facts *facts, uint32_t op)
{
	return op == NFS_OP_CREATE_SESSION &&
	       (facts->nops == 0 || (facts->nops == 1 && facts->ops[0] == NFS_OP_SEQUENCE));
}

static bool walk_op(struct walker *w)
{
	struct call_facts *facts = w->facts;
	const struct nfs_compound compound = {
		.callback = facts->hdr.prog == NFS_PROGRAM_CALLBACK,
		.minor_version = facts->minor_version,
	};
	struct nfs_marks marks = {0};
	uint32_t op;
	const struct nfs_proc *proc = nfs_compound_op(&w->at, &compound, &op);

	if (!proc)
		return false;
	facts->walk.steps++;
	facts->may_create_session |= is_session_maker(facts, op);
	if (!walk_args(w, proc, facts->nops, &marks))
		return false;
	if (facts->nops == 0 && marks.has_session && w->sessions)
		limit_by_session(w, &marks);
	facts->walk.result_bytes += XDR_UNIT_BYTES; /* the operation's number */
	take(facts, proc, &marks);
	enter_op(facts, op, proc);
	facts->walk.at_bytes = pieces_offset(&w->at);
	facts->walk.ops_left--;
	return true;
}

static void walk_compound(struct walker *w)
{
	struct facts_walk *walk = &w->facts->walk;

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
	finish(w->facts);
}

/*
 * Returns whether enough has arrived for another attempt. Attempts in vain may take no more time than successful ones:
 * once their bytes add up to what has arrived, the next attempt waits until as much again has arrived.
 */
static bool is_worth_a_try(const struct facts_walk *walk, uint32_t have_bytes, uint32_t len_bytes)
{
	return have_bytes == len_bytes ||
	       (have_bytes >= walk->want_bytes && walk->vain_bytes <= have_bytes);
}

void nfs_facts_go_on(struct call_facts *facts, const struct nfs_sessions *sessions,
		     const struct rpc_pieces *msg, const struct nfs_sink *sink)
{
	struct walker w;

	if (facts->stage == FACTS_WHOLE)
		return;
	if (!facts->walk.args_matter && facts->body == FACTS_BODY_PLAIN && !sink) {
		facts->stage = FACTS_WHOLE;
		return;
	}
	w.have_bytes = rpc_pieces_have_bytes(msg);
	if (!is_worth_a_try(&facts->walk, w.have_bytes, msg->len_bytes))
		return;
	if (facts->walk.at_bytes > msg->len_bytes) {
		lose(facts, FACTS_LOST);
		return;
	}
	w.facts = facts;
	w.sessions = sessions;
	w.sink = sink;
	w.listener.heard = heard;
	pieces_reader_init(&w.at, msg, facts->walk.at_bytes);
	if (facts->compound)
		walk_compound(&w);
	else
		walk_proc(&w);
}
