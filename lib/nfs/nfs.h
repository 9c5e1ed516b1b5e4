/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NFS upper-layer binding (RFC 8267): how large a Call's Reply can get, and where the payloads
 * that may move by RDMA are. Pure: bytes in, numbers out.
 */
#ifndef NFS_NFS_H
#define NFS_NFS_H

#include <stdint.h>

#include "rpc/msg.h"

/**
 * nfs_reply_ceiling - the largest Reply that a Call can get
 * @hdr:         the Call's header
 * @msg, @len_bytes: the whole Call
 * @limit_bytes: the service's ceiling, for programs that are not known and results that have no
 * bound
 *
 * Never more than @limit_bytes; the whole RPC message counts, its verifier included.
 */
uint32_t nfs_reply_ceiling(const struct rpc_call_hdr *hdr, const uint8_t *msg, uint32_t len_bytes,
			   uint32_t limit_bytes);

#endif
