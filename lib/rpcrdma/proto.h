/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers and sizes of RPC-over-RDMA on the wire: draft-ietf-nfsv4-rpcrdma-03 section 4; version
 * two: draft-cel-nfsv4-rpcrdma-version-two-00 section 4.
 */
#ifndef RPCRDMA_PROTO_H
#define RPCRDMA_PROTO_H

#include <stdint.h>

#define RPCRDMA_VERSION_ONE 1u
#define RPCRDMA_VERSION_TWO 2u

enum rpcrdma_proc {
	RPCRDMA_MSG = 0,
	RPCRDMA_NOMSG = 1,
	RPCRDMA_MSGP = 2,
	RPCRDMA_DONE = 3,
	RPCRDMA_ERROR = 4,
	RPCRDMA_OPTIONAL = 5, /* version two */
};

enum rpcrdma_err {
	RPCRDMA_ERR_VERS = 1,
	RPCRDMA_ERR_CHUNK = 2,        /* in version two BAD_HEADER */
	RPCRDMA_ERR_INVAL_OPTION = 3, /* version two */
};

#define RPCRDMA_FIXED_BYTES        16u /* xid, vers, credit, proc */
#define RPCRDMA_MIN_HDR_BYTES      28u /* RDMA_MSG or RDMA_NOMSG with three empty lists */
#define RPCRDMA_MSGP_EXTRA_BYTES   8u  /* additional in an RDMA_MSGP: alignment and threshold */
#define RPCRDMA_READ_SEGMENT_BYTES 24u /* discriminator, position, segment */
#define RPCRDMA_SEGMENT_BYTES      16u
/* A write chunk with its discriminator, and a reply chunk, of nsegments segments. */
#define RPCRDMA_WRITE_CHUNK_BYTES(nsegments) (8u + (uint64_t)(nsegments)*RPCRDMA_SEGMENT_BYTES)
#define RPCRDMA_REPLY_CHUNK_BYTES(nsegments) (4u + (uint64_t)(nsegments)*RPCRDMA_SEGMENT_BYTES)
#define RPCRDMA_DEFAULT_INLINE               1024u
#define RPCRDMA_DEFAULT_INLINE_TWO           4096u
#define RPCRDMA_MIN_CALL_BYTES               40u /* the smallest RPC Call */
#define RPCRDMA_MIN_REPLY_BYTES              20u /* the smallest RPC Reply */

#endif
