// SPDX-License-Identifier: BSD-3-Clause
#include "nfs/opaque_walk.h"

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
struct opaque_walker {
	struct xdr_sg_reader at;
	struct nfs_marks marks; /* only for the listener */
};

static void walk_start(struct opaque_walker *w, const uint8_t *msg, uint32_t len_bytes,
		       struct nfs_listener *listener, uint32_t elements_max)
{
	xdr_sg_reader_init_flat(&w->at, msg, len_bytes);
	w->marks = (struct nfs_marks){.listener = listener, .elements_max = elements_max};
}

static bool is_at_end(const struct opaque_walker *w)
{
	return xdr_sg_remaining_bytes(&w->at) == 0;
}

/* Walks opaque_auth. Sets @body to its first byte; NULL if it is elsewhere. */
static bool walk_auth(struct opaque_walker *w, uint32_t *flavor, uint32_t *len_bytes,
		      const uint8_t **body)
{
	struct nfs_listener *listener = w->marks.listener;
	uint64_t bytes, padded;

	if (!xdr_sg_get_u32(&w->at, flavor) || !xdr_sg_get_u32(&w->at, len_bytes) ||
	    *len_bytes > RPC_MAX_AUTH_BYTES)
		return false;
	padded = xdr_padded_bytes(*len_bytes);
	bytes = listener->on_opaque(listener, xdr_sg_offset(&w->at), *len_bytes, false);
	if (!xdr_sg_skip(&w->at, bytes))
		return false;
	*body = bytes >= padded ? w->at.pos - padded : NULL;
	return true;
}

static bool walk_call_head(struct opaque_walker *w, struct rpc_call_hdr *hdr)
{
	const uint8_t *cred, *verf;
	uint32_t type, rpcvers;

	*hdr = (struct rpc_call_hdr){0};
	if (!xdr_sg_get_u32(&w->at, &hdr->xid) || !xdr_sg_get_u32(&w->at, &type) ||
	    type != RPC_CALL || !xdr_sg_get_u32(&w->at, &rpcvers) || rpcvers != RPC_VERSION ||
	    !xdr_sg_get_u32(&w->at, &hdr->prog) || !xdr_sg_get_u32(&w->at, &hdr->vers) ||
	    !xdr_sg_get_u32(&w->at, &hdr->proc) ||
	    !walk_auth(w, &hdr->cred_flavor, &hdr->cred_bytes, &cred))
		return false;
	if (hdr->cred_flavor == RPC_AUTH_GSS && cred)
		rpc_gss_cred_decode(hdr, cred);
	return walk_auth(w, &hdr->verf_flavor, &hdr->verf_bytes, &verf);
}

/* ---- arguments and results that RPCSEC_GSS protects ---- */

/* Returns the type that replaces the arguments; NULL if they cannot be read. */
static const struct nfs_field *protected_args(const struct rpc_call_hdr *hdr,
					      enum call_body_kind body)
{
	switch (body) {
	case CALL_BODY_PLAIN:
		break;
	case CALL_BODY_INTEGRITY:
		return gss_integrity;
	case CALL_BODY_CONTROL:
		return hdr->gss_proc == RPC_GSS_DESTROY ? nfs_void : gss_token;
	case CALL_BODY_OPAQUE:
		return hdr->gss_service == RPC_GSS_PRIVACY ? gss_privacy : NULL;
	}
	return NULL;
}

/* The same for results. */
static const struct nfs_field *protected_results(const struct rpc_call_hdr *hdr,
						 enum call_body_kind body)
{
	const struct nfs_field *type = protected_args(hdr, body);

	return type == gss_token ? gss_init_res : type;
}

static bool walk_protected(struct opaque_walker *w, const struct nfs_field *type)
{
	return type && nfs_walk(&w->at, type, &w->marks);
}

/* ---- arguments ---- */

