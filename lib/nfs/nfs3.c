// SPDX-License-Identifier: BSD-3-Clause
/* NFS version 3 (RFC 1813). */
#include "nfs/nfs3_types.h"
#include "nfs/proc_table.h"

#define FATTR3       84u
#define FH3          NFS_VAR_BYTES(64)
#define POST_OP_FH3  (4 + FH3)
#define POST_OP_ATTR (4 + FATTR3)
#define WCC_DATA     (4 + 24 + POST_OP_ATTR)
#define MADE         (POST_OP_FH3 + POST_OP_ATTR + WCC_DATA) /* by CREATE and similar */
#define PATH         NFS_VAR_BYTES(NFS_PATH_BYTES)

/* Section 2.5 and 2.6. */
const struct nfs_field nfs3_fattr[] = {X_U32 /* type */,  X_U32 /* mode */,
				       X_U32 /* nlink */, X_U32 /* uid */,
				       X_U32 /* gid */,   X_U64 /* size */,
				       X_U64 /* used */,  X_U64 /* rdev */,
				       X_U64 /* fsid */,  X_U64 /* fileid */,
				       X_U64 /* atime */, X_U64 /* mtime */,
				       X_U64 /* ctime */, X_END};
const struct nfs_field nfs3_fh[] = {X_OPAQUE(64), X_END};
const struct nfs_field nfs3_post_op_attr[] = {X_OPTIONAL(nfs3_fattr), X_END};
static const struct nfs_field post_op_fh3[] = {X_OPTIONAL(nfs3_fh), X_END};
static const struct nfs_field wcc_attr[] = {X_U64 /* size */, X_U64 /* mtime */, X_U64 /* ctime */,
					    X_END};
static const struct nfs_field wcc_data[] = {X_OPTIONAL(wcc_attr), X_STRUCT(nfs3_post_op_attr),
					    X_END};

static const struct nfs_field u32[] = {X_U32, X_END};
static const struct nfs_field u64[] = {X_U64, X_END};
NFS_UNION_TYPE(set_time, nfs_void, {2, u64});
static const struct nfs_field sattr3[] = {X_OPTIONAL(u32) /* mode */,
					  X_OPTIONAL(u32) /* uid */,
					  X_OPTIONAL(u32) /* gid */,
					  X_OPTIONAL(u64) /* size */,
					  X_UNION(set_time) /* atime */,
					  X_UNION(set_time) /* mtime */,
					  X_END};
static const struct nfs_field diropargs3[] = {X_STRUCT(nfs3_fh), X_STRING(NFS_NO_MAX), X_END};

/* Sections 3.3.1 to 3.3.21: arguments, and results after a status. */
static const struct nfs_field getattr_ok[] = {X_STRUCT(nfs3_fattr), X_END};
static const struct nfs_field getattr_res[] = {X_STATUS(getattr_ok, nfs_void), X_END};

static const struct nfs_field setattr_args[] = {X_STRUCT(nfs3_fh), X_STRUCT(sattr3),
						X_OPTIONAL(u64) /* guard */, X_END};
static const struct nfs_field wcc_res[] = {X_STATUS(wcc_data, wcc_data), X_END};

static const struct nfs_field lookup_ok[] = {X_STRUCT(nfs3_fh), X_STRUCT(nfs3_post_op_attr),
					     X_STRUCT(nfs3_post_op_attr), X_END};
static const struct nfs_field lookup_res[] = {X_STATUS(lookup_ok, nfs3_post_op_attr), X_END};

static const struct nfs_field access_args[] = {X_STRUCT(nfs3_fh), X_U32, X_END};
static const struct nfs_field access_ok[] = {X_STRUCT(nfs3_post_op_attr), X_U32, X_END};
static const struct nfs_field access_res[] = {X_STATUS(access_ok, nfs3_post_op_attr), X_END};

static const struct nfs_field readlink_ok[] = {X_STRUCT(nfs3_post_op_attr), X_DATA(NFS_NO_MAX),
					       X_END};
static const struct nfs_field readlink_res[] = {X_STATUS(readlink_ok, nfs3_post_op_attr), X_END};

static const struct nfs_field read_args[] = {X_STRUCT(nfs3_fh), X_U64 /* offset */, X_COUNT, X_END};
static const struct nfs_field read_ok[] = {X_STRUCT(nfs3_post_op_attr), X_U32 /* count */,
					   X_BOOL /* eof */, X_DATA(NFS_NO_MAX), X_END};
static const struct nfs_field read_res[] = {X_STATUS(read_ok, nfs3_post_op_attr), X_END};

static const struct nfs_field write_args[] = {X_STRUCT(nfs3_fh),  X_U64 /* offset */,
					      X_U32 /* count */,  X_U32 /* stable */,
					      X_DATA(NFS_NO_MAX), X_END};
