// SPDX-License-Identifier: BSD-3-Clause
/* The operations that NFSv4.2 added (RFC 7862 section 15), and extended attributes (RFC 8276). */
#include "nfs/nfs4_types.h"

#define NFS4ERR_OFFLOAD_NO_REQS 10094u

#define WRITE_RESPONSE          (NFS_VAR_BYTES(16) + 8 + 4 + 8)
#define COPY_OK                 (WRITE_RESPONSE + 2 * 4)
#define COPY_NOTIFY_OK          (12 + STATEID4 + 4 + NFS4_NETLOCS_BYTES)
#define XATTR                   NFS_VAR_BYTES(NFS4_XATTR_BYTES)

/* Stateid, offset and length. */
static const struct nfs_field range_args[] = {X_STATEID, X_U64, X_U64, X_END};

/* A name, a URL or a network address. */
NFS_UNION_TYPE(netloc_union, NULL, {1, nfs4_component}, {2, nfs4_component}, {3, nfs4_netaddr});
static const struct nfs_field netloc[] = {X_UNION(netloc_union), X_END};

static const struct nfs_field copy_args[] = {
	X_STATEID /* src */,      X_STATEID /* dst */,         X_U64 /* src_offset */,
	X_U64 /* dst_offset */,   X_U64 /* count */,           X_BOOL /* consecutive */,
	X_BOOL /* synchronous */, X_ARRAY(NFS_NO_MAX, netloc), X_END};
static const struct nfs_field copy_requirements[] = {X_BOOL, X_BOOL, X_END};
static const struct nfs_field copy_ok[] = {X_STRUCT(nfs4_write_response),
					   X_STRUCT(copy_requirements), X_END};
NFS_UNION_TYPE(copy_union, nfs_void, {0, copy_ok}, {NFS4ERR_OFFLOAD_NO_REQS, copy_requirements});
static const struct nfs_field copy_res[] = {X_UNION(copy_union), X_END};

static const struct nfs_field copy_notify_args[] = {X_STATEID, X_STRUCT(netloc), X_END};
static const struct nfs_field copy_notify_ok[] = {X_TIME /* lease_time */, X_STATEID,
						  X_ARRAY(NFS_NO_MAX, netloc), X_END};
static const struct nfs_field copy_notify_res[] = {X_STATUS(copy_notify_ok, nfs_void), X_END};

static const struct nfs_field io_advise_args[] = {X_STATEID, X_U64 /* offset */, X_U64 /* count */,
						  X_BITMAP /* hints */, X_END};
static const struct nfs_field hints[] = {X_BITMAP, X_END};
static const struct nfs_field io_advise_res[] = {X_STATUS(hints, nfs_void), X_END};

static const struct nfs_field layouterror_args[] = {
	X_U64 /* offset */, X_U64 /* length */, X_STATEID,
	X_VECTOR(NFS_NO_MAX, NFS_DEVICE_ID_BYTES + 8) /* device_error4 */, X_END};
static const struct nfs_field layoutstats_args[] = {X_U64 /* offset */,
						    X_U64 /* length */,
						    X_STATEID,
						    X_FIXED(16) /* read */,
						    X_FIXED(16) /* write */,
						    X_DEVICEID,
						    X_STRUCT(nfs4_layoutupdate),
						    X_END};

static const struct nfs_field offload_status_ok[] = {X_U64 /* count */,
						     X_VECTOR(1, 4) /* complete */, X_END};
static const struct nfs_field offload_status_res[] = {X_STATUS(offload_status_ok, nfs_void), X_END};

