// SPDX-License-Identifier: BSD-3-Clause
/* How large a Call's Reply can get. */
#include "nfs/args.h"
#include "nfs/compound.h"
#include "nfs/fattr4.h"
#include "nfs/nfs.h"

#define REPLY_HEADER_BYTES (6 * 4 + RPC_MAX_AUTH_BYTES) /* RFC 5531 section 9, to accept_stat */
#define MISMATCH_BYTES     8                            /* what an error reply carries at most */
/*
 * RFC 2203 section 5.3.3.2: a length and the sequence number before the results, a checksum after
 * them, which takes what a verifier may take.
 */
#define INTEGRITY_REPLY_BYTES (4 + 4 + NFS_VAR_BYTES(RPC_MAX_AUTH_BYTES))
/*
 * Context set-up: Kerberos tickets of users in many groups are allowed 64 KiB, and an answer may be
 * as large as what it answers. The rest is for the context's handle and status words.
 */
#define GSS_CONTROL_REPLY_BYTES (64 * 1024 + 1024)

/* What the results grow by, given the arguments. */
static uint64_t growth_bytes(enum nfs_growth growth, const struct nfs_marks *marks, uint64_t limit)
{
	uint64_t count = marks->count;

	switch (growth) {
	case NFS_GROWS_NOT:
		return 0;
	case NFS_GROWS_COUNT:
		return xdr_padded_bytes(count);
	case NFS_GROWS_SLACK:
		return xdr_padded_bytes(count) + NFS_COUNT_SLACK_BYTES;
	case NFS_GROWS_SEGMENTS:
		return xdr_padded_bytes(count) +
		       (count / NFS_SEGMENT_MIN_BYTES + 2) * NFS_SEGMENT_HEAD_BYTES;
	case NFS_GROWS_WORDS:
		return count * XDR_UNIT_BYTES;
	case NFS_GROWS_DEVICES:
		return count * NFS_DEVICE_ID_BYTES;
	case NFS_GROWS_ATTRS:
		return nfs_fattr4_bound_bytes(marks->attrs, marks->attrs_words, limit);
	case NFS_GROWS_LIMIT:
		break;
	}
	return limit;
}

/* What the results of @proc take; at least @limit if its arguments cannot be followed. */
static uint64_t results_bytes(const struct nfs_proc *proc, struct xdr_reader *args, uint64_t limit)
{
	struct nfs_marks marks = {0};

	if (!nfs_walk(args, proc->args, &marks))
		return limit;
	return proc->bound_bytes + growth_bytes(proc->growth, &marks, limit);
}

/* A status and a tag, then the number and the results of each operation. */
static uint64_t compound_bytes(uint32_t prog, struct xdr_reader *args, uint64_t limit)
{
	struct nfs_compound compound;
	uint64_t bytes;

	if (!nfs_compound_call(prog, args, &compound))
		return limit;
	bytes = 4 + 4 + xdr_padded_bytes((uint64_t)compound.tag_bytes + NFS_TAG_SLACK_BYTES) + 4;
	for (uint32_t i = 0; i < compound.op_count && bytes < limit; i++) {
		uint32_t op;
		const struct nfs_proc *row = nfs_compound_op(args, &compound, &op);

		if (!row)
			return limit;
		bytes += 4 + results_bytes(row, args, limit);
	}
	return bytes;
}

static uint64_t proc_bytes(const struct rpc_call_hdr *hdr, struct xdr_reader *args, uint64_t limit)
{
	const struct nfs_proc *proc;

	if (nfs_compound_is(hdr->prog, hdr->vers, hdr->proc))
		return compound_bytes(hdr->prog, args, limit);
	proc = nfs_proc_find(hdr->prog, hdr->vers, hdr->proc);
	if (!proc)
		return limit;
	/* Most rows need no look at the arguments. */
	return proc->growth == NFS_GROWS_NOT ? proc->bound_bytes : results_bytes(proc, args, limit);
}

uint32_t nfs_reply_ceiling(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
			   uint32_t limit_bytes)
{
	struct xdr_reader args;
	uint64_t bytes = REPLY_HEADER_BYTES + MISMATCH_BYTES;

	switch (nfs_args_open(hdr, msg, len_bytes, &args)) {
	case NFS_ARGS_PLAIN:
		bytes += proc_bytes(hdr, &args, limit_bytes);
		break;
	case NFS_ARGS_INTEGRITY:
		bytes += INTEGRITY_REPLY_BYTES + proc_bytes(hdr, &args, limit_bytes);
		break;
	case NFS_ARGS_CONTROL:
		bytes += GSS_CONTROL_REPLY_BYTES;
		break;
	case NFS_ARGS_HIDDEN:
		return limit_bytes;
	}
	return bytes < limit_bytes ? (uint32_t)bytes : limit_bytes;
}
