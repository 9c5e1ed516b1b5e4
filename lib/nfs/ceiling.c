// SPDX-License-Identifier: BSD-3-Clause
#include "nfs/ceiling.h"

#include "nfs/fattr4.h"

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
static uint64_t growth_bytes(enum nfs_growth growth, const struct nfs_marks *marks)
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
		return nfs_fattr4_bound_bytes(marks->attrs, marks->attrs_words);
	case NFS_GROWS_FREELY:
		break;
	}
	return NFS_UNBOUNDED;
}

uint64_t nfs_frame_bytes(enum facts_body body)
{
	uint64_t bytes = REPLY_HEADER_BYTES + MISMATCH_BYTES;

	if (body == FACTS_BODY_INTEGRITY)
		bytes += INTEGRITY_REPLY_BYTES;
	else if (body == FACTS_BODY_CONTROL)
		bytes += GSS_CONTROL_REPLY_BYTES;
	return bytes;
}

/* A status, a tag, and the number of operations. */
uint64_t nfs_compound_bytes(const struct nfs_compound *compound)
{
	return 4 + 4 + xdr_padded_bytes((uint64_t)compound->tag_bytes + NFS_TAG_SLACK_BYTES) + 4;
}

uint64_t nfs_results_bytes(const struct nfs_proc *proc, const struct nfs_marks *marks)
{
	uint64_t growth = growth_bytes(proc->growth, marks);

	return growth == NFS_UNBOUNDED ? NFS_UNBOUNDED : proc->bound_bytes + growth;
}