/* READ_PLUS: no implementation moves its data by RDMA, so they are not treated as DDP-eligible. */
static const struct nfs_field read_plus_args[] = {X_STATEID, X_U64 /* offset */, X_COUNT, X_END};
static const struct nfs_field data4[] = {X_U64 /* offset */, X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field hole[] = {X_U64 /* offset */, X_U64 /* length */, X_END};
NFS_UNION_TYPE(content, nfs_void, {0, data4}, {1, hole});
static const struct nfs_field read_plus_content[] = {X_UNION(content), X_END};
static const struct nfs_field read_plus_ok[] = {X_BOOL /* eof */,
						X_ARRAY(NFS_NO_MAX, read_plus_content), X_END};
static const struct nfs_field read_plus_res[] = {X_STATUS(read_plus_ok, nfs_void), X_END};

static const struct nfs_field seek_args[] = {X_STATEID, X_U64 /* offset */, X_U32 /* what */,
					     X_END};
static const struct nfs_field seek_ok[] = {X_BOOL /* eof */, X_U64 /* offset */, X_END};
static const struct nfs_field seek_res[] = {X_STATUS(seek_ok, nfs_void), X_END};

static const struct nfs_field write_same_args[] = {X_STATEID,
						   X_U32 /* stable */,
						   X_U64 /* adb_offset */,
						   X_U64 /* adb_block_size */,
						   X_U64 /* adb_block_count */,
						   X_U64 /* adb_reloff_blocknum */,
						   X_U32 /* adb_block_num */,
						   X_U64 /* adb_reloff_pattern */,
						   X_OPAQUE(NFS_NO_MAX) /* adb_pattern */,
						   X_END};
static const struct nfs_field write_same_res[] = {X_STATUS(nfs4_write_response, nfs_void), X_END};

static const struct nfs_field clone_args[] = {X_STATEID /* src */,    X_STATEID /* dst */,
					      X_U64 /* src_offset */, X_U64 /* dst_offset */,
					      X_U64 /* count */,      X_END};

/* RFC 8276 section 8.4. */
static const struct nfs_field xattr_value[] = {X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field getxattr_res[] = {X_STATUS(xattr_value, nfs_void), X_END};
static const struct nfs_field setxattr_args[] = {X_U32 /* option */, X_UTF8 /* key */,
						 X_OPAQUE(NFS_NO_MAX), X_END};
static const struct nfs_field listxattrs_args[] = {X_U64 /* cookie */, X_COUNT, X_END};
static const struct nfs_field listxattrs_ok[] = {
	X_U64 /* cookie */, X_ARRAY(NFS_NO_MAX, nfs4_component), X_BOOL /* eof */, X_END};
static const struct nfs_field listxattrs_res[] = {X_STATUS(listxattrs_ok, nfs_void), X_END};

#define FIRST 59u

/* clang-format off */
static const struct nfs_proc ops[] = {
	/*
	 * name                    arguments               results                 bound
	 * growth    DDP
	 */
	[59 - FIRST] = NFS_PROC("ALLOCATE",		range_args,		nfs4_status_res,	4,				NOT,      NONE),
	[60 - FIRST] = NFS_PROC("COPY",			copy_args,		copy_res,		4 + COPY_OK,			NOT,      NONE),
	[61 - FIRST] = NFS_PROC("COPY_NOTIFY",		copy_notify_args,	copy_notify_res,	4 + COPY_NOTIFY_OK,		NOT,      NONE),
	[62 - FIRST] = NFS_PROC("DEALLOCATE",		range_args,		nfs4_status_res,	4,				NOT,      NONE),
	[63 - FIRST] = NFS_PROC("IO_ADVISE",		io_advise_args,		io_advise_res,		4 + BITMAP4,			NOT,      NONE),
	[64 - FIRST] = NFS_PROC("LAYOUTERROR",		layouterror_args,	nfs4_status_res,	4,				NOT,      NONE),
	[65 - FIRST] = NFS_PROC("LAYOUTSTATS",		layoutstats_args,	nfs4_status_res,	4,				NOT,      NONE),
	[66 - FIRST] = NFS_PROC("OFFLOAD_CANCEL",	nfs4_stateid,		nfs4_status_res,	4,				NOT,      NONE),
	[67 - FIRST] = NFS_PROC("OFFLOAD_STATUS",	nfs4_stateid,		offload_status_res,	4 + 8 + NFS_VAR_BYTES(4),	NOT,      NONE),
	[68 - FIRST] = NFS_PROC("READ_PLUS",		read_plus_args,		read_plus_res,		4 + 4 + 4,			SEGMENTS, NONE),
	[69 - FIRST] = NFS_PROC("SEEK",			seek_args,		seek_res,		4 + 4 + 8,			NOT,      NONE),
	[70 - FIRST] = NFS_PROC("WRITE_SAME",		write_same_args,	write_same_res,		4 + WRITE_RESPONSE,		NOT,      NONE),
	[71 - FIRST] = NFS_PROC("CLONE",		clone_args,		nfs4_status_res,	4,				NOT,      NONE),
	[72 - FIRST] = NFS_PROC("GETXATTR",		nfs4_component,		getxattr_res,		4 + XATTR,			NOT,      NONE),
	[73 - FIRST] = NFS_PROC("SETXATTR",		setxattr_args,		nfs4_cinfo_res,		4 + CINFO4,			NOT,      NONE),
	[74 - FIRST] = NFS_PROC("LISTXATTRS",		listxattrs_args,	listxattrs_res,		4 + 8 + 4 + 4,			SLACK,    NONE),
	[75 - FIRST] = NFS_PROC("REMOVEXATTR",		nfs4_component,		nfs4_cinfo_res,		4 + CINFO4,			NOT,      NONE),
};
/* clang-format on */

const struct nfs_ops nfs_ops_42 = {2, FIRST, ARRAY_SIZE(ops), ops};