static const struct nfs_field write_ok[] = {X_STRUCT(wcc_data), X_U32 /* count */,
					    X_U32 /* committed */, X_FIXED(8) /* verf */, X_END};
static const struct nfs_field write_res[] = {X_STATUS(write_ok, wcc_data), X_END};

static const struct nfs_field createverf[] = {X_FIXED(8), X_END};
NFS_UNION_TYPE(createhow3, NULL, {0, sattr3}, {1, sattr3}, {2, createverf});
static const struct nfs_field create_args[] = {X_STRUCT(diropargs3), X_UNION(createhow3), X_END};
static const struct nfs_field create_ok[] = {X_STRUCT(post_op_fh3), X_STRUCT(nfs3_post_op_attr),
					     X_STRUCT(wcc_data), X_END};
static const struct nfs_field create_res[] = {X_STATUS(create_ok, wcc_data), X_END};
static const struct nfs_field mkdir_args[] = {X_STRUCT(diropargs3), X_STRUCT(sattr3), X_END};
static const struct nfs_field symlink_args[] = {X_STRUCT(diropargs3), X_STRUCT(sattr3),
						X_DATA(NFS_NO_MAX), X_END};
static const struct nfs_field devicedata3[] = {X_STRUCT(sattr3), X_U64, X_END};
NFS_UNION_TYPE(mknoddata3, nfs_void, {3, devicedata3}, {4, devicedata3}, {6, sattr3}, {7, sattr3});
static const struct nfs_field mknod_args[] = {X_STRUCT(diropargs3), X_UNION(mknoddata3), X_END};

static const struct nfs_field rename_args[] = {X_STRUCT(diropargs3), X_STRUCT(diropargs3), X_END};
static const struct nfs_field rename_wcc[] = {X_STRUCT(wcc_data), X_STRUCT(wcc_data), X_END};
static const struct nfs_field rename_res[] = {X_STATUS(rename_wcc, rename_wcc), X_END};
static const struct nfs_field link_args[] = {X_STRUCT(nfs3_fh), X_STRUCT(diropargs3), X_END};
static const struct nfs_field link_wcc[] = {X_STRUCT(nfs3_post_op_attr), X_STRUCT(wcc_data), X_END};
static const struct nfs_field link_res[] = {X_STATUS(link_wcc, link_wcc), X_END};

static const struct nfs_field readdir_args[] = {X_STRUCT(nfs3_fh), X_U64 /* cookie */,
						X_FIXED(8) /* cookieverf */, X_COUNT, X_END};
static const struct nfs_field entry3[] = {X_U64 /* fileid */, X_STRING(NFS_NO_MAX),
					  X_U64 /* cookie */, X_END};
static const struct nfs_field readdir_ok[] = {X_STRUCT(nfs3_post_op_attr), X_FIXED(8),
					      X_LIST(entry3), X_BOOL /* eof */, X_END};
static const struct nfs_field readdir_res[] = {X_STATUS(readdir_ok, nfs3_post_op_attr), X_END};
static const struct nfs_field readdirplus_args[] = {
	X_STRUCT(nfs3_fh),      X_U64 /* cookie */,     X_FIXED(8) /* cookieverf */,
	X_COUNT /* dircount */, X_COUNT /* maxcount */, X_END};
static const struct nfs_field entryplus3[] = {X_U64 /* fileid */,    X_STRING(NFS_NO_MAX),
					      X_U64 /* cookie */,    X_STRUCT(nfs3_post_op_attr),
					      X_STRUCT(post_op_fh3), X_END};
static const struct nfs_field readdirplus_ok[] = {X_STRUCT(nfs3_post_op_attr), X_FIXED(8),
						  X_LIST(entryplus3), X_BOOL /* eof */, X_END};
static const struct nfs_field readdirplus_res[] = {X_STATUS(readdirplus_ok, nfs3_post_op_attr),
						   X_END};

static const struct nfs_field fsstat_ok[] = {
	X_STRUCT(nfs3_post_op_attr), X_U64 /* tbytes */,   X_U64 /* fbytes */,
	X_U64 /* abytes */,          X_U64 /* tfiles */,   X_U64 /* ffiles */,
	X_U64 /* afiles */,          X_U32 /* invarsec */, X_END};
static const struct nfs_field fsstat_res[] = {X_STATUS(fsstat_ok, nfs3_post_op_attr), X_END};
static const struct nfs_field fsinfo_ok[] = {
	X_STRUCT(nfs3_post_op_attr), X_U32 /* rtmax */,      X_U32 /* rtpref */,
	X_U32 /* rtmult */,          X_U32 /* wtmax */,      X_U32 /* wtpref */,
	X_U32 /* wtmult */,          X_U32 /* dtpref */,     X_U64 /* maxfilesize */,
	X_U64 /* time_delta */,      X_U32 /* properties */, X_END};
