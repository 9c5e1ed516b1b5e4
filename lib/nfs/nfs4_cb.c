// SPDX-License-Identifier: BSD-3-Clause
/* The operations of the NFSv4 callback program (RFC 7530 section 18, RFC 8881 20, RFC 7862 16). */
#include "nfs/nfs4_types.h"

static const struct nfs_field getattr_args[] = {X_FH4, X_ATTRS(NFS4_BITMAP_WORDS), X_END};
static const struct nfs_field recall_args[] = {X_STATEID, X_BOOL /* truncate */, X_FH4, X_END};

static const struct nfs_field recall_file[] = {X_FH4, X_U64 /* offset */, X_U64 /* length */,
					       X_STATEID, X_END};
static const struct nfs_field fsid4[] = {X_U64, X_U64, X_END};
NFS_UNION_TYPE(layoutrecall, NULL, {1, recall_file}, {2, fsid4}, {3, nfs_void});
static const struct nfs_field layoutrecall_args[] = {
	X_U32 /* type */, X_U32 /* iomode */, X_BOOL /* changed */, X_UNION(layoutrecall), X_END};

static const struct nfs_field notify4[] = {X_BITMAP, X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field notify_args[] = {X_STATEID, X_FH4, X_ARRAY(NFS_NO_MAX, notify4),
					       X_END};
static const struct nfs_field push_deleg_args[] = {X_FH4, X_STRUCT(nfs4_open_delegation), X_END};
static const struct nfs_field recall_any_args[] = {X_U32 /* objects_to_keep */, X_BITMAP, X_END};

static const struct nfs_field referring_calls[] = {X_SESSIONID, X_VECTOR(NFS_NO_MAX, 8), X_END};
static const struct nfs_field sequence_args[] = {X_SESSIONID,
						 X_U32 /* sequenceid */,
						 X_U32 /* slotid */,
						 X_U32 /* highest_slotid */,
						 X_BOOL /* cachethis */,
						 X_ARRAY(NFS_NO_MAX, referring_calls),
						 X_END};
static const struct nfs_field sequence_ok[] = {X_SESSIONID,
					       X_U32 /* sequenceid */,
					       X_U32 /* slotid */,
					       X_U32 /* highest_slotid */,
					       X_U32 /* target_highest_slotid */,
					       X_END};
static const struct nfs_field sequence_res[] = {X_STATUS(sequence_ok, nfs_void), X_END};

static const struct nfs_field wants_cancelled_args[] = {X_BOOL, X_BOOL, X_END};
static const struct nfs_field notify_lock_args[] = {X_FH4, X_STRUCT(nfs4_state_owner), X_END};
static const struct nfs_field notify_deviceid_args[] = {X_ARRAY(NFS_NO_MAX, notify4), X_END};

NFS_UNION_TYPE(offload_info, nfs4_u64, {0, nfs4_write_response});
static const struct nfs_field offload_args[] = {X_FH4, X_STATEID, X_UNION(offload_info), X_END};

#define FIRST    3u
#define FIRST_41 5u
#define FIRST_42 15u

/* clang-format off */
static const struct nfs_proc ops_40[] = {
	/*			   name				arguments		results			bound			growth DDP */
	[3 - FIRST] =     NFS_PROC("CB_GETATTR",		getattr_args,		nfs4_getattr_res,	4 + BITMAP4 + 4,	ATTRS, NONE),
	[4 - FIRST] =     NFS_PROC("CB_RECALL",			recall_args,		nfs4_status_res,	4,			NOT,   NONE),
};

static const struct nfs_proc ops_41[] = {
	[5 - FIRST_41] =  NFS_PROC("CB_LAYOUTRECALL",		layoutrecall_args,	nfs4_status_res,	4,			NOT,   NONE),
	[6 - FIRST_41] =  NFS_PROC("CB_NOTIFY",			notify_args,		nfs4_status_res,	4,			NOT,   NONE),
	[7 - FIRST_41] =  NFS_PROC("CB_PUSH_DELEG",		push_deleg_args,	nfs4_status_res,	4,			NOT,   NONE),
	[8 - FIRST_41] =  NFS_PROC("CB_RECALL_ANY",		recall_any_args,	nfs4_status_res,	4,			NOT,   NONE),
	[9 - FIRST_41] =  NFS_PROC("CB_RECALLABLE_OBJ_AVAIL",	recall_any_args,	nfs4_status_res,	4,			NOT,   NONE),
	[10 - FIRST_41] = NFS_PROC("CB_RECALL_SLOT",		nfs4_u32,		nfs4_status_res,	4,			NOT,   NONE),
	[11 - FIRST_41] = NFS_PROC("CB_SEQUENCE",		sequence_args,		sequence_res,		4 + 16 + 4 * 4,		NOT,   NONE),
	[12 - FIRST_41] = NFS_PROC("CB_WANTS_CANCELLED",	wants_cancelled_args,	nfs4_status_res,	4,			NOT,   NONE),
	[13 - FIRST_41] = NFS_PROC("CB_NOTIFY_LOCK",		notify_lock_args,	nfs4_status_res,	4,			NOT,   NONE),
	[14 - FIRST_41] = NFS_PROC("CB_NOTIFY_DEVICEID",	notify_deviceid_args,	nfs4_status_res,	4,			NOT,   NONE),
};

static const struct nfs_proc ops_42[] = {
	[15 - FIRST_42] = NFS_PROC("CB_OFFLOAD",		offload_args,		nfs4_status_res,	4,			NOT,   NONE),
};
/* clang-format on */

const struct nfs_ops nfs_cb_ops_40 = {0, FIRST, ARRAY_SIZE(ops_40), ops_40};
const struct nfs_ops nfs_cb_ops_41 = {1, FIRST_41, ARRAY_SIZE(ops_41), ops_41};
const struct nfs_ops nfs_cb_ops_42 = {2, FIRST_42, ARRAY_SIZE(ops_42), ops_42};

static const struct nfs_proc procs[] = {
	[0] = NFS_PROC("CB_NULL", nfs_void, nfs_void, 0, NOT, NONE),
};

const struct nfs_program nfs_program_callback1 = {"NFS_CB", NFS_PROGRAM_CALLBACK, 1,
						  ARRAY_SIZE(procs), procs};
const struct nfs_program nfs_program_callback4 = {"NFS_CB", NFS_PROGRAM_CALLBACK, 4,
						  ARRAY_SIZE(procs), procs};
