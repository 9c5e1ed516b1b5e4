// SPDX-License-Identifier: BSD-3-Clause
/* The NFSACL side protocol, versions 2 and 3: no RFC, but the same in Solaris and Linux. */
#include "nfs/nfs2_types.h"
#include "nfs/nfs3_types.h"
#include "nfs/proc_table.h"

#define MAX_ACES     1024u
#define ACE          12u
#define SECATTR      (4 + 2 * (4 + 4 + MAX_ACES * ACE))
#define FATTR2       (17 * 4u)
#define FH2          32u
#define FH3          NFS_VAR_BYTES(64)
#define FATTR3       84u
#define POST_OP_ATTR (4 + FATTR3)

/* Type, ID and permissions of each entry. */
static const struct nfs_field secattr[] = {X_U32 /* mask */,        X_U32 /* aclcnt */,
					   X_VECTOR(MAX_ACES, ACE), X_U32 /* dfaclcnt */,
					   X_VECTOR(MAX_ACES, ACE), X_END};

static const struct nfs_field getacl2_args[] = {X_STRUCT(nfs2_fhandle), X_U32 /* mask */, X_END};
static const struct nfs_field getacl2_ok[] = {X_STRUCT(nfs2_fattr), X_STRUCT(secattr), X_END};
static const struct nfs_field getacl2_res[] = {X_STATUS(getacl2_ok, nfs_void), X_END};
static const struct nfs_field setacl2_args[] = {X_STRUCT(nfs2_fhandle), X_STRUCT(secattr), X_END};
static const struct nfs_field access2_args[] = {X_STRUCT(nfs2_fhandle), X_U32 /* access */, X_END};
static const struct nfs_field access2_ok[] = {X_STRUCT(nfs2_fattr), X_U32 /* access */, X_END};
static const struct nfs_field access2_res[] = {X_STATUS(access2_ok, nfs_void), X_END};
static const struct nfs_field xattrdir2_args[] = {X_STRUCT(nfs2_fhandle), X_BOOL /* create */,
						  X_END};
static const struct nfs_field xattrdir2_ok[] = {X_STRUCT(nfs2_fhandle), X_STRUCT(nfs2_fattr),
						X_END};
static const struct nfs_field xattrdir2_res[] = {X_STATUS(xattrdir2_ok, nfs_void), X_END};

static const struct nfs_field getacl3_args[] = {X_STRUCT(nfs3_fh), X_U32 /* mask */, X_END};
static const struct nfs_field getacl3_ok[] = {X_STRUCT(nfs3_post_op_attr), X_STRUCT(secattr),
					      X_END};
static const struct nfs_field getacl3_res[] = {X_STATUS(getacl3_ok, nfs3_post_op_attr), X_END};
static const struct nfs_field setacl3_args[] = {X_STRUCT(nfs3_fh), X_STRUCT(secattr), X_END};
static const struct nfs_field attr3_res[] = {X_STATUS(nfs3_post_op_attr, nfs3_post_op_attr), X_END};
static const struct nfs_field xattrdir3_args[] = {X_STRUCT(nfs3_fh), X_BOOL /* create */, X_END};
static const struct nfs_field xattrdir3_ok[] = {X_STRUCT(nfs3_fh), X_STRUCT(nfs3_post_op_attr),
						X_END};
static const struct nfs_field xattrdir3_res[] = {X_STATUS(xattrdir3_ok, nfs_void), X_END};

/* clang-format off */
static const struct nfs_proc procs2[] = {
	/*	       name		arguments	results		bound				growth DDP */
	[0] = NFS_PROC("NULL",		nfs_void,	nfs_void,	0,				NOT,   NONE),
	[1] = NFS_PROC("GETACL",	getacl2_args,	getacl2_res,	4 + FATTR2 + SECATTR,		NOT,   NONE),
	[2] = NFS_PROC("SETACL",	setacl2_args,	nfs2_attrstat,	4 + FATTR2,			NOT,   NONE),
	[3] = NFS_PROC("GETATTR",	nfs2_fhandle,	nfs2_attrstat,	4 + FATTR2,			NOT,   NONE),
	[4] = NFS_PROC("ACCESS",	access2_args,	access2_res,	4 + FATTR2 + 4,			NOT,   NONE),
	[5] = NFS_PROC("GETXATTRDIR",	xattrdir2_args,	xattrdir2_res,	4 + FH2 + FATTR2,		NOT,   NONE),
};

static const struct nfs_proc procs3[] = {
	/*	       name		arguments	results		bound				growth DDP */
	[0] = NFS_PROC("NULL",		nfs_void,	nfs_void,	0,				NOT,   NONE),
	[1] = NFS_PROC("GETACL",	getacl3_args,	getacl3_res,	4 + POST_OP_ATTR + SECATTR,	NOT,   NONE),
	[2] = NFS_PROC("SETACL",	setacl3_args,	attr3_res,	4 + POST_OP_ATTR,		NOT,   NONE),
	[3] = NFS_PROC("GETXATTRDIR",	xattrdir3_args,	xattrdir3_res,	4 + FH3 + POST_OP_ATTR,		NOT,   NONE),
};
/* clang-format on */

const struct nfs_program nfs_program_nfsacl2 = {"NFSACL", NFS_PROGRAM_NFSACL, 2, ARRAY_SIZE(procs2),
						procs2};
const struct nfs_program nfs_program_nfsacl3 = {"NFSACL", NFS_PROGRAM_NFSACL, 3, ARRAY_SIZE(procs3),
						procs3};
