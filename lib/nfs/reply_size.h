/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds the size of a Reply: its header, the COMPOUND, and the results of each operation. */
#ifndef NFS_REPLY_SIZE_H
#define NFS_REPLY_SIZE_H

#include "nfs/compound.h"
#include "nfs/proc_table.h"
#include "rpc/call_info.h"

/**
 * nfs_reply_frame_bytes - Returns the maximum size of a Reply's header, including what the security
 * flavour adds.
 */
uint64_t nfs_reply_frame_bytes(enum call_body_kind body);

/**
 * nfs_reply_compound_bytes - Returns the maximum size of a COMPOUND's results without those of its
 * operations.
 */
uint64_t nfs_reply_compound_bytes(const struct nfs_compound *compound);

/**
 * nfs_reply_results_bytes - Bounds the results of a procedure or operation
 * @marks: what its arguments request
 *
 * Returns their maximum size, or NFS_UNBOUNDED.
 */
uint64_t nfs_reply_results_bytes(const struct nfs_proc *proc, const struct nfs_marks *marks);

#endif
