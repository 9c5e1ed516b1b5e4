// SPDX-License-Identifier: BSD-3-Clause
/* The operations of NFSv4.0 (RFC 7530 section 16), with what RFC 8881 section 18 added to them. */
#include "nfs/nfs4_types.h"

#define NFS4ERR_DENIED     10010u
#define NFS4ERR_CLID_INUSE 10017u

#define OPEN_OK            (STATEID4 + CINFO4 + 4 + BITMAP4 + DELEGATION4)
#define PATH               NFS_VAR_BYTES(NFS_PATH_BYTES)
#define LOCK_DENIED        (8 + 8 + 4 + 8 + OWNERID4)

static const struct nfs_field close_args[] = {X_U32 /* seqid */, X_STATEID, X_END};
static const struct nfs_field fh4[] = {X_FH4, X_END};

static const struct nfs_field access_ok[] = {X_U32 /* supported */, X_U32 /* access */, X_END};
static const struct nfs_field access_res[] = {X_STATUS(access_ok, nfs_void), X_END};

static const struct nfs_field commit_args[] = {X_U64 /* offset */, X_U32 /* count */, X_END};
static const struct nfs_field commit_res[] = {X_STATUS(nfs4_u64, nfs_void), X_END};

/* NF4BLK and NF4CHR have a device, NF4LNK its target. */
static const struct nfs_field linkdata[] = {X_DATA(NFS_NO_MAX), X_END};
NFS_UNION_TYPE(createtype, nfs_void, {3, nfs4_u64}, {4, nfs4_u64}, {5, linkdata});
static const struct nfs_field create_args[] = {X_UNION(createtype), X_UTF8 /* objname */,
					       X_STRUCT(nfs4_fattr), X_END};
static const struct nfs_field create_ok[] = {X_CINFO, X_BITMAP /* attrset */, X_END};
static const struct nfs_field create_res[] = {X_STATUS(create_ok, nfs_void), X_END};

static const struct nfs_field getattr_args[] = {X_ATTRS(NFS4_BITMAP_WORDS), X_END};
static const struct nfs_field getfh_res[] = {X_STATUS(fh4, nfs_void), X_END};

static const struct nfs_field open_to_lock_owner[] = {X_U32 /* open_seqid */, X_STATEID,
						      X_U32 /* lock_seqid */,
						      X_STRUCT(nfs4_state_owner), X_END};
static const struct nfs_field exist_lock_owner[] = {X_STATEID, X_U32 /* lock_seqid */, X_END};
NFS_UNION_TYPE(locker, NULL, {0, exist_lock_owner}, {1, open_to_lock_owner});
static const struct nfs_field lock_args[] = {X_U32 /* locktype */, X_BOOL /* reclaim */,
					     X_U64 /* offset */,   X_U64 /* length */,
					     X_UNION(locker),      X_END};
static const struct nfs_field denied[] = {X_U64 /* offset */, X_U64 /* length */,
					  X_U32 /* locktype */, X_STRUCT(nfs4_state_owner), X_END};
NFS_UNION_TYPE(lock_union, nfs_void, {0, nfs4_stateid}, {NFS4ERR_DENIED, denied});
static const struct nfs_field lock_res[] = {X_UNION(lock_union), X_END};
static const struct nfs_field lockt_args[] = {X_U32 /* locktype */, X_U64 /* offset */,
					      X_U64 /* length */, X_STRUCT(nfs4_state_owner),
					      X_END};
NFS_UNION_TYPE(lockt_union, nfs_void, {NFS4ERR_DENIED, denied});
static const struct nfs_field lockt_res[] = {X_UNION(lockt_union), X_END};
static const struct nfs_field locku_args[] = {X_U32 /* locktype */, X_U32 /* seqid */,  X_STATEID,
					      X_U64 /* offset */,   X_U64 /* length */, X_END};

/* OPEN: RFC 8881 section 18.16.1, RFC 7530 section 16.16. */
static const struct nfs_field createverf[] = {X_VERIFIER, X_END};
static const struct nfs_field creatverfattr[] = {X_VERIFIER, X_STRUCT(nfs4_fattr), X_END};
NFS_UNION_TYPE(createhow, NULL, {0, nfs4_fattr}, {1, nfs4_fattr}, {2, createverf},
	       {3, creatverfattr});
static const struct nfs_field open_create[] = {X_UNION(createhow), X_END};
NFS_UNION_TYPE(openflag, nfs_void, {1, open_create});
static const struct nfs_field claim_delegate_cur[] = {X_STATEID, X_UTF8 /* file */, X_END};
NFS_UNION_TYPE(open_claim, NULL, {0, nfs4_component} /* CLAIM_NULL */,
	       {1, nfs4_u32} /* CLAIM_PREVIOUS */, {2, claim_delegate_cur} /* CLAIM_DELEGATE_CUR */,
	       {3, nfs4_component} /* CLAIM_DELEGATE_PREV */, {4, nfs_void} /* CLAIM_FH */,
	       {5, nfs4_stateid} /* CLAIM_DELEG_CUR_FH */, {6, nfs_void} /* CLAIM_DELEG_PREV_FH */);
