/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocols as tables: one row per procedure or operation, to be compared with the RFCs.
 *
 * A row has the types of the arguments and the results, the maximum size of the results, and which
 * of the two has a DDP-eligible data item (RFC 8267). Unused numbers have no name.
 */
#ifndef NFS_PROC_TABLE_H
#define NFS_PROC_TABLE_H

#include "nfs/xdr_type.h"

/* How the results can grow beyond the row's bound. */
enum nfs_growth {
	NFS_GROWS_NOT,
	NFS_GROWS_COUNT,    /* by the arguments' count, rounded up to a word */
	NFS_GROWS_SLACK,    /* the same, plus NFS_COUNT_SLACK_BYTES */
	NFS_GROWS_SEGMENTS, /* by the count, in segments with a header each */
	NFS_GROWS_WORDS,    /* by a word per count */
	NFS_GROWS_DEVICES,  /* by a device ID per count */
	NFS_GROWS_ATTRS,    /* by the requested attributes */
	NFS_GROWS_FREELY,   /* the arguments do not bound them */
};

#define NFS_UNBOUNDED UINT64_MAX /* instead of a size: not bounded */

enum nfs_ddp {
	NFS_DDP_NONE,
	NFS_DDP_ARGS,   /* the data of a WRITE */
	NFS_DDP_TARGET, /* also in the arguments: the target of a new link */
	NFS_DDP_RESULTS,
};

struct nfs_proc {
	const char *name;
	const struct nfs_field *args, *results;
	uint32_t bound_bytes; /* of the results, including the status, without growth */
	uint8_t growth;       /* enum nfs_growth */
	uint8_t ddp;          /* enum nfs_ddp */
};

#define NFS_PROC(name, args, results, bound, growth, ddp)                                          \
	{                                                                                          \
		name, args, results, bound, NFS_GROWS_##growth, NFS_DDP_##ddp                      \
	}

struct nfs_program {
	const char *name; /* without the version */
	uint32_t prog, vers;
	unsigned count;
	const struct nfs_proc *procs; /* indexed by procedure number */
};

/* The operations that one minor version of NFSv4 added, as in the RFCs. */
struct nfs_ops {
	uint32_t minor_version, first;
	unsigned count;
	const struct nfs_proc *ops; /* indexed by operation number - first */
};

#define NFS_PROGRAM_RPCBIND   100000u
#define NFS_PROGRAM_NFS       100003u
#define NFS_PROGRAM_MOUNT     100005u
#define NFS_PROGRAM_NLM       100021u
#define NFS_PROGRAM_NSM       100024u
#define NFS_PROGRAM_NFSACL    100227u
#define NFS_PROGRAM_CALLBACK  0x40000000u /* RFC 7530 section 18; the number that clients choose */

#define NFS_PROC_COMPOUND     1u
#define NFS_OP_CREATE_SESSION 43u
#define NFS_OP_SEQUENCE       53u
#define NFS_OP_ILLEGAL        10044u

/* On the wire: a count word and a padded body. */
#define NFS_VAR_BYTES(max) (4u + (((max) + 3u) & ~3u))

/*
 * Bounds for what the protocols leave open. If one is too low, a Reply is lost after the server has
 * executed the Call. If it is too high, it costs memory while the Call is in flight.
 */
/* A symbolic link's target: twice PATH_MAX, the limit of servers. */
#define NFS_PATH_BYTES 8192u
/*
 * In addition to the largest result that a Call allows: servers round up to an entry, a block,
 * pages.
 */
#define NFS_COUNT_SLACK_BYTES 16384u
/* Authentication flavours in a MOUNT Reply; servers have fewer than 16. */
#define NFS_MOUNT_FLAVORS 256u
/* Replies repeat the Call's tag (RFC 8881 section 16.2.3: SHOULD); some can be longer. */
#define NFS_TAG_SLACK_BYTES 256u
/* 256 attributes or operations; 87 are defined. */
#define NFS4_BITMAP_WORDS 8u
/*
 * user@domain or group@domain: login names have 255 bytes and DNS names 253, and half as much again
 * for other ways to write them. An OPEN with the attributes that clients want still fits inline.
 */
