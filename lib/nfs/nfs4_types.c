// SPDX-License-Identifier: BSD-3-Clause
#include "nfs/nfs4_types.h"

#define AUTH_NONE  0u
#define AUTH_SYS   1u
#define RPCSEC_GSS 6u

const struct nfs_field nfs4_u32[] = {X_U32, X_END};
const struct nfs_field nfs4_u64[] = {X_U64, X_END};
const struct nfs_field nfs4_stateid[] = {X_STATEID, X_END};
const struct nfs_field nfs4_component[] = {X_UTF8, X_END};
static const struct nfs_field cinfo[] = {X_CINFO, X_END};

const struct nfs_field nfs4_status_res[] = {X_STATUS(nfs_void, nfs_void), X_END};
const struct nfs_field nfs4_stateid_res[] = {X_STATUS(nfs4_stateid, nfs_void), X_END};
const struct nfs_field nfs4_cinfo_res[] = {X_STATUS(cinfo, nfs_void), X_END};

const struct nfs_field nfs4_fattr[] = {X_BITMAP, X_OPAQUE(NFS_NO_MAX), X_END};
const struct nfs_field nfs4_getattr_res[] = {X_STATUS(nfs4_fattr, nfs_void), X_END};
const struct nfs_field nfs4_netaddr[] = {X_UTF8 /* na_r_netid */, X_UTF8 /* na_r_addr */, X_END};
const struct nfs_field nfs4_state_owner[] = {X_U64 /* clientid */, X_OWNERID, X_END};

/* open_delegation4 (RFC 8881 section 18.16.1); the last two types are of RFC 9754. */
static const struct nfs_field nfsace[] = {X_U32 /* type */, X_U32 /* flag */,
					  X_U32 /* access_mask */, X_UTF8 /* who */, X_END};
static const struct nfs_field read_delegation[] = {X_STATEID, X_BOOL /* recall */, X_STRUCT(nfsace),
						   X_END};
/* A file size, or a number of blocks and their size. */
NFS_UNION_TYPE(space_limit, NULL, {1, nfs4_u64}, {2, nfs4_u64});
static const struct nfs_field write_delegation[] = {X_STATEID, X_BOOL /* recall */,
						    X_UNION(space_limit), X_STRUCT(nfsace), X_END};
/* WND4_CONTENTION and WND4_RESOURCE carry a boolean. */
NFS_UNION_TYPE(none_delegation, nfs_void, {1, nfs4_u32}, {2, nfs4_u32});
static const struct nfs_field whynone[] = {X_UNION(none_delegation), X_END};
NFS_UNION_TYPE(open_delegation, NULL, {0, nfs_void}, {1, read_delegation}, {2, write_delegation},
	       {3, whynone}, {4, read_delegation}, {5, write_delegation});
const struct nfs_field nfs4_open_delegation[] = {X_UNION(open_delegation), X_END};

/* callback_sec_parms4 (RFC 8881 section 18.33.1). */
static const struct nfs_field authsys[] = {X_U32 /* stamp */, X_STRING(255) /* machinename */,
					   X_U32 /* uid */,   X_U32 /* gid */,
					   X_VECTOR(16, 4),   X_END};
static const struct nfs_field gss_handles[] = {X_U32 /* gcbp_service */, X_OPAQUE(NFS_NO_MAX),
					       X_OPAQUE(NFS_NO_MAX), X_END};
NFS_UNION_TYPE(sec_parms, NULL, {AUTH_NONE, nfs_void}, {AUTH_SYS, authsys},
	       {RPCSEC_GSS, gss_handles});
const struct nfs_field nfs4_callback_sec_parms[] = {X_UNION(sec_parms), X_END};

/* SECINFO4res, of SECINFO and SECINFO_NO_NAME. */
static const struct nfs_field gss_info[] = {X_OPAQUE(NFS_NO_MAX) /* oid */, X_U32 /* qop */,
					    X_U32 /* service */, X_END};
NFS_UNION_TYPE(secinfo, nfs_void, {RPCSEC_GSS, gss_info});
static const struct nfs_field secinfo4[] = {X_UNION(secinfo), X_END};
static const struct nfs_field secinfo_ok[] = {X_ARRAY(NFS_NO_MAX, secinfo4), X_END};
const struct nfs_field nfs4_secinfo_res[] = {X_STATUS(secinfo_ok, nfs_void), X_END};

const struct nfs_field nfs4_layoutupdate[] = {X_U32 /* lou_type */, X_OPAQUE(NFS_NO_MAX), X_END};

/* write_response4 (RFC 7862 section 15.2.2). */
const struct nfs_field nfs4_write_response[] = {X_VECTOR(1, 16) /* wr_callback_id */,
						X_U64 /* wr_count */, X_U32 /* wr_committed */,
						X_VERIFIER, X_END};
