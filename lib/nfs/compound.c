// SPDX-License-Identifier: BSD-3-Clause
#include "nfs/compound.h"

bool nfs_compound_is(uint32_t prog, uint32_t vers, uint32_t proc)
{
	if (proc != NFS_PROC_COMPOUND)
		return false;
	if (prog == NFS_PROGRAM_NFS)
		return vers == 4;
	/* RFC 8881 section 20 says version 1; Linux accepts 4 as well. */
	return prog == NFS_PROGRAM_CALLBACK && (vers == 1 || vers == 4);
}

static inline bool pass_tag(struct xdr_sg_reader *at, struct nfs_listener *listener,
			    uint32_t *tag_bytes)
{
	if (!listener)
		return xdr_sg_skip_opaque(at, UINT32_MAX, tag_bytes);
	return xdr_sg_get_u32(at, tag_bytes) &&
	       xdr_sg_skip(at, listener->on_opaque(listener, xdr_sg_offset(at), *tag_bytes, false));
}

bool nfs_compound_call(uint32_t prog, struct xdr_sg_reader *at, struct nfs_listener *listener,
		       struct nfs_compound *compound)
{
	compound->callback = prog == NFS_PROGRAM_CALLBACK;
	return pass_tag(at, listener, &compound->tag_bytes) &&
	       xdr_sg_get_u32(at, &compound->minor_version) &&
	       (!compound->callback || xdr_sg_skip(at, XDR_UNIT_BYTES /* callback_ident */)) &&
	       xdr_sg_get_count(at, UINT32_MAX, XDR_UNIT_BYTES, &compound->op_count);
}

bool nfs_compound_reply(struct xdr_sg_reader *at, struct nfs_listener *listener, uint32_t *op_count)
{
	uint32_t tag_bytes;

	return xdr_sg_skip(at, XDR_UNIT_BYTES /* status */) && pass_tag(at, listener, &tag_bytes) &&
	       xdr_sg_get_count(at, UINT32_MAX, 2 * XDR_UNIT_BYTES, op_count);
}

const struct nfs_proc *nfs_compound_op(struct xdr_sg_reader *at,
				       const struct nfs_compound *compound, uint32_t *op)
{
	if (!xdr_sg_get_u32(at, op))
		return NULL;
	return nfs_op_find(compound->callback, compound->minor_version, *op);
}
