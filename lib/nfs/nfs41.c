// SPDX-License-Identifier: BSD-3-Clause
/* The operations that NFSv4.1 added (RFC 8881 sections 18.33 to 18.51). */
#include "nfs/nfs4_types.h"

#define NFS4ERR_TOOSMALL       10005u
#define NFS4ERR_LAYOUTTRYLATER 10058u
#define LAYOUT4_RET_REC_FILE   1u
#define CLAIM_PREVIOUS         1u
#define CLAIM_FH               4u
#define CLAIM_DELEG_PREV_FH    6u

#define CHANNEL_ATTRS          (6 * 4 + NFS_VAR_BYTES(4))
#define CREATE_SESSION_OK      (16 + 2 * 4 + 2 * CHANNEL_ATTRS)
#define DIR_DELEGATION         (4 + 8 + STATEID4 + 3 * BITMAP4)
#define DIGEST                 NFS_VAR_BYTES(NFS4_DIGEST_BYTES)
/* SP4_SSV of state_protect4_r is the largest: two bitmaps, four words, handles. */
#define STATE_PROTECT (4 + 2 * BITMAP4 + 4 * 4 + NFS4_SSV_HANDLES_BYTES)
#define EXCHANGE_ID_OK                                                                             \
	(8 + 4 + 4 + STATE_PROTECT + (8 + OWNERID4) + OWNERID4 + 4 + NFS4_IMPL_ID_BYTES)

static const struct nfs_field sessionid[] = {X_SESSIONID, X_END};

static const struct nfs_field backchannel_ctl_args[] = {
	X_U32 /* bca_cb_program */, X_ARRAY(NFS_NO_MAX, nfs4_callback_sec_parms), X_END};

/* Session, direction, and whether RDMA mode is used. */
static const struct nfs_field bind_conn[] = {X_SESSIONID, X_U32, X_BOOL, X_END};
static const struct nfs_field bind_conn_res[] = {X_STATUS(bind_conn, nfs_void), X_END};

/* EXCHANGE_ID */
static const struct nfs_field protect_ops[] = {X_BITMAP /* must_enforce */,
					       X_BITMAP /* must_allow */, X_END};
