/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of NFS version 2 that NFSACL uses too. */
#ifndef NFS_NFS2_TYPES_H
#define NFS_NFS2_TYPES_H

#include "nfs/xdr_type.h"

extern const struct nfs_field nfs2_fhandle[];
extern const struct nfs_field nfs2_fattr[];
extern const struct nfs_field nfs2_attrstat[];

#endif
