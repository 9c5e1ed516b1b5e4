/* SPDX-License-Identifier: BSD-3-Clause */
/* Types that the minor versions of NFSv4 and its callbacks share (RFC 7531, 5662 and 7863). */
#ifndef NFS_NFS4_TYPES_H
#define NFS_NFS4_TYPES_H

#include "nfs/proc_table.h"

/* Basic types, as fields. */
#define X_STATEID   X_FIXED(16)
#define X_BITMAP    X_VECTOR(NFS4_BITMAP_WORDS, 4)
#define X_VERIFIER  X_FIXED(8)
#define X_SESSIONID X_FIXED(16)
#define X_DEVICEID  X_FIXED(NFS_DEVICE_ID_BYTES)
#define X_TIME      X_FIXED(12)
#define X_FH4       X_OPAQUE(128)
#define X_UTF8      X_STRING(NFS_NO_MAX)
#define X_OWNERID   X_OPAQUE(1024) /* NFS4_OPAQUE_LIMIT */
#define X_CINFO     X_FIXED(20)    /* change_info4 */

/* Their sizes. */
#define STATEID4 16u
#define BITMAP4  NFS_VAR_BYTES(4 * NFS4_BITMAP_WORDS)
#define FH4      NFS_VAR_BYTES(128)
#define CINFO4   20u
#define OWNERID4 NFS_VAR_BYTES(1024)
#define NFSACE4  (3 * 4 + NFS_VAR_BYTES(NFS4_OWNER_BYTES))
/* open_delegation4: a write delegation is the largest. */
#define DELEGATION4 (4 + STATEID4 + 4 + (4 + 8) + NFSACE4)

extern const struct nfs_field nfs4_fattr[];
extern const struct nfs_field nfs4_netaddr[];
extern const struct nfs_field nfs4_state_owner[];
extern const struct nfs_field nfs4_open_delegation[];
extern const struct nfs_field nfs4_callback_sec_parms[];
extern const struct nfs_field nfs4_layoutupdate[];
extern const struct nfs_field nfs4_write_response[];

/* Arguments and results that are the same in several operations. */
extern const struct nfs_field nfs4_u32[];
extern const struct nfs_field nfs4_u64[];
extern const struct nfs_field nfs4_stateid[];
extern const struct nfs_field nfs4_component[];
extern const struct nfs_field nfs4_getattr_res[];
extern const struct nfs_field nfs4_status_res[];
extern const struct nfs_field nfs4_stateid_res[];
extern const struct nfs_field nfs4_cinfo_res[];
extern const struct nfs_field nfs4_secinfo_res[];

#endif
