/* SPDX-License-Identifier: BSD-3-Clause */
/* How large the parts of a Reply can get. */
#ifndef NFS_CEILING_H
#define NFS_CEILING_H

#include "nfs/compound.h"
#include "nfs/table.h"
#include "rpc/facts.h"

/** nfs_frame_bytes - the header of a Reply, and what the security flavour adds. */
uint64_t nfs_frame_bytes(enum facts_body body);

/** nfs_compound_bytes - the results of a COMPOUND without those of its operations. */
uint64_t nfs_compound_bytes(const struct nfs_compound *compound);

/**
 * nfs_results_bytes - the results of a procedure or operation
 * @marks: what its arguments ask for
 *
 * Returns the most that they can take, or NFS_UNBOUNDED.
 */
uint64_t nfs_results_bytes(const struct nfs_proc *proc, const struct nfs_marks *marks);

#endif
