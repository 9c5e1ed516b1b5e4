/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA_MSGP messages that come: each is the RDMA_MSG that it is without its pads (A3.5-3). */
#ifndef RPCRDMA_DRAFT03_MSGP_DECODE_H
#define RPCRDMA_DRAFT03_MSGP_DECODE_H

#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"

/* What stands behind the header, and the buffer that holds it, if that is not the receive. */
struct msgp_body {
	const uint8_t *data;
	uint32_t len_bytes;
	struct buf *buf;   /* the caller's to put; or NULL */
	bool is_call;      /* set if it is wrong */
	const char *wrong; /* why it cannot be taken; or NULL */
};

/**
 * msgp_decode - make @hdr, an RDMA_MSGP, an RDMA_MSG
 * @facts: of the Call in flight with its XID; NULL: there is none
 * @body:  set
 *
 * Whether it is a Call its body says, which begins without pads in any case; what is too short for that, or no RPC message,
 * stays as it is. Returns false if there is nothing to dispatch: body->wrong says why, or the connection has failed
 * without memory.
 */
bool msgp_decode(struct rdma_conn *conn, struct rpcrdma_header *hdr, const struct fabric_recv *recv,
		 const struct call_facts *facts, struct msgp_body *body) MUST_CHECK;

#endif