static const struct nfs_field open_args[] = {X_U32 /* seqid */,
					     X_U32 /* share_access */,
					     X_U32 /* share_deny */,
					     X_STRUCT(nfs4_state_owner),
					     X_UNION(openflag),
					     X_UNION(open_claim),
					     X_END};
static const struct nfs_field open_ok[] = {X_STATEID,
					   X_CINFO,
					   X_U32 /* rflags */,
					   X_BITMAP /* attrset */,
					   X_STRUCT(nfs4_open_delegation),
					   X_END};
static const struct nfs_field open_res[] = {X_STATUS(open_ok, nfs_void), X_END};

static const struct nfs_field open_confirm_args[] = {X_STATEID, X_U32 /* seqid */, X_END};
static const struct nfs_field open_downgrade_args[] = {
	X_STATEID, X_U32 /* seqid */, X_U32 /* share_access */, X_U32 /* share_deny */, X_END};

static const struct nfs_field read_args[] = {X_STATEID, X_U64 /* offset */, X_COUNT, X_END};
static const struct nfs_field read_ok[] = {X_BOOL /* eof */, X_DATA(NFS_NO_MAX), X_END};
static const struct nfs_field read_res[] = {X_STATUS(read_ok, nfs_void), X_END};

static const struct nfs_field readdir_args[] = {
	X_U64 /* cookie */,     X_VERIFIER, X_COUNT /* dircount */,
	X_COUNT /* maxcount */, X_BITMAP,   X_END};
static const struct nfs_field entry4[] = {X_U64 /* cookie */, X_UTF8 /* name */,
					  X_STRUCT(nfs4_fattr), X_END};
static const struct nfs_field readdir_ok[] = {X_VERIFIER, X_LIST(entry4), X_BOOL /* eof */, X_END};
static const struct nfs_field readdir_res[] = {X_STATUS(readdir_ok, nfs_void), X_END};

static const struct nfs_field readlink_res[] = {X_STATUS(linkdata, nfs_void), X_END};

static const struct nfs_field rename_args[] = {X_UTF8 /* oldname */, X_UTF8 /* newname */, X_END};
static const struct nfs_field rename_ok[] = {X_CINFO, X_CINFO, X_END};
static const struct nfs_field rename_res[] = {X_STATUS(rename_ok, nfs_void), X_END};

static const struct nfs_field setattr_args[] = {X_STATEID, X_STRUCT(nfs4_fattr), X_END};
/* The bitmap is present whatever the status. */
static const struct nfs_field attrsset[] = {X_BITMAP, X_END};
static const struct nfs_field setattr_res[] = {X_STATUS(attrsset, attrsset), X_END};

static const struct nfs_field setclientid_args[] = {X_VERIFIER,
						    X_OWNERID /* id */,
						    X_U32 /* cb_program */,
						    X_STRUCT(nfs4_netaddr),
						    X_U32 /* callback_ident */,
						    X_END};
static const struct nfs_field setclientid_ok[] = {X_U64 /* clientid */, X_VERIFIER, X_END};
NFS_UNION_TYPE(setclientid_union, nfs_void, {0, setclientid_ok},
	       {NFS4ERR_CLID_INUSE, nfs4_netaddr});
static const struct nfs_field setclientid_res[] = {X_UNION(setclientid_union), X_END};

static const struct nfs_field write_args[] = {X_STATEID, X_U64 /* offset */, X_U32 /* stable */,
					      X_DATA(NFS_NO_MAX), X_END};
static const struct nfs_field write_ok[] = {X_U32 /* count */, X_U32 /* committed */, X_VERIFIER,
					    X_END};
static const struct nfs_field write_res[] = {X_STATUS(write_ok, nfs_void), X_END};

#define FIRST 3u

