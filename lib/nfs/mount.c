// SPDX-License-Identifier: BSD-3-Clause
/* MOUNT versions 1 (RFC 1094 appendix A), 2 (with PATHCONF) and 3 (RFC 1813 appendix I). */
#include "nfs/proc_table.h"

#define FHSIZE   32u
#define FHSIZE3  64u
#define MNT3     (NFS_VAR_BYTES(FHSIZE3) + 4 + 4 * NFS_MOUNT_FLAVORS)
#define PATHCONF 40u /* ten values, each a word on the wire */

static const struct nfs_field dirpath[] = {X_STRING(1024), X_END};

static const struct nfs_field fhandle[] = {X_FIXED(FHSIZE), X_END};
static const struct nfs_field mnt_res[] = {X_STATUS(fhandle, nfs_void), X_END};
static const struct nfs_field mountres3_ok[] = {X_OPAQUE(FHSIZE3), X_VECTOR(NFS_NO_MAX, 4), X_END};
static const struct nfs_field mnt3_res[] = {X_STATUS(mountres3_ok, nfs_void), X_END};

static const struct nfs_field mountbody[] = {X_STRING(NFS_NO_MAX) /* hostname */,
					     X_STRING(1024) /* directory */, X_END};
static const struct nfs_field dump_res[] = {X_LIST(mountbody), X_END};

static const struct nfs_field groupnode[] = {X_STRING(NFS_NO_MAX), X_END};
static const struct nfs_field exportnode[] = {X_STRING(1024), X_LIST(groupnode), X_END};
static const struct nfs_field export_res[] = {X_LIST(exportnode), X_END};

static const struct nfs_field pathconf_res[] = {X_FIXED(PATHCONF), X_END};

/* clang-format off */
static const struct nfs_proc procs2[] = {
	/*	       name		arguments	results		bound		growth DDP */
	[0] = NFS_PROC("NULL",		nfs_void,	nfs_void,	0,		NOT,   NONE),
	[1] = NFS_PROC("MNT",		dirpath,	mnt_res,	4 + FHSIZE,	NOT,   NONE),
	[2] = NFS_PROC("DUMP",		nfs_void,	dump_res,	0,		FREELY, NONE),
	[3] = NFS_PROC("UMNT",		dirpath,	nfs_void,	0,		NOT,   NONE),
	[4] = NFS_PROC("UMNTALL",	nfs_void,	nfs_void,	0,		NOT,   NONE),
	[5] = NFS_PROC("EXPORT",	nfs_void,	export_res,	0,		FREELY, NONE),
	[6] = NFS_PROC("EXPORTALL",	nfs_void,	export_res,	0,		FREELY, NONE),
	[7] = NFS_PROC("PATHCONF",	dirpath,	pathconf_res,	PATHCONF,	NOT,   NONE),
};

static const struct nfs_proc procs3[] = {
	/*	       name		arguments	results		bound		growth DDP */
	[0] = NFS_PROC("NULL",		nfs_void,	nfs_void,	0,		NOT,   NONE),
	[1] = NFS_PROC("MNT",		dirpath,	mnt3_res,	4 + MNT3,	NOT,   NONE),
	[2] = NFS_PROC("DUMP",		nfs_void,	dump_res,	0,		FREELY, NONE),
	[3] = NFS_PROC("UMNT",		dirpath,	nfs_void,	0,		NOT,   NONE),
	[4] = NFS_PROC("UMNTALL",	nfs_void,	nfs_void,	0,		NOT,   NONE),
	[5] = NFS_PROC("EXPORT",	nfs_void,	export_res,	0,		FREELY, NONE),
};
/* clang-format on */

/* Version 1 is version 2 without its last procedure. */
const struct nfs_program nfs_program_mount1 = {"MOUNT", NFS_PROGRAM_MOUNT, 1,
					       ARRAY_SIZE(procs2) - 1, procs2};
const struct nfs_program nfs_program_mount2 = {"MOUNT", NFS_PROGRAM_MOUNT, 2, ARRAY_SIZE(procs2),
					       procs2};
const struct nfs_program nfs_program_mount3 = {"MOUNT", NFS_PROGRAM_MOUNT, 3, ARRAY_SIZE(procs3),
					       procs3};
