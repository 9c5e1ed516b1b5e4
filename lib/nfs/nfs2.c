// SPDX-License-Identifier: BSD-3-Clause
/* NFS version 2 (RFC 1094). */
#include "nfs/nfs2_types.h"
#include "nfs/proc_table.h"

#define FATTR   (17 * 4u)
#define FHANDLE 32u
#define MAXPATH 1024u
#define MAXNAME 255u

/* Section 2.3. */
const struct nfs_field nfs2_fhandle[] = {X_FIXED(FHANDLE), X_END};
const struct nfs_field nfs2_fattr[] = {
	X_U32 /* type */,      X_U32 /* mode */,   X_U32 /* nlink */,
	X_U32 /* uid */,       X_U32 /* gid */,    X_U32 /* size */,
	X_U32 /* blocksize */, X_U32 /* rdev */,   X_U32 /* blocks */,
	X_U32 /* fsid */,      X_U32 /* fileid */, X_U64 /* atime */,
	X_U64 /* mtime */,     X_U64 /* ctime */,  X_END};
const struct nfs_field nfs2_attrstat[] = {X_STATUS(nfs2_fattr, nfs_void), X_END};
static const struct nfs_field sattr[] = {X_U32 /* mode */,
					 X_U32 /* uid */,
					 X_U32 /* gid */,
					 X_U32 /* size */,
					 X_U64 /* atime */,
					 X_U64 /* mtime */,
					 X_END};
static const struct nfs_field diropargs[] = {X_STRUCT(nfs2_fhandle), X_STRING(MAXNAME), X_END};
static const struct nfs_field dirop_ok[] = {X_STRUCT(nfs2_fhandle), X_STRUCT(nfs2_fattr), X_END};
static const struct nfs_field diropres[] = {X_STATUS(dirop_ok, nfs_void), X_END};
static const struct nfs_field stat_res[] = {X_STATUS(nfs_void, nfs_void), X_END};

/* Section 2.2: arguments and results. */
static const struct nfs_field sattrargs[] = {X_STRUCT(nfs2_fhandle), X_STRUCT(sattr), X_END};

static const struct nfs_field readlink_ok[] = {X_DATA(MAXPATH), X_END};
static const struct nfs_field readlink_res[] = {X_STATUS(readlink_ok, nfs_void), X_END};

static const struct nfs_field read_args[] = {X_STRUCT(nfs2_fhandle), X_U32 /* offset */, X_COUNT,
					     X_U32 /* totalcount */, X_END};
static const struct nfs_field read_ok[] = {X_STRUCT(nfs2_fattr), X_DATA(NFS_NO_MAX), X_END};
static const struct nfs_field read_res[] = {X_STATUS(read_ok, nfs_void), X_END};

static const struct nfs_field write_args[] = {X_STRUCT(nfs2_fhandle), X_U32 /* beginoffset */,
					      X_U32 /* offset */,     X_U32 /* totalcount */,
					      X_DATA(NFS_NO_MAX),     X_END};
static const struct nfs_field create_args[] = {X_STRUCT(diropargs), X_STRUCT(sattr), X_END};
static const struct nfs_field rename_args[] = {X_STRUCT(diropargs), X_STRUCT(diropargs), X_END};
static const struct nfs_field link_args[] = {X_STRUCT(nfs2_fhandle), X_STRUCT(diropargs), X_END};
static const struct nfs_field symlink_args[] = {X_STRUCT(diropargs), X_DATA(MAXPATH),
						X_STRUCT(sattr), X_END};

static const struct nfs_field readdir_args[] = {X_STRUCT(nfs2_fhandle), X_U32 /* cookie */, X_COUNT,
						X_END};
static const struct nfs_field entry[] = {X_U32 /* fileid */, X_STRING(MAXNAME), X_U32 /* cookie */,
					 X_END};
static const struct nfs_field readdir_ok[] = {X_LIST(entry), X_BOOL /* eof */, X_END};
static const struct nfs_field readdir_res[] = {X_STATUS(readdir_ok, nfs_void), X_END};

static const struct nfs_field statfs_ok[] = {X_U32 /* tsize */,  X_U32 /* bsize */,
					     X_U32 /* blocks */, X_U32 /* bfree */,
					     X_U32 /* bavail */, X_END};
static const struct nfs_field statfs_res[] = {X_STATUS(statfs_ok, nfs_void), X_END};

/* clang-format off */
static const struct nfs_proc procs[] = {
	/*		name		arguments	results		bound				growth DDP */
	[0] =  NFS_PROC("NULL",		nfs_void,	nfs_void,	0,				NOT,   NONE),
	[1] =  NFS_PROC("GETATTR",	nfs2_fhandle,	nfs2_attrstat,	4 + FATTR,			NOT,   NONE),
	[2] =  NFS_PROC("SETATTR",	sattrargs,	nfs2_attrstat,	4 + FATTR,			NOT,   NONE),
	[3] =  NFS_PROC("ROOT",		nfs_void,	nfs_void,	0,				NOT,   NONE),
	[4] =  NFS_PROC("LOOKUP",	diropargs,	diropres,	4 + FHANDLE + FATTR,		NOT,   NONE),
	[5] =  NFS_PROC("READLINK",	nfs2_fhandle,	readlink_res,	4 + NFS_VAR_BYTES(MAXPATH),	NOT,   RESULTS),
	[6] =  NFS_PROC("READ",		read_args,	read_res,	4 + FATTR + 4,			COUNT, RESULTS),
	[7] =  NFS_PROC("WRITECACHE",	nfs_void,	nfs_void,	0,				NOT,   NONE),
	[8] =  NFS_PROC("WRITE",	write_args,	nfs2_attrstat,	4 + FATTR,			NOT,   ARGS),
	[9] =  NFS_PROC("CREATE",	create_args,	diropres,	4 + FHANDLE + FATTR,		NOT,   NONE),
	[10] = NFS_PROC("REMOVE",	diropargs,	stat_res,	4,				NOT,   NONE),
	[11] = NFS_PROC("RENAME",	rename_args,	stat_res,	4,				NOT,   NONE),
	[12] = NFS_PROC("LINK",		link_args,	stat_res,	4,				NOT,   NONE),
	[13] = NFS_PROC("SYMLINK",	symlink_args,	stat_res,	4,				NOT,   TARGET),
	[14] = NFS_PROC("MKDIR",	create_args,	diropres,	4 + FHANDLE + FATTR,		NOT,   NONE),
	[15] = NFS_PROC("RMDIR",	diropargs,	stat_res,	4,				NOT,   NONE),
	[16] = NFS_PROC("READDIR",	readdir_args,	readdir_res,	4 + 4 + 4,			SLACK, NONE),
	[17] = NFS_PROC("STATFS",	nfs2_fhandle,	statfs_res,	4 + 5 * 4,			NOT,   NONE),
};
/* clang-format on */

const struct nfs_program nfs_program_nfs2 = {"NFS", NFS_PROGRAM_NFS, 2, ARRAY_SIZE(procs), procs};
