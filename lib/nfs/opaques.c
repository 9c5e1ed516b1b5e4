// SPDX-License-Identifier: BSD-3-Clause
#include "nfs/opaques.h"

#include "nfs/compound.h"
#include "nfs/nfs.h"
#include "rpc/xdr.h"

/* RFC 2203 sections 5.2.2, 5.2.3, 5.3.3.2 and 5.3.3.4: what replaces arguments and results. */
static const struct nfs_field gss_token[] = {X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field gss_init_res[] = {X_OPAQUE(NFS_NO_MAX) /* handle */,
						X_U32 /* major */,
						X_U32 /* minor */,
						X_U32 /* seq_window */,
						X_OPAQUE(NFS_NO_MAX) /* token */,
						X_END};
static const struct nfs_field gss_integrity[] = {X_OPAQUE(NFS_NO_MAX) /* databody */,
						 X_OPAQUE(NFS_NO_MAX) /* checksum */, X_END};
static const struct nfs_field gss_privacy[] = {X_OPAQUE(NFS_NO_MAX), X_END};

/* The walk through one message. */
struct walk {
	struct pieces_reader at;
	struct nfs_marks marks; /* only for the listener */
};

static void start(struct walk *w, const uint8_t *msg, uint32_t len_bytes,
		  struct nfs_listener *listener, uint32_t elements_max)
{
	pieces_reader_init_whole(&w->at, msg, len_bytes);
	w->marks = (struct nfs_marks){.listener = listener, .elements_max = elements_max};
}

static bool is_at_end(const struct walk *w)
{
	return pieces_remaining_bytes(&w->at) == 0;
}

/* Walks opaque_auth. Sets @body to its first byte; NULL if it is elsewhere. */
static bool walk_auth(struct walk *w, uint32_t *flavor, uint32_t *len_bytes, const uint8_t **body)
{
	struct nfs_listener *listener = w->marks.listener;
	uint64_t bytes, padded;

	if (!pieces_get_u32(&w->at, flavor) || !pieces_get_u32(&w->at, len_bytes) ||
	    *len_bytes > RPC_MAX_AUTH_BYTES)
		return false;
	padded = xdr_padded_bytes(*len_bytes);
	bytes = listener->heard(listener, pieces_offset(&w->at), *len_bytes, false);
	if (!pieces_skip(&w->at, bytes))
		return false;
	*body = bytes >= padded ? w->at.pos - padded : NULL;
	return true;
}

static bool walk_call_head(struct walk *w, struct rpc_call_hdr *hdr)
{
	const uint8_t *cred, *verf;
	uint32_t type, rpcvers;

	*hdr = (struct rpc_call_hdr){0};
	if (!pieces_get_u32(&w->at, &hdr->xid) || !pieces_get_u32(&w->at, &type) ||
	    type != RPC_CALL || !pieces_get_u32(&w->at, &rpcvers) || rpcvers != RPC_VERSION ||
	    !pieces_get_u32(&w->at, &hdr->prog) || !pieces_get_u32(&w->at, &hdr->vers) ||
	    !pieces_get_u32(&w->at, &hdr->proc) ||
	    !walk_auth(w, &hdr->cred_flavor, &hdr->cred_bytes, &cred))
		return false;
	if (hdr->cred_flavor == RPC_AUTH_GSS && cred)
		rpc_gss_cred_decode(hdr, cred);
	return walk_auth(w, &hdr->verf_flavor, &hdr->verf_bytes, &verf);
}

/* ---- arguments and results that RPCSEC_GSS protects ---- */

/* Returns the type that replaces the arguments; NULL if they cannot be read. */
static const struct nfs_field *protected_args(const struct rpc_call_hdr *hdr, enum facts_body body)
{
	switch (body) {
	case FACTS_BODY_PLAIN:
		break;
	case FACTS_BODY_INTEGRITY:
		return gss_integrity;
	case FACTS_BODY_CONTROL:
		return hdr->gss_proc == RPC_GSS_DESTROY ? nfs_void : gss_token;
	case FACTS_BODY_HIDDEN:
		return hdr->gss_service == RPC_GSS_PRIVACY ? gss_privacy : NULL;
	}
	return NULL;
}

/* The same for results. */
static const struct nfs_field *protected_results(const struct rpc_call_hdr *hdr,
						 enum facts_body body)
{
	const struct nfs_field *type = protected_args(hdr, body);

	return type == gss_token ? gss_init_res : type;
}

static bool walk_protected(struct walk *w, const struct nfs_field *type)
{
	return type && nfs_walk(&w->at, type, &w->marks);
}

/* ---- arguments ---- */

static bool walk_compound_args(struct walk *w, uint32_t prog)
{
	struct nfs_compound compound;

	if (!nfs_compound_call(prog, &w->at, w->marks.listener, &compound) ||
	    compound.op_count > FACTS_MAX_OPS)
		return false;
	for (uint32_t i = 0, op; i < compound.op_count; i++) {
		const struct nfs_proc *row = nfs_compound_op(&w->at, &compound, &op);

		if (!row || !nfs_walk(&w->at, row->args, &w->marks))
			return false;
	}
	return true;
}

static bool walk_args(struct walk *w, const struct rpc_call_hdr *hdr)
{
	enum facts_body body = call_facts_body(hdr);
	const struct nfs_proc *row;

	if (body != FACTS_BODY_PLAIN)
		return walk_protected(w, protected_args(hdr, body));
	if (nfs_compound_is(hdr->prog, hdr->vers, hdr->proc))
		return walk_compound_args(w, hdr->prog);
	row = nfs_proc_find(hdr->prog, hdr->vers, hdr->proc);
	return row && nfs_walk(&w->at, row->args, &w->marks);
}

bool nfs_call_opaques(const uint8_t *msg, uint32_t len_bytes, struct nfs_listener *listener)
{
	struct rpc_call_hdr hdr;
	struct walk w;

	start(&w, msg, len_bytes, listener, FACTS_MAX_ELEMENTS);
	return walk_call_head(&w, &hdr) && walk_args(&w, &hdr) && is_at_end(&w);
}

/* ---- results ---- */

/* Some servers omit what follows the status of the failed operation: SETATTR's bitmap. */
static bool ends_with_failure(const struct walk *w)
{
	return pieces_remaining_bytes(&w->at) == XDR_UNIT_BYTES && be32_get(w->at.pos) != 0;
}

static bool walk_compound_results(struct walk *w, const struct call_facts *facts)
{
	const struct nfs_compound compound = {
		.callback = facts->hdr.prog == NFS_PROGRAM_CALLBACK,
		.minor_version = facts->minor_version,
	};
	uint32_t count;

	if (!nfs_compound_reply(&w->at, w->marks.listener, &count) || count > FACTS_MAX_OPS)
		return false;
	for (uint32_t i = 0, op; i < count; i++) {
		const struct nfs_proc *row = nfs_compound_op(&w->at, &compound, &op);

		if (!row)
			return false;
		if (i + 1 == count && ends_with_failure(w))
			return pieces_skip(&w->at, XDR_UNIT_BYTES);
		if (!nfs_walk(&w->at, row->results, &w->marks))
			return false;
	}
	return true;
}

static bool walk_results(struct walk *w, const struct call_facts *facts)
{
	const struct rpc_call_hdr *hdr = &facts->hdr;
	enum facts_body body = call_facts_body(hdr);
	const struct nfs_proc *row;

	if (body != FACTS_BODY_PLAIN)
		return walk_protected(w, protected_results(hdr, body));
	if (nfs_compound_is(hdr->prog, hdr->vers, hdr->proc))
		return walk_compound_results(w, facts);
	row = nfs_proc_find(hdr->prog, hdr->vers, hdr->proc);
	return row && nfs_walk(&w->at, row->results, &w->marks);
}

bool nfs_reply_opaques(const struct call_facts *facts, const uint8_t *msg, uint32_t len_bytes,
		       struct nfs_listener *listener)
{
	uint32_t xid, type, stat, flavor, verf_bytes;
	const uint8_t *verf;
	struct walk w;

	start(&w, msg, len_bytes, listener, NFS_REPLY_MAX_ELEMENTS);
	if (!pieces_get_u32(&w.at, &xid) || !pieces_get_u32(&w.at, &type) || type != RPC_REPLY ||
	    !pieces_get_u32(&w.at, &stat))
		return false;
	if (stat != RPC_MSG_ACCEPTED)
		return true;
	if (!walk_auth(&w, &flavor, &verf_bytes, &verf) || !pieces_get_u32(&w.at, &stat))
		return false;
	if (stat != RPC_SUCCESS || !facts)
		return true;
	return walk_results(&w, facts) && is_at_end(&w);
}
