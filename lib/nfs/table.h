/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocols as tables: one row per procedure or operation, to lay beside the RFC.
 *
 * A row says how the arguments and the results are walked, how many bytes the results can take, and
 * which side carries a DDP-eligible data item (RFC 8267). A row without a name is a number not in
 * use.
 */
#ifndef NFS_TABLE_H
#define NFS_TABLE_H

#include "nfs/type.h"

/* What the results may take beyond the row's bound. */
enum nfs_growth {
	NFS_GROWS_NOT,
	NFS_GROWS_COUNT, /* the arguments' count, rounded up to a word */
	NFS_GROWS_DIR,   /* the count, and what servers return beyond it: see NFS_DIR_SLACK_BYTES */
	NFS_GROWS_SEGMENTS, /* the count, cut into segments: see NFS_SEGMENT_MIN_BYTES */
	NFS_GROWS_ATTRS,    /* the attributes asked for */
	NFS_GROWS_IDS,      /* a word for each four bytes of arguments */
	NFS_GROWS_LIMIT,    /* nothing bounds them but the service's ceiling */
};

enum nfs_ddp { NFS_DDP_NONE, NFS_DDP_ARGS, NFS_DDP_RESULTS };

struct nfs_proc {
	const char *name;
	const struct nfs_field *args, *results;
	uint32_t bound_bytes; /* of the results, status included, without what grows */
	uint8_t growth;       /* enum nfs_growth */
	uint8_t ddp;          /* enum nfs_ddp */
};

#define NFS_PROC(name, args, results, bound, growth, ddp)                                          \
	{                                                                                          \
		name, args, results, bound, NFS_GROWS_##growth, NFS_DDP_##ddp                      \
	}

struct nfs_program {
	uint32_t prog, vers;
	unsigned count;
	const struct nfs_proc *procs;
};

#define NFS_PROGRAM_NFS     100003u
#define NFS_PROGRAM_RPCBIND 100000u
#define NFS_PROGRAM_MOUNT   100005u
#define NFS_PROGRAM_NLM     100021u
#define NFS_PROGRAM_NSM     100024u
#define NFS_PROGRAM_NFSACL  100227u
#define NFS_PROGRAM_CALLBACK                                                                       \
	0x40000000u /* RFC 7530 section 16: what clients choose in practice                        \
		     */

/* On the wire: a count word and a padded body. */
#define NFS_VAR_BYTES(max) (4u + (((max) + 3u) & ~3u))

/*
 * Bounds of what the protocols leave open. One byte too low loses a reply after the server has
 * executed the Call; too high costs memory for as long as the Call is in flight.
 */
#define NFS_PATH_BYTES 8192u /* a symbolic link's target: twice PATH_MAX, where servers stop */
#define NFS_DIR_SLACK_BYTES                                                                        \
	8192u /* v2/v3 READDIR: servers round up to an entry, a block or a page */
#define NFS_MOUNT_FLAVORS                                                                          \
	256u /* authentication flavours in a MOUNT reply; servers have under 16                    \
	      */

extern const struct nfs_program nfs_program_mount1, nfs_program_mount2, nfs_program_mount3;
extern const struct nfs_program nfs_program_nfs3;

/** nfs_proc_find - the row of a procedure; NULL if the program, version or procedure has none. */
const struct nfs_proc *nfs_proc_find(uint32_t prog, uint32_t vers, uint32_t proc);

#endif
