// SPDX-License-Identifier: BSD-3-Clause
/* The Network Status Monitor, version 1 (X/Open XNFS chapter 11). */
#include "nfs/proc_table.h"

#define MAXSTR 1024u

static const struct nfs_field sm_name[] = {X_STRING(MAXSTR), X_END};
static const struct nfs_field my_id[] = {X_STRING(MAXSTR), X_U32 /* program */, X_U32 /* version */,
					 X_U32 /* procedure */, X_END};
static const struct nfs_field mon_id[] = {X_STRING(MAXSTR), X_STRUCT(my_id), X_END};
static const struct nfs_field mon[] = {X_STRUCT(mon_id), X_FIXED(16) /* priv */, X_END};
static const struct nfs_field stat_chge[] = {X_STRING(MAXSTR), X_U32 /* state */, X_END};
static const struct nfs_field sm_stat[] = {X_U32 /* state */, X_END};
static const struct nfs_field sm_stat_res[] = {X_U32 /* res_stat */, X_U32 /* state */, X_END};

/* clang-format off */
static const struct nfs_proc procs[] = {
	/*	       name		arguments	results		bound	growth DDP */
	[0] = NFS_PROC("NULL",		nfs_void,	nfs_void,	0,	NOT,   NONE),
	[1] = NFS_PROC("STAT",		sm_name,	sm_stat_res,	8,	NOT,   NONE),
	[2] = NFS_PROC("MON",		mon,		sm_stat_res,	8,	NOT,   NONE),
	[3] = NFS_PROC("UNMON",		mon_id,		sm_stat,	4,	NOT,   NONE),
	[4] = NFS_PROC("UNMON_ALL",	my_id,		sm_stat,	4,	NOT,   NONE),
	[5] = NFS_PROC("SIMU_CRASH",	nfs_void,	nfs_void,	0,	NOT,   NONE),
	[6] = NFS_PROC("NOTIFY",	stat_chge,	nfs_void,	0,	NOT,   NONE),
};
/* clang-format on */

const struct nfs_program nfs_program_nsm1 = {"NSM", NFS_PROGRAM_NSM, 1, ARRAY_SIZE(procs), procs};