static bool walk_compound_args(struct opaque_walker *w, uint32_t prog)
{
	struct nfs_compound compound;

	if (!nfs_compound_call(prog, &w->at, w->marks.listener, &compound) ||
	    compound.op_count > CALL_MAX_OPS)
		return false;
	for (uint32_t i = 0, op; i < compound.op_count; i++) {
		const struct nfs_proc *row = nfs_compound_op(&w->at, &compound, &op);

		if (!row || !nfs_walk(&w->at, row->args, &w->marks))
			return false;
	}
	return true;
}

static bool walk_args(struct opaque_walker *w, const struct rpc_call_hdr *hdr)
{
	enum call_body_kind body = call_info_body(hdr);
	const struct nfs_proc *row;

	if (body != CALL_BODY_PLAIN)
		return walk_protected(w, protected_args(hdr, body));
	if (nfs_compound_is(hdr->prog, hdr->vers, hdr->proc))
		return walk_compound_args(w, hdr->prog);
	row = nfs_proc_find(hdr->prog, hdr->vers, hdr->proc);
	return row && nfs_walk(&w->at, row->args, &w->marks);
}

bool nfs_opaque_walk_call(const uint8_t *msg, uint32_t len_bytes, struct nfs_listener *listener)
{
	struct rpc_call_hdr hdr;
	struct opaque_walker w;

	walk_start(&w, msg, len_bytes, listener, CALL_MAX_ELEMENTS);
	return walk_call_head(&w, &hdr) && walk_args(&w, &hdr) && is_at_end(&w);
}

/* ---- results ---- */

/* Some servers omit what follows the status of the failed operation: SETATTR's bitmap. */
static bool ends_with_failure(const struct opaque_walker *w)
{
	return xdr_sg_remaining_bytes(&w->at) == XDR_UNIT_BYTES && be32_get(w->at.pos) != 0;
}

static bool walk_compound_results(struct opaque_walker *w, const struct call_info *call_info)
{
	const struct nfs_compound compound = {
		.callback = call_info->hdr.prog == NFS_PROGRAM_CALLBACK,
		.minor_version = call_info->minor_version,
	};
	uint32_t count;

	if (!nfs_compound_reply(&w->at, w->marks.listener, &count) || count > CALL_MAX_OPS)
		return false;
	for (uint32_t i = 0, op; i < count; i++) {
		const struct nfs_proc *row = nfs_compound_op(&w->at, &compound, &op);

		if (!row)
			return false;
		if (i + 1 == count && ends_with_failure(w))
			return xdr_sg_skip(&w->at, XDR_UNIT_BYTES);
		if (!nfs_walk(&w->at, row->results, &w->marks))
			return false;
	}
	return true;
}

static bool walk_results(struct opaque_walker *w, const struct call_info *call_info)
{
	const struct rpc_call_hdr *hdr = &call_info->hdr;
	enum call_body_kind body = call_info_body(hdr);
	const struct nfs_proc *row;

	if (body != CALL_BODY_PLAIN)
		return walk_protected(w, protected_results(hdr, body));
	if (nfs_compound_is(hdr->prog, hdr->vers, hdr->proc))
		return walk_compound_results(w, call_info);
	row = nfs_proc_find(hdr->prog, hdr->vers, hdr->proc);
	return row && nfs_walk(&w->at, row->results, &w->marks);
}

bool nfs_opaque_walk_reply(const struct call_info *call_info, const uint8_t *msg,
			   uint32_t len_bytes, struct nfs_listener *listener)
{
	uint32_t xid, type, stat, flavor, verf_bytes;
	const uint8_t *verf;
	struct opaque_walker w;

	walk_start(&w, msg, len_bytes, listener, NFS_REPLY_MAX_ELEMENTS);
	if (!xdr_sg_get_u32(&w.at, &xid) || !xdr_sg_get_u32(&w.at, &type) || type != RPC_REPLY ||
	    !xdr_sg_get_u32(&w.at, &stat))
		return false;
	if (stat != RPC_MSG_ACCEPTED)
		return true;
	if (!walk_auth(&w, &flavor, &verf_bytes, &verf) || !xdr_sg_get_u32(&w.at, &stat))
		return false;
	if (stat != RPC_SUCCESS || !call_info)
		return true;
	return walk_results(&w, call_info) && is_at_end(&w);
}
