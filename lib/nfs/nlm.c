// SPDX-License-Identifier: BSD-3-Clause
/* The Network Lock Manager: versions 1 and 3 (32-bit ranges), 4 (64-bit; RFC 1813 appendix II). */
#include "nfs/proc_table.h"

#define NETOBJ     NFS_VAR_BYTES(1024)
#define HOLDER     (4 + 4 + NETOBJ + 2 * 4)
#define HOLDER4    (4 + 4 + NETOBJ + 2 * 8)
#define NLM_DENIED 1u
#define MAXNAME    1024u

static const struct nfs_field holder[] = {X_BOOL /* exclusive */,  X_U32 /* svid */,
					  X_OPAQUE(1024) /* oh */, X_U32 /* l_offset */,
					  X_U32 /* l_len */,       X_END};
static const struct nfs_field holder4[] = {X_BOOL, X_U32, X_OPAQUE(1024), X_U64, X_U64, X_END};
NFS_UNION_TYPE(testrply, nfs_void, {NLM_DENIED, holder});
NFS_UNION_TYPE(testrply4, nfs_void, {NLM_DENIED, holder4});
static const struct nfs_field testres[] = {X_OPAQUE(1024) /* cookie */, X_UNION(testrply), X_END};
static const struct nfs_field testres4[] = {X_OPAQUE(1024) /* cookie */, X_UNION(testrply4), X_END};
static const struct nfs_field res[] = {X_OPAQUE(1024) /* cookie */, X_U32 /* stat */, X_END};
static const struct nfs_field shareres[] = {X_OPAQUE(1024) /* cookie */, X_U32 /* stat */,
					    X_U32 /* sequence */, X_END};

static const struct nfs_field lock[] = {X_STRING(MAXNAME) /* caller_name */,
					X_OPAQUE(1024) /* fh */,
					X_OPAQUE(1024) /* oh */,
					X_U32 /* svid */,
					X_U32 /* l_offset */,
					X_U32 /* l_len */,
					X_END};
static const struct nfs_field lock4[] = {
	X_STRING(MAXNAME), X_OPAQUE(1024), X_OPAQUE(1024), X_U32, X_U64, X_U64, X_END};
static const struct nfs_field lockargs[] = {
	X_OPAQUE(1024), X_BOOL /* block */,   X_BOOL /* exclusive */,
	X_STRUCT(lock), X_BOOL /* reclaim */, X_U32 /* state */,
	X_END};
static const struct nfs_field lockargs4[] = {X_OPAQUE(1024), X_BOOL, X_BOOL, X_STRUCT(lock4),
					     X_BOOL,         X_U32,  X_END};
static const struct nfs_field cancargs[] = {X_OPAQUE(1024), X_BOOL, X_BOOL, X_STRUCT(lock), X_END};
static const struct nfs_field cancargs4[] = {X_OPAQUE(1024), X_BOOL, X_BOOL, X_STRUCT(lock4),
					     X_END};
static const struct nfs_field testargs[] = {X_OPAQUE(1024), X_BOOL /* exclusive */, X_STRUCT(lock),
					    X_END};
static const struct nfs_field testargs4[] = {X_OPAQUE(1024), X_BOOL, X_STRUCT(lock4), X_END};
static const struct nfs_field unlockargs[] = {X_OPAQUE(1024), X_STRUCT(lock), X_END};
static const struct nfs_field unlockargs4[] = {X_OPAQUE(1024), X_STRUCT(lock4), X_END};
static const struct nfs_field shareargs[] = {X_OPAQUE(1024) /* cookie */,
					     X_STRING(MAXNAME) /* caller_name */,
					     X_OPAQUE(1024) /* fh */,
					     X_OPAQUE(1024) /* oh */,
					     X_U32 /* mode */,
					     X_U32 /* access */,
					     X_BOOL /* reclaim */,
					     X_END};
static const struct nfs_field notify[] = {X_STRING(MAXNAME), X_U32 /* state */, X_END};

/* clang-format off */
/*
 * The procedures that versions 3 and 4 added to version 1, from 20 on, have the same numbers in
 * both.
 */
#define NLM_PROCS(testargs, lockargs, cancargs, unlockargs, testres, holder_bytes) \
	/*		  name		arguments	results		bound		growth DDP */ \
	[0] =  NFS_PROC("NULL",		nfs_void,	nfs_void,	0,		NOT, NONE), \
	[1] =  NFS_PROC("TEST",		testargs,	testres,	NETOBJ + 4 + (holder_bytes), NOT, NONE), \
	[2] =  NFS_PROC("LOCK",		lockargs,	res,		NETOBJ + 4,	NOT, NONE), \
	[3] =  NFS_PROC("CANCEL",	cancargs,	res,		NETOBJ + 4,	NOT, NONE), \
	[4] =  NFS_PROC("UNLOCK",	unlockargs,	res,		NETOBJ + 4,	NOT, NONE), \
	[5] =  NFS_PROC("GRANTED",	testargs,	res,		NETOBJ + 4,	NOT, NONE), \
	[6] =  NFS_PROC("TEST_MSG",	testargs,	nfs_void,	0,		NOT, NONE), \
	[7] =  NFS_PROC("LOCK_MSG",	lockargs,	nfs_void,	0,		NOT, NONE), \
	[8] =  NFS_PROC("CANCEL_MSG",	cancargs,	nfs_void,	0,		NOT, NONE), \
	[9] =  NFS_PROC("UNLOCK_MSG",	unlockargs,	nfs_void,	0,		NOT, NONE), \
	[10] = NFS_PROC("GRANTED_MSG",	testargs,	nfs_void,	0,		NOT, NONE), \
	[11] = NFS_PROC("TEST_RES",	testres,	nfs_void,	0,		NOT, NONE), \
	[12] = NFS_PROC("LOCK_RES",	res,		nfs_void,	0,		NOT, NONE), \
	[13] = NFS_PROC("CANCEL_RES",	res,		nfs_void,	0,		NOT, NONE), \
	[14] = NFS_PROC("UNLOCK_RES",	res,		nfs_void,	0,		NOT, NONE), \
	[15] = NFS_PROC("GRANTED_RES",	res,		nfs_void,	0,		NOT, NONE), \
	[20] = NFS_PROC("SHARE",	shareargs,	shareres,	NETOBJ + 4 + 4,	NOT, NONE), \
	[21] = NFS_PROC("UNSHARE",	shareargs,	shareres,	NETOBJ + 4 + 4,	NOT, NONE), \
	[22] = NFS_PROC("NM_LOCK",	lockargs,	res,		NETOBJ + 4,	NOT, NONE), \
	[23] = NFS_PROC("FREE_ALL",	notify,		nfs_void,	0,		NOT, NONE),

static const struct nfs_proc procs3[] = {
	NLM_PROCS(testargs, lockargs, cancargs, unlockargs, testres, HOLDER)
};

static const struct nfs_proc procs4[] = {
	NLM_PROCS(testargs4, lockargs4, cancargs4, unlockargs4, testres4, HOLDER4)
};
/* clang-format on */

const struct nfs_program nfs_program_nlm1 = {"NLM", NFS_PROGRAM_NLM, 1, 16, procs3};
const struct nfs_program nfs_program_nlm3 = {"NLM", NFS_PROGRAM_NLM, 3, ARRAY_SIZE(procs3), procs3};
const struct nfs_program nfs_program_nlm4 = {"NLM", NFS_PROGRAM_NLM, 4, ARRAY_SIZE(procs4), procs4};