#define NFS4_OWNER_BYTES 768u
/* An ACL of 64 KiB, as Windows and Linux allow at most, grown fourfold by names. */
#define NFS4_ACL_BYTES (256u * 1024)
/* fs_locations and fs_locations_info: hundreds of replicas with long paths. */
#define NFS4_LOCATIONS_BYTES 65536u
/* A security label; Linux takes 2048 at most, and its modules a page. */
#define NFS4_LABEL_BYTES 8192u
/* A media type; RFC 6838 section 4.2 allows 255. */
#define NFS4_MIMETYPE_BYTES 1024u
/* Layout types: seven are assigned. */
#define NFS4_LAYOUT_TYPES 64u
/* A layout hint or a threshold list: a few words per layout type. */
#define NFS4_LAYOUT_HINT_BYTES  4096u
#define NFS4_MDSTHRESHOLD_BYTES 4096u
/* fs4_status: two strings of 1024 bytes, for a source and a version, and six words. */
#define NFS4_FS_STATUS_BYTES (2 * NFS_VAR_BYTES(1024) + 24u)
/* An extended attribute: what Linux allows. */
#define NFS4_XATTR_BYTES 65536u
/* SECINFO: 64 flavours of at most 128 bytes; servers have fewer than 16, of less than 40 bytes. */
#define NFS4_SECINFO_BYTES (64u * 128)
/* nfs_impl_id4: a domain, a name and a date. */
#define NFS4_IMPL_ID_BYTES (2 * NFS_VAR_BYTES(1024) + 12u)
/* EXCHANGE_ID with SP4_SSV: the GSS handles; clients request a few of less than 64 bytes. */
#define NFS4_SSV_HANDLES_BYTES 16384u
/* A hash of SET_SSV: sixteen times SHA-512's. */
#define NFS4_DIGEST_BYTES 1024u
/* A network ID and a universal address: a DNS name each, four times over. */
#define NFS4_NETADDR_BYTES (2 * NFS_VAR_BYTES(1024))
/* COPY_NOTIFY: sixteen addresses of the source server. */
#define NFS4_NETLOCS_BYTES (16 * (4 + NFS4_NETADDR_BYTES))
/* READ_PLUS: a segment has a kind, an offset, a length, padding, and a sector size. */
#define NFS_SEGMENT_HEAD_BYTES 24u
#define NFS_SEGMENT_MIN_BYTES  512u
#define NFS_DEVICE_ID_BYTES    16u
/* An rpcbind address. */
#define NFS_UADDR_BYTES 1024u

extern const struct nfs_program nfs_program_nfs2, nfs_program_nfs3, nfs_program_nfs4;
extern const struct nfs_program nfs_program_nfsacl2, nfs_program_nfsacl3;
extern const struct nfs_program nfs_program_mount1, nfs_program_mount2, nfs_program_mount3;
extern const struct nfs_program nfs_program_nlm1, nfs_program_nlm3, nfs_program_nlm4;
extern const struct nfs_program nfs_program_nsm1;
extern const struct nfs_program nfs_program_rpcbind2, nfs_program_rpcbind3, nfs_program_rpcbind4;
extern const struct nfs_program nfs_program_callback1, nfs_program_callback4;
extern const struct nfs_ops nfs_ops_40, nfs_ops_41, nfs_ops_42;
extern const struct nfs_ops nfs_cb_ops_40, nfs_cb_ops_41, nfs_cb_ops_42;

/** nfs_program_find - Returns the table of a program; NULL if this version has none. */
const struct nfs_program *nfs_program_find(uint32_t prog, uint32_t vers);

/**
 * nfs_program_name - Returns the name of a program that has a table in any version; NULL if none.
 */
const char *nfs_program_name(uint32_t prog);

/** nfs_program_proc - Returns the row of a procedure; NULL if none. */
const struct nfs_proc *nfs_program_proc(const struct nfs_program *program, uint32_t proc);

/**
 * nfs_proc_find - Returns the row of a procedure; NULL if the program, version or procedure has
 * none.
 */
const struct nfs_proc *nfs_proc_find(uint32_t prog, uint32_t vers, uint32_t proc);

/** nfs_op_find - Returns the row of an operation in a COMPOUND or CB_COMPOUND; NULL if none. */
const struct nfs_proc *nfs_op_find(bool callback, uint32_t minor_version, uint32_t op);

#endif
