// SPDX-License-Identifier: BSD-3-Clause
/* Port mapper version 2 and RPCBIND versions 3 and 4 (RFC 1833). */
#include "nfs/proc_table.h"

#define UADDR NFS_VAR_BYTES(NFS_UADDR_BYTES)

/* Section 3.1. */
static const struct nfs_field u32[] = {X_U32, X_END};
static const struct nfs_field mapping[] = {X_U32 /* prog */, X_U32 /* vers */, X_U32 /* prot */,
					   X_U32 /* port */, X_END};
static const struct nfs_field pmaplist[] = {X_LIST(mapping), X_END};
static const struct nfs_field call_args[] = {X_U32 /* prog */, X_U32 /* vers */, X_U32 /* proc */,
					     X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field call_result[] = {X_U32 /* port */, X_OPAQUE(NFS_NO_MAX), X_END};

/* Section 2.1. */
static const struct nfs_field rpcb[] = {X_U32 /* prog */,
					X_U32 /* vers */,
					X_STRING(NFS_NO_MAX) /* netid */,
					X_STRING(NFS_NO_MAX) /* addr */,
					X_STRING(NFS_NO_MAX) /* owner */,
					X_END};
static const struct nfs_field rpcblist[] = {X_LIST(rpcb), X_END};
static const struct nfs_field string[] = {X_STRING(NFS_NO_MAX), X_END};
static const struct nfs_field rmtcall_res[] = {X_STRING(NFS_NO_MAX), X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field netbuf[] = {X_U32 /* maxlen */, X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field rpcb_entry[] = {X_STRING(NFS_NO_MAX) /* maddr */,
					      X_STRING(NFS_NO_MAX) /* nc_netid */,
					      X_U32 /* nc_semantics */,
					      X_STRING(NFS_NO_MAX) /* nc_protofmly */,
					      X_STRING(NFS_NO_MAX) /* nc_proto */,
					      X_END};
static const struct nfs_field entry_list[] = {X_LIST(rpcb_entry), X_END};
static const struct nfs_field addrlist_stat[] = {X_U32 /* prog */,
						 X_U32 /* vers */,
						 X_U32 /* success */,
						 X_U32 /* failure */,
						 X_STRING(NFS_NO_MAX) /* netid */,
						 X_END};
static const struct nfs_field rmtcall_stat[] = {X_U32 /* prog */,
						X_U32 /* vers */,
						X_U32 /* proc */,
						X_U32 /* success */,
						X_U32 /* failure */,
						X_BOOL /* indirect */,
						X_STRING(NFS_NO_MAX) /* netid */,
						X_END};
static const struct nfs_field stat[] = {X_FIXED(13 * 4) /* info */, X_U32 /* setinfo */,
					X_U32 /* unsetinfo */,      X_LIST(addrlist_stat),
					X_LIST(rmtcall_stat),       X_END};
static const struct nfs_field stat_byvers[] = {X_STRUCT(stat), X_STRUCT(stat), X_STRUCT(stat),
					       X_END};

/* clang-format off */
static const struct nfs_proc procs2[] = {
	/*		name		arguments	results		bound		growth DDP */
	[0] =  NFS_PROC("NULL",		nfs_void,	nfs_void,	0,		NOT,   NONE),
	[1] =  NFS_PROC("SET",		mapping,	u32,		4,		NOT,   NONE),
	[2] =  NFS_PROC("UNSET",	mapping,	u32,		4,		NOT,   NONE),
	[3] =  NFS_PROC("GETPORT",	mapping,	u32,		4,		NOT,   NONE),
	[4] =  NFS_PROC("DUMP",		nfs_void,	pmaplist,	0,		FREELY, NONE),
	[5] =  NFS_PROC("CALLIT",	call_args,	call_result,	0,		FREELY, NONE),
};

static const struct nfs_proc procs4[] = {
	/*		name		arguments	results		bound		growth DDP */
	[0] =  NFS_PROC("NULL",		nfs_void,	nfs_void,	0,		NOT,   NONE),
	[1] =  NFS_PROC("SET",		rpcb,		u32,		4,		NOT,   NONE),
	[2] =  NFS_PROC("UNSET",	rpcb,		u32,		4,		NOT,   NONE),
	[3] =  NFS_PROC("GETADDR",	rpcb,		string,		UADDR,		NOT,   NONE),
	[4] =  NFS_PROC("DUMP",		nfs_void,	rpcblist,	0,		FREELY, NONE),
	[5] =  NFS_PROC("BCAST",	call_args,	rmtcall_res,	0,		FREELY, NONE), /* version 3: CALLIT */
	[6] =  NFS_PROC("GETTIME",	nfs_void,	u32,		4,		NOT,   NONE),
	[7] =  NFS_PROC("UADDR2TADDR",	string,		netbuf,		4 + UADDR,	NOT,   NONE),
	[8] =  NFS_PROC("TADDR2UADDR",	netbuf,		string,		UADDR,		NOT,   NONE),
	[9] =  NFS_PROC("GETVERSADDR",	rpcb,		string,		UADDR,		NOT,   NONE),
	[10] = NFS_PROC("INDIRECT",	call_args,	rmtcall_res,	0,		FREELY, NONE),
	[11] = NFS_PROC("GETADDRLIST",	rpcb,		entry_list,	0,		FREELY, NONE),
	[12] = NFS_PROC("GETSTAT",	nfs_void,	stat_byvers,	0,		FREELY, NONE),
};
/* clang-format on */

/* Version 3 is version 4 up to TADDR2UADDR. */
const struct nfs_program nfs_program_rpcbind2 = {"RPCBIND", NFS_PROGRAM_RPCBIND, 2,
						 ARRAY_SIZE(procs2), procs2};
const struct nfs_program nfs_program_rpcbind3 = {"RPCBIND", NFS_PROGRAM_RPCBIND, 3, 9, procs4};
const struct nfs_program nfs_program_rpcbind4 = {"RPCBIND", NFS_PROGRAM_RPCBIND, 4,
						 ARRAY_SIZE(procs4), procs4};
