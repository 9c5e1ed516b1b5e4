/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pads of RDMA_MSGP (draft-ietf-nfsv4-rpcrdma-03 section 3.5).
 *
 * Each counted opaque or string of the RPC message that is as long as the threshold or longer begins at a multiple of
 * the alignment, counted from the first byte of the Send, header included (A3.5-4): pads stand between its length word
 * and its first byte. What they hold nobody looks at.
 *
 *	header | … LLLL ppp DDDDDDDDDDD … | … LLLL pp DDDDDDDDD …
 *	                    ^ multiple of the alignment ^
 *
 * They are the transport's: positions and lengths of chunks, and the length of the message, do not count them, and data
 * that are in a chunk have none (A3.5-8). Where the opaques are, lib/nfs knows.
 */
#ifndef RPCRDMA_DRAFT03_MSGP_H
#define RPCRDMA_DRAFT03_MSGP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "fabric/fabric.h"
#include "rpc/facts.h"
#include "rpcrdma/header.h"
#include "rpcrdma/message.h"
#include "rpcrdma/rdma_conn.h"

/* ---- pads; pure ---- */

/* An RDMA_MSGP that has come. */
struct padded {
	const struct rpcrdma_header *hdr;
	const uint8_t *body; /* behind the header */
	uint32_t len_bytes;
	bool is_call;
	/* Of the Call that a Reply answers; NULL: one whose results have no opaques. */
	const struct call_facts *facts;
};

/**
 * msgp_remove - the message without its pads
 * @to: where it is put, with room for it; NULL: it is only to be known how long it is
 *
 * Returns its length: that of the body means that this is the message as it is. -EBADMSG: it cannot be followed, so that
 * nobody knows where pads are.
 */
int64_t msgp_remove(const struct padded *padded, uint8_t *to) MUST_CHECK;

/* A message that is to be sent as RDMA_MSGP. */
struct msgp_goal {
	uint32_t align;
	uint32_t thresh_bytes; /* at least 1 */
	uint32_t header_bytes; /* of its RDMA_MSGP */
	const uint8_t *msg;    /* all of it, without pads, in one piece */
	uint32_t len_bytes;
	const struct call_facts *facts; /* of the Call that it answers; NULL: it is a Call */
	/* What of it goes inline, in order; the rest is in chunks. */
	const struct fabric_sge *pieces;
	unsigned npieces;
};

/**
 * msgp_insert - part what goes inline for the pads
 * @to, @max: take the pieces; a pad has neither address nor buffer
 *
 * Returns how many there are; 0: the message is to go without pads, as it has no long opaque inline, cannot be
 * followed, or makes more than @max pieces.
 */
unsigned msgp_insert(const struct msgp_goal *goal, struct fabric_sge *to, unsigned max);

/* ---- messages that come: each is the RDMA_MSG that it is without its pads (A3.5-3) ---- */

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

/* ---- messages on their way out whose long opaques are to stand aligned (A3.5-2) ---- */

/**
 * message_pad - make an RDMA_MSG an RDMA_MSGP, if something in it is to be aligned and there is room
 * @m:     planned, with its lists and its pieces: of a dialect that has RDMA_MSGP
 * @msg:   where the pieces lie, whole
 * @facts: of the Call that it answers; NULL: it is a Call
 * @room:  how long its pieces may be, as RDMA_MSG
 *
 * Its form stays what it is: pads make no message too long, nor one of reverse direction, nor do they cost a copy of
 * more than WORK_COPY_MAX_BYTES at a time.
 */
void message_pad(struct message *m, const struct rdma_conn *conn, const struct rpc_msg *msg,
		 const struct call_facts *facts, uint64_t room);

#endif
