// SPDX-License-Identifier: BSD-3-Clause
/* How large a Call's Reply can get. */
#include "nfs/nfs.h"
#include "nfs/table.h"

#define REPLY_HEADER_BYTES (6 * 4 + RPC_MAX_AUTH_BYTES) /* RFC 5531 section 9, to accept_stat */
#define MISMATCH_BYTES     8                            /* what an error reply carries at most */
/*
 * RFC 2203 section 5.3.3.2: rpc_gss_data_t's length and sequence number before the results, the
 * checksum after them; a checksum takes what a verifier may take.
 */
#define INTEGRITY_ARGS_BYTES  8
#define INTEGRITY_REPLY_BYTES (4 + 4 + NFS_VAR_BYTES(RPC_MAX_AUTH_BYTES))
/*
 * Context set-up: Kerberos tickets with many groups are allowed 64 KiB, and an answer may be as
 * large as what it answers.
 */
#define GSS_CONTROL_REPLY_BYTES (64 * 1024 + 1024)

static uint64_t grown_bytes(const struct nfs_proc *proc, const struct nfs_marks *marks)
{
	uint64_t count = xdr_padded_bytes(marks->count);

	switch ((enum nfs_growth)proc->growth) {
	case NFS_GROWS_COUNT:
		return proc->bound_bytes + count;
	case NFS_GROWS_DIR:
		return proc->bound_bytes + count + NFS_DIR_SLACK_BYTES;
	default:
		return proc->bound_bytes;
	}
}

/* What the results of @proc take; @limit if nothing bounds them or the arguments cannot be
 * followed. */
static uint64_t results_bytes(const struct nfs_proc *proc, struct xdr_reader *args, uint64_t limit)
{
	struct nfs_marks marks = {0};

	if (!proc || proc->growth == NFS_GROWS_LIMIT)
		return limit;
	if (proc->growth == NFS_GROWS_NOT)
		return proc->bound_bytes;
	if (!nfs_walk(args, proc->args, &marks))
		return limit;
	return grown_bytes(proc, &marks);
}

uint32_t nfs_reply_ceiling(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
			   uint32_t limit_bytes)
{
	struct xdr_reader args;
	uint64_t bytes = REPLY_HEADER_BYTES + MISMATCH_BYTES;

	xdr_reader_init(&args, msg, len_bytes);
	if (!xdr_skip(&args, hdr->args_offset))
		return limit_bytes;
	if (hdr->cred_flavor == RPC_AUTH_GSS) {
		if (hdr->gss_vers != 1 || hdr->gss_service == RPC_GSS_PRIVACY)
			return limit_bytes;
		if (hdr->gss_proc != RPC_GSS_DATA) {
			bytes += GSS_CONTROL_REPLY_BYTES;
			return bytes < limit_bytes ? (uint32_t)bytes : limit_bytes;
		}
		if (hdr->gss_service == RPC_GSS_INTEGRITY) {
			if (!xdr_skip(&args, INTEGRITY_ARGS_BYTES))
				return limit_bytes;
			bytes += INTEGRITY_REPLY_BYTES;
		}
	}
	bytes += results_bytes(nfs_proc_find(hdr->prog, hdr->vers, hdr->proc), &args, limit_bytes);
	return bytes < limit_bytes ? (uint32_t)bytes : limit_bytes;
}