/* clang-format off */
static const struct nfs_proc ops[] = {
	/*			name			arguments		results			bound				growth DDP */
	[3 - FIRST] =  NFS_PROC("ACCESS",		nfs4_u32,		access_res,		4 + 2 * 4,			NOT,   NONE),
	[4 - FIRST] =  NFS_PROC("CLOSE",		close_args,		nfs4_stateid_res,	4 + STATEID4,			NOT,   NONE),
	[5 - FIRST] =  NFS_PROC("COMMIT",		commit_args,		commit_res,		4 + 8,				NOT,   NONE),
	[6 - FIRST] =  NFS_PROC("CREATE",		create_args,		create_res,		4 + CINFO4 + BITMAP4,		NOT,   TARGET),
	[7 - FIRST] =  NFS_PROC("DELEGPURGE",		nfs4_u64,		nfs4_status_res,	4,				NOT,   NONE),
	[8 - FIRST] =  NFS_PROC("DELEGRETURN",		nfs4_stateid,		nfs4_status_res,	4,				NOT,   NONE),
	[9 - FIRST] =  NFS_PROC("GETATTR",		getattr_args,		nfs4_getattr_res,	4 + BITMAP4 + 4,		ATTRS, NONE),
	[10 - FIRST] = NFS_PROC("GETFH",		nfs_void,		getfh_res,		4 + FH4,			NOT,   NONE),
	[11 - FIRST] = NFS_PROC("LINK",			nfs4_component,		nfs4_cinfo_res,		4 + CINFO4,			NOT,   NONE),
	[12 - FIRST] = NFS_PROC("LOCK",			lock_args,		lock_res,		4 + LOCK_DENIED,		NOT,   NONE),
	[13 - FIRST] = NFS_PROC("LOCKT",		lockt_args,		lockt_res,		4 + LOCK_DENIED,		NOT,   NONE),
	[14 - FIRST] = NFS_PROC("LOCKU",		locku_args,		nfs4_stateid_res,	4 + STATEID4,			NOT,   NONE),
	[15 - FIRST] = NFS_PROC("LOOKUP",		nfs4_component,		nfs4_status_res,	4,				NOT,   NONE),
	[16 - FIRST] = NFS_PROC("LOOKUPP",		nfs_void,		nfs4_status_res,	4,				NOT,   NONE),
	[17 - FIRST] = NFS_PROC("NVERIFY",		nfs4_fattr,		nfs4_status_res,	4,				NOT,   NONE),
	[18 - FIRST] = NFS_PROC("OPEN",			open_args,		open_res,		4 + OPEN_OK,			NOT,   NONE),
	[19 - FIRST] = NFS_PROC("OPENATTR",		nfs4_u32,		nfs4_status_res,	4,				NOT,   NONE),
	[20 - FIRST] = NFS_PROC("OPEN_CONFIRM",		open_confirm_args,	nfs4_stateid_res,	4 + STATEID4,			NOT,   NONE),
	[21 - FIRST] = NFS_PROC("OPEN_DOWNGRADE",	open_downgrade_args,	nfs4_stateid_res,	4 + STATEID4,			NOT,   NONE),
	[22 - FIRST] = NFS_PROC("PUTFH",		fh4,			nfs4_status_res,	4,				NOT,   NONE),
	[23 - FIRST] = NFS_PROC("PUTPUBFH",		nfs_void,		nfs4_status_res,	4,				NOT,   NONE),
	[24 - FIRST] = NFS_PROC("PUTROOTFH",		nfs_void,		nfs4_status_res,	4,				NOT,   NONE),
	[25 - FIRST] = NFS_PROC("READ",			read_args,		read_res,		4 + 4 + 4,			COUNT, RESULTS),
	[26 - FIRST] = NFS_PROC("READDIR",		readdir_args,		readdir_res,		4 + 8 + 4 + 4,			SLACK, NONE),
	[27 - FIRST] = NFS_PROC("READLINK",		nfs_void,		readlink_res,		4 + PATH,			NOT,   RESULTS),
	[28 - FIRST] = NFS_PROC("REMOVE",		nfs4_component,		nfs4_cinfo_res,		4 + CINFO4,			NOT,   NONE),
	[29 - FIRST] = NFS_PROC("RENAME",		rename_args,		rename_res,		4 + 2 * CINFO4,			NOT,   NONE),
	[30 - FIRST] = NFS_PROC("RENEW",		nfs4_u64,		nfs4_status_res,	4,				NOT,   NONE),
	[31 - FIRST] = NFS_PROC("RESTOREFH",		nfs_void,		nfs4_status_res,	4,				NOT,   NONE),
	[32 - FIRST] = NFS_PROC("SAVEFH",		nfs_void,		nfs4_status_res,	4,				NOT,   NONE),
	[33 - FIRST] = NFS_PROC("SECINFO",		nfs4_component,		nfs4_secinfo_res,	4 + 4 + NFS4_SECINFO_BYTES,	NOT,   NONE),
	[34 - FIRST] = NFS_PROC("SETATTR",		setattr_args,		setattr_res,		4 + BITMAP4,			NOT,   NONE),
	[35 - FIRST] = NFS_PROC("SETCLIENTID",		setclientid_args,	setclientid_res,	4 + NFS4_NETADDR_BYTES,		NOT,   NONE),
	[36 - FIRST] = NFS_PROC("SETCLIENTID_CONFIRM",	setclientid_ok,		nfs4_status_res,	4,				NOT,   NONE),
	[37 - FIRST] = NFS_PROC("VERIFY",		nfs4_fattr,		nfs4_status_res,	4,				NOT,   NONE),
	[38 - FIRST] = NFS_PROC("WRITE",		write_args,		write_res,		4 + 4 + 4 + 8,			NOT,   ARGS),
	[39 - FIRST] = NFS_PROC("RELEASE_LOCKOWNER",	nfs4_state_owner,	nfs4_status_res,	4,				NOT,   NONE),
};
/* clang-format on */

const struct nfs_ops nfs_ops_40 = {0, FIRST, ARRAY_SIZE(ops), ops};

/* The procedures of the program. COMPOUND consists of operations: see compound.h. */
static const struct nfs_proc procs[] = {
	[0] = NFS_PROC("NULL", nfs_void, nfs_void, 0, NOT, NONE),
};

const struct nfs_program nfs_program_nfs4 = {"NFS", NFS_PROGRAM_NFS, 4, ARRAY_SIZE(procs), procs};