static const struct nfs_field sec_oid[] = {X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field ssv_parms[] = {X_STRUCT(protect_ops),
					     X_ARRAY(NFS_NO_MAX, sec_oid) /* hash_algs */,
					     X_ARRAY(NFS_NO_MAX, sec_oid) /* encr_algs */,
					     X_U32 /* window */,
					     X_U32 /* num_gss_handles */,
					     X_END};
NFS_UNION_TYPE(state_protect_a, NULL, {0, nfs_void}, {1, protect_ops}, {2, ssv_parms});
static const struct nfs_field impl_id[] = {X_UTF8 /* domain */, X_UTF8 /* name */, X_TIME, X_END};
static const struct nfs_field exchange_id_args[] = {X_VERIFIER,          X_OWNERID /* co_ownerid */,
						    X_U32 /* flags */,   X_UNION(state_protect_a),
						    X_ARRAY(1, impl_id), X_END};
static const struct nfs_field ssv_info[] = {X_STRUCT(protect_ops),
					    X_U32 /* hash_alg */,
					    X_U32 /* encr_alg */,
					    X_U32 /* ssv_len */,
					    X_U32 /* window */,
					    X_ARRAY(NFS_NO_MAX, sec_oid) /* handles */,
					    X_END};
NFS_UNION_TYPE(state_protect_r, NULL, {0, nfs_void}, {1, protect_ops}, {2, ssv_info});
static const struct nfs_field exchange_id_ok[] = {
	X_U64 /* clientid */,         X_U32 /* sequenceid */,  X_U32 /* flags */,
	X_UNION(state_protect_r),     X_U64 /* so_minor_id */, X_OWNERID /* so_major_id */,
	X_OWNERID /* server_scope */, X_ARRAY(1, impl_id),     X_END};
static const struct nfs_field exchange_id_res[] = {X_STATUS(exchange_id_ok, nfs_void), X_END};

/* CREATE_SESSION */
static const struct nfs_field channel_attrs[] = {
	X_U32 /* headerpadsize */,     X_U32 /* maxrequestsize */,
	X_U32 /* maxresponsesize */,   X_U32 /* maxresponsesize_cached */,
	X_U32 /* maxoperations */,     X_U32 /* maxrequests */,
	X_VECTOR(1, 4) /* rdma_ird */, X_END};
static const struct nfs_field fore_channel_attrs[] = {
	X_U32 /* headerpadsize */,     X_U32 /* maxrequestsize */,
	X_COUNT /* maxresponsesize */, X_U32 /* maxresponsesize_cached */,
	X_U32 /* maxoperations */,     X_U32 /* maxrequests */,
	X_VECTOR(1, 4) /* rdma_ird */, X_END};
static const struct nfs_field create_session_args[] = {X_U64 /* clientid */,
						       X_U32 /* sequence */,
						       X_U32 /* flags */,
						       X_STRUCT(channel_attrs),
						       X_STRUCT(channel_attrs),
						       X_U32 /* cb_program */,
						       X_ARRAY(NFS_NO_MAX, nfs4_callback_sec_parms),
						       X_END};
static const struct nfs_field create_session_ok[] = {
	X_SESSION(16),           X_U32 /* sequence */,
	X_U32 /* flags */,       X_STRUCT(fore_channel_attrs),
	X_STRUCT(channel_attrs), X_END};
static const struct nfs_field create_session_res[] = {X_STATUS(create_session_ok, nfs_void), X_END};

/* GET_DIR_DELEGATION */
static const struct nfs_field get_dir_delegation_args[] = {X_BOOL,
							   X_BITMAP /* notification_types */,
							   X_TIME /* child_attr_delay */,
							   X_TIME /* dir_attr_delay */,
							   X_BITMAP /* child_attributes */,
							   X_BITMAP /* dir_attributes */,
							   X_END};
static const struct nfs_field gddr_ok[] = {X_VERIFIER, X_STATEID, X_BITMAP,
					   X_BITMAP,   X_BITMAP,  X_END};
NFS_UNION_TYPE(gddr_non_fatal, NULL, {0, gddr_ok}, {1, nfs4_u32});
static const struct nfs_field gddr[] = {X_UNION(gddr_non_fatal), X_END};
static const struct nfs_field get_dir_delegation_res[] = {X_STATUS(gddr, nfs_void), X_END};

/* Devices and layouts */
static const struct nfs_field getdeviceinfo_args[] = {X_DEVICEID, X_U32 /* layout_type */, X_COUNT,
						      X_BITMAP /* notify_types */, X_END};
static const struct nfs_field getdeviceinfo_ok[] = {X_U32 /* layout_type */, X_OPAQUE(NFS_NO_MAX),
						    X_BITMAP /* notification */, X_END};
NFS_UNION_TYPE(getdeviceinfo_union, nfs_void, {0, getdeviceinfo_ok}, {NFS4ERR_TOOSMALL, nfs4_u32});
static const struct nfs_field getdeviceinfo_res[] = {X_UNION(getdeviceinfo_union), X_END};
static const struct nfs_field getdevicelist_args[] = {
	X_U32 /* layout_type */, X_COUNT /* maxdevices */, X_U64 /* cookie */, X_VERIFIER, X_END};
static const struct nfs_field getdevicelist_ok[] = {X_U64 /* cookie */, X_VERIFIER,
						    X_VECTOR(NFS_NO_MAX, NFS_DEVICE_ID_BYTES),
						    X_BOOL /* eof */, X_END};
static const struct nfs_field getdevicelist_res[] = {X_STATUS(getdevicelist_ok, nfs_void), X_END};

static const struct nfs_field time4[] = {X_TIME, X_END};
NFS_UNION_TYPE(newoffset, NULL, {0, nfs_void}, {1, nfs4_u64});
NFS_UNION_TYPE(newtime, NULL, {0, nfs_void}, {1, time4});
static const struct nfs_field layoutcommit_args[] = {
	X_U64 /* offset */, X_U64 /* length */, X_BOOL /* reclaim */,        X_STATEID,
	X_UNION(newoffset), X_UNION(newtime),   X_STRUCT(nfs4_layoutupdate), X_END};
static const struct nfs_field newsize[] = {X_UNION(newoffset), X_END};
static const struct nfs_field layoutcommit_res[] = {X_STATUS(newsize, nfs_void), X_END};

static const struct nfs_field layoutget_args[] = {X_BOOL,
						  X_U32 /* layout_type */,
						  X_U32 /* iomode */,
						  X_U64 /* offset */,
						  X_U64 /* length */,
						  X_U64 /* minlength */,
						  X_STATEID,
						  X_COUNT,
						  X_END};
static const struct nfs_field layout4[] = {X_U64 /* offset */,
					   X_U64 /* length */,
					   X_U32 /* iomode */,
					   X_U32 /* type */,
					   X_OPAQUE(NFS_NO_MAX) /* body */,
					   X_END};
static const struct nfs_field layoutget_ok[] = {X_BOOL /* return_on_close */, X_STATEID,
						X_ARRAY(NFS_NO_MAX, layout4), X_END};
NFS_UNION_TYPE(layoutget_union, nfs_void, {0, layoutget_ok}, {NFS4ERR_LAYOUTTRYLATER, nfs4_u32});
static const struct nfs_field layoutget_res[] = {X_UNION(layoutget_union), X_END};

static const struct nfs_field layoutreturn_file[] = {X_U64 /* offset */, X_U64 /* length */,
						     X_STATEID, X_OPAQUE(NFS_NO_MAX), X_END};
NFS_UNION_TYPE(layoutreturn, nfs_void, {LAYOUT4_RET_REC_FILE, layoutreturn_file});
static const struct nfs_field layoutreturn_args[] = {X_BOOL /* reclaim */, X_U32 /* layout_type */,
						     X_U32 /* iomode */, X_UNION(layoutreturn),
						     X_END};
NFS_UNION_TYPE(layoutreturn_stateid, NULL, {0, nfs_void}, {1, nfs4_stateid});
static const struct nfs_field layoutreturn_ok[] = {X_UNION(layoutreturn_stateid), X_END};
static const struct nfs_field layoutreturn_res[] = {X_STATUS(layoutreturn_ok, nfs_void), X_END};

/* SEQUENCE */
/* First in each COMPOUND: its four words are one field, which is skipped in one step. */
static const struct nfs_field sequence_args[] = {
	X_SESSION(16), X_FIXED(4 * 4) /* sequenceid, slotid, highest_slotid, cachethis */, X_END};
static const struct nfs_field sequence_ok[] = {X_SESSIONID,
					       X_U32 /* sequenceid */,
					       X_U32 /* slotid */,
					       X_U32 /* highest_slotid */,
					       X_U32 /* target_highest_slotid */,
					       X_U32 /* status_flags */,
					       X_END};
static const struct nfs_field sequence_res[] = {X_STATUS(sequence_ok, nfs_void), X_END};

static const struct nfs_field set_ssv_args[] = {X_OPAQUE(NFS_NO_MAX), X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field set_ssv_ok[] = {X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field set_ssv_res[] = {X_STATUS(set_ssv_ok, nfs_void), X_END};

static const struct nfs_field test_stateid_args[] = {X_COUNTED(NFS_NO_MAX, 16), X_END};
static const struct nfs_field test_stateid_ok[] = {X_VECTOR(NFS_NO_MAX, 4), X_END};
static const struct nfs_field test_stateid_res[] = {X_STATUS(test_stateid_ok, nfs_void), X_END};

NFS_UNION_TYPE(deleg_claim, NULL, {CLAIM_FH, nfs_void}, {CLAIM_DELEG_PREV_FH, nfs_void},
	       {CLAIM_PREVIOUS, nfs4_u32});
static const struct nfs_field want_delegation_args[] = {X_U32 /* want */, X_UNION(deleg_claim),
							X_END};
static const struct nfs_field want_delegation_res[] = {X_STATUS(nfs4_open_delegation, nfs_void),
						       X_END};

#define FIRST 40u

/* clang-format off */
static const struct nfs_proc ops[] = {
	/*			name			arguments			results			bound				growth   DDP */
	[40 - FIRST] = NFS_PROC("BACKCHANNEL_CTL",	backchannel_ctl_args,		nfs4_status_res,	4,				NOT,     NONE),
	[41 - FIRST] = NFS_PROC("BIND_CONN_TO_SESSION",	bind_conn,			bind_conn_res,		4 + 16 + 2 * 4,			NOT,     NONE),
	[42 - FIRST] = NFS_PROC("EXCHANGE_ID",		exchange_id_args,		exchange_id_res,	4 + EXCHANGE_ID_OK,		NOT,     NONE),
	[43 - FIRST] = NFS_PROC("CREATE_SESSION",	create_session_args,		create_session_res,	4 + CREATE_SESSION_OK,		NOT,     NONE),
	[44 - FIRST] = NFS_PROC("DESTROY_SESSION",	sessionid,			nfs4_status_res,	4,				NOT,     NONE),
	[45 - FIRST] = NFS_PROC("FREE_STATEID",		nfs4_stateid,			nfs4_status_res,	4,				NOT,     NONE),
	[46 - FIRST] = NFS_PROC("GET_DIR_DELEGATION",	get_dir_delegation_args,	get_dir_delegation_res,	4 + DIR_DELEGATION,		NOT,     NONE),
	[47 - FIRST] = NFS_PROC("GETDEVICEINFO",	getdeviceinfo_args,		getdeviceinfo_res,	4 + 4 + 4 + BITMAP4,		SLACK,   NONE),
	[48 - FIRST] = NFS_PROC("GETDEVICELIST",	getdevicelist_args,		getdevicelist_res,	4 + 8 + 8 + 4 + 4,		DEVICES, NONE),
	[49 - FIRST] = NFS_PROC("LAYOUTCOMMIT",		layoutcommit_args,		layoutcommit_res,	4 + 4 + 8,			NOT,     NONE),
	[50 - FIRST] = NFS_PROC("LAYOUTGET",		layoutget_args,			layoutget_res,		4 + 4 + STATEID4 + 4,		SLACK,   NONE),
	[51 - FIRST] = NFS_PROC("LAYOUTRETURN",		layoutreturn_args,		layoutreturn_res,	4 + 4 + STATEID4,		NOT,     NONE),
	[52 - FIRST] = NFS_PROC("SECINFO_NO_NAME",	nfs4_u32,			nfs4_secinfo_res,	4 + 4 + NFS4_SECINFO_BYTES,	NOT,     NONE),
	[53 - FIRST] = NFS_PROC("SEQUENCE",		sequence_args,			sequence_res,		4 + 16 + 5 * 4,			NOT,     NONE),
	[54 - FIRST] = NFS_PROC("SET_SSV",		set_ssv_args,			set_ssv_res,		4 + DIGEST,			NOT,     NONE),
	[55 - FIRST] = NFS_PROC("TEST_STATEID",		test_stateid_args,		test_stateid_res,	4 + 4,				WORDS,   NONE),
	[56 - FIRST] = NFS_PROC("WANT_DELEGATION",	want_delegation_args,		want_delegation_res,	4 + DELEGATION4,		NOT,     NONE),
	[57 - FIRST] = NFS_PROC("DESTROY_CLIENTID",	nfs4_u64,			nfs4_status_res,	4,				NOT,     NONE),
	[58 - FIRST] = NFS_PROC("RECLAIM_COMPLETE",	nfs4_u32,			nfs4_status_res,	4,				NOT,     NONE),
};
/* clang-format on */

const struct nfs_ops nfs_ops_41 = {1, FIRST, ARRAY_SIZE(ops), ops};
