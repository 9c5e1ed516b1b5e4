/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removes and inserts the alignment pads of RDMA_MSGP (draft-ietf-nfsv4-rpcrdma-03 section 3.5).
 *
 * Counted opaques and strings at least as long as the threshold begin at a multiple of the
 * alignment, counted from the first byte of the Send, header included (A3.5-4). The pads are
 * between the length word and the first byte. Their content is ignored.
 *
 *	header | … LLLL ppp DDDDDDDDDDD … | … LLLL pp DDDDDDDDD …
 *	                    ^ multiple of the alignment ^
 *
 * The pads belong to the transport: positions and lengths of chunks, and the length of the message,
 * do not count them. Data in a chunk have no pads (A3.5-8). lib/nfs finds the opaques.
 */
#ifndef RPCRDMA_DRAFT03_MSGP_H
#define RPCRDMA_DRAFT03_MSGP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "fabric/fabric.h"
#include "rpc/call_info.h"
#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/send_msg.h"

/* ---- pads; pure ---- */

/* A received RDMA_MSGP. */
struct padded {
	const struct rpcrdma_header *hdr;
	const uint8_t *body; /* after the header */
	uint32_t len_bytes;
	bool is_call;
	/* For a Reply: facts of its Call; NULL: a Call whose results have no opaques. */
	const struct call_info *call_info;
};

/**
 * msgp_strip_pads - Removes the pads of a message.
 * @to: output buffer, large enough; NULL: only computes the length
 *
 * Returns the length without pads, which equals that of the body if the message has none. Returns
 * -EBADMSG if the message cannot be parsed.
 */
int64_t msgp_strip_pads(const struct padded *padded, uint8_t *to) MUST_CHECK;

/* A message to be sent as RDMA_MSGP. */
struct msgp_goal {
	uint32_t align;
	uint32_t thresh_bytes; /* at least 1 */
	uint32_t header_bytes; /* of its RDMA_MSGP */
	const uint8_t *msg;    /* the whole message, without pads, contiguous */
	uint32_t len_bytes;
	const struct call_info
		*call_info; /* facts of the Call that it answers; NULL: it is a Call */
	/* The inline pieces, in order; the rest is in chunks. */
	const struct fabric_sge *pieces;
	unsigned npieces;
};

/**
 * msgp_insert_pads - Splits the inline pieces to insert pads.
 * @to, @max: output pieces; a pad has neither address nor buffer
 *
 * Returns the number of pieces. Returns 0 if the message must be sent without pads: it has no long
 * inline opaque, cannot be parsed, or needs more than @max pieces.
 */
unsigned msgp_insert_pads(const struct msgp_goal *goal, struct fabric_sge *to, unsigned max);

/* ---- received messages: an RDMA_MSGP becomes the RDMA_MSG without its pads (A3.5-3) ---- */

/* The bytes after the header, and their buffer if it is not the Receive. */
struct msgp_body {
	const uint8_t *data;
	uint32_t len_bytes;
	struct buf *buf;   /* the caller puts it; or NULL */
	bool is_call;      /* set if `wrong` is */
	const char *wrong; /* why the message is unusable; or NULL */
};

/**
 * msgp_decode - Converts @hdr from RDMA_MSGP to RDMA_MSG.
 * @call_info: of the Call in flight with its XID, or NULL
 * @body:      set
 *
 * The body shows whether it is a Call, because it never begins with pads. A body that is too short
 * or no RPC message stays unchanged. Returns false if the message cannot be dispatched: body->wrong
 * is the reason, or the connection has failed for lack of memory.
 */
bool msgp_decode(struct rdma_conn *conn, struct rpcrdma_header *hdr, const struct fabric_recv *recv,
		 const struct call_info *call_info, struct msgp_body *body) MUST_CHECK;

/* ---- outgoing messages whose long opaques are aligned (A3.5-2) ---- */

/**
 * msgp_encode - Converts an RDMA_MSG to an RDMA_MSGP, if it has something to align and the pads
 * fit.
 * @m:           planned, with lists and pieces; its dialect has RDMA_MSGP
 * @msg:         the whole message, which contains the pieces
 * @call_info:   of the Call that it answers; NULL: it is a Call
 * @space_bytes: longest total of its pieces as RDMA_MSG, in bytes
 *
 * The form of the message does not change. Only forward messages are padded, and only if no piece
 * longer than WORK_REQUEST_COPY_MAX_BYTES must be copied for it.
 */
void msgp_encode(struct send_msg *m, const struct rdma_conn *conn, const struct rpc_msg *msg,
		 const struct call_info *call_info, uint64_t space_bytes);

#endif
