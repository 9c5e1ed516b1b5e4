// SPDX-License-Identifier: BSD-3-Clause
/* Where the arguments of a Call are. */
#include "nfs/args.h"

static enum nfs_args gss_args(const struct rpc_call_hdr *hdr, struct xdr_reader *args)
{
	if (hdr->gss_vers != 1)
		return NFS_ARGS_HIDDEN;
	if (hdr->gss_proc != RPC_GSS_DATA)
		return NFS_ARGS_CONTROL;
	switch (hdr->gss_service) {
	case RPC_GSS_NONE:
		return NFS_ARGS_PLAIN;
	case RPC_GSS_INTEGRITY:
		return xdr_skip(args, NFS_INTEGRITY_HEAD_BYTES) ? NFS_ARGS_INTEGRITY
								: NFS_ARGS_HIDDEN;
	default:
		return NFS_ARGS_HIDDEN;
	}
}

enum nfs_args nfs_args_open(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
			    struct xdr_reader *args)
{
	xdr_reader_init(args, msg, len_bytes);
	if (!xdr_skip(args, hdr->args_offset))
		return NFS_ARGS_HIDDEN;
	return hdr->cred_flavor == RPC_AUTH_GSS ? gss_args(hdr, args) : NFS_ARGS_PLAIN;
}
