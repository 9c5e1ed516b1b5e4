/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of NFS version 3 that NFSACL uses too. */
#ifndef NFS_NFS3_TYPES_H
#define NFS_NFS3_TYPES_H

#include "nfs/xdr_type.h"

extern const struct nfs_field nfs3_fattr[];
extern const struct nfs_field nfs3_fh[];
extern const struct nfs_field nfs3_post_op_attr[];

#endif