static const struct nfs_field fsinfo_res[] = {X_STATUS(fsinfo_ok, nfs3_post_op_attr), X_END};
static const struct nfs_field pathconf_ok[] = {
	X_STRUCT(nfs3_post_op_attr),   X_U32 /* linkmax */,
	X_U32 /* name_max */,          X_BOOL /* no_trunc */,
	X_BOOL /* chown_restricted */, X_BOOL /* case_insensitive */,
	X_BOOL /* case_preserving */,  X_END};
static const struct nfs_field pathconf_res[] = {X_STATUS(pathconf_ok, nfs3_post_op_attr), X_END};

static const struct nfs_field commit_args[] = {X_STRUCT(nfs3_fh), X_U64, X_U32, X_END};
static const struct nfs_field commit_ok[] = {X_STRUCT(wcc_data), X_FIXED(8) /* verf */, X_END};
static const struct nfs_field commit_res[] = {X_STATUS(commit_ok, wcc_data), X_END};

/* clang-format off */
static const struct nfs_proc procs[] = {
	/*		name		arguments		results			bound					growth DDP */
	[0] =  NFS_PROC("NULL",		nfs_void,		nfs_void,		0,					NOT,   NONE),
	[1] =  NFS_PROC("GETATTR",	nfs3_fh,		getattr_res,		4 + FATTR3,				NOT,   NONE),
	[2] =  NFS_PROC("SETATTR",	setattr_args,		wcc_res,		4 + WCC_DATA,				NOT,   NONE),
	[3] =  NFS_PROC("LOOKUP",	diropargs3,		lookup_res,		4 + FH3 + 2 * POST_OP_ATTR,		NOT,   NONE),
	[4] =  NFS_PROC("ACCESS",	access_args,		access_res,		4 + POST_OP_ATTR + 4,			NOT,   NONE),
	[5] =  NFS_PROC("READLINK",	nfs3_fh,		readlink_res,		4 + POST_OP_ATTR + PATH,		NOT,   RESULTS),
	[6] =  NFS_PROC("READ",		read_args,		read_res,		4 + POST_OP_ATTR + 3 * 4,		COUNT, RESULTS),
	[7] =  NFS_PROC("WRITE",	write_args,		write_res,		4 + WCC_DATA + 16,			NOT,   ARGS),
	[8] =  NFS_PROC("CREATE",	create_args,		create_res,		4 + MADE,				NOT,   NONE),
	[9] =  NFS_PROC("MKDIR",	mkdir_args,		create_res,		4 + MADE,				NOT,   NONE),
	[10] = NFS_PROC("SYMLINK",	symlink_args,		create_res,		4 + MADE,				NOT,   TARGET),
	[11] = NFS_PROC("MKNOD",	mknod_args,		create_res,		4 + MADE,				NOT,   NONE),
	[12] = NFS_PROC("REMOVE",	diropargs3,		wcc_res,		4 + WCC_DATA,				NOT,   NONE),
	[13] = NFS_PROC("RMDIR",	diropargs3,		wcc_res,		4 + WCC_DATA,				NOT,   NONE),
	[14] = NFS_PROC("RENAME",	rename_args,		rename_res,		4 + 2 * WCC_DATA,			NOT,   NONE),
	[15] = NFS_PROC("LINK",		link_args,		link_res,		4 + POST_OP_ATTR + WCC_DATA,		NOT,   NONE),
	[16] = NFS_PROC("READDIR",	readdir_args,		readdir_res,		4 + POST_OP_ATTR + 8 + 8,		SLACK, NONE),
	[17] = NFS_PROC("READDIRPLUS",	readdirplus_args,	readdirplus_res,	4 + POST_OP_ATTR + 8 + 8,		SLACK, NONE),
	[18] = NFS_PROC("FSSTAT",	nfs3_fh,		fsstat_res,		4 + POST_OP_ATTR + 6 * 8 + 4,		NOT,   NONE),
	[19] = NFS_PROC("FSINFO",	nfs3_fh,		fsinfo_res,		4 + POST_OP_ATTR + 7 * 4 + 8 + 8 + 4,	NOT,   NONE),
	[20] = NFS_PROC("PATHCONF",	nfs3_fh,		pathconf_res,		4 + POST_OP_ATTR + 6 * 4,		NOT,   NONE),
	[21] = NFS_PROC("COMMIT",	commit_args,		commit_res,		4 + WCC_DATA + 8,			NOT,   NONE),
};
/* clang-format on */

const struct nfs_program nfs_program_nfs3 = {"NFS", NFS_PROGRAM_NFS, 3, ARRAY_SIZE(procs), procs};
