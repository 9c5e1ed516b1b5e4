// SPDX-License-Identifier: BSD-3-Clause
/* The frame of an NFSv4 COMPOUND. */
#include "nfs/compound.h"

bool nfs_compound_is(uint32_t prog, uint32_t vers, uint32_t proc)
{
	if (proc != NFS_PROC_COMPOUND)
		return false;
	if (prog == NFS_PROGRAM_NFS)
		return vers == 4;
	/* RFC 8881 section 20 says version 1; Linux takes 4 as well. */
	return prog == NFS_PROGRAM_CALLBACK && (vers == 1 || vers == 4);
}

bool nfs_compound_call(uint32_t prog, struct xdr_reader *at, struct nfs_compound *compound)
{
	const uint8_t *tag;

	compound->callback = prog == NFS_PROGRAM_CALLBACK;
	return xdr_get_opaque(at, UINT32_MAX, &tag, &compound->tag_bytes) &&
	       xdr_get_u32(at, &compound->minor_version) &&
	       (!compound->callback || xdr_skip(at, XDR_UNIT_BYTES /* callback_ident */)) &&
	       xdr_get_count(at, UINT32_MAX, XDR_UNIT_BYTES, &compound->op_count);
}

bool nfs_compound_reply(struct xdr_reader *at, uint32_t *op_count)
{
	return xdr_skip(at, XDR_UNIT_BYTES /* status */) && xdr_skip_opaque(at, UINT32_MAX) &&
	       xdr_get_count(at, UINT32_MAX, 2 * XDR_UNIT_BYTES, op_count);
}

const struct nfs_proc *nfs_compound_op(struct xdr_reader *at, const struct nfs_compound *compound,
				       uint32_t *op)
{
	if (!xdr_get_u32(at, op))
		return NULL;
	return nfs_op_find(compound->callback, compound->minor_version, *op);
}
