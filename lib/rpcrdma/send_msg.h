/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An outgoing transport message of either role: the transport header with its chunk lists, and the
 * pieces of the RPC message that go inline after it.
 *
 * It lives on the stack from planning to sending; the exchange keeps the memory that it refers to.
 */
#ifndef RPCRDMA_SEND_MSG_H
#define RPCRDMA_SEND_MSG_H

#include <assert.h>

#include "leg/exchange.h"
#include "rpcrdma/header.h"
#include "rpcrdma/rdma_conn.h"
#include "rpcrdma/work_request.h"

/* Each payload in a write chunk splits the message once. */
#define SEND_MSG_MAX_PIECES (RPCRDMA_MAX_CHUNKS + 1)

struct send_msg {
	struct rpcrdma_header hdr;
	unsigned npieces;
	struct fabric_sge pieces[SEND_MSG_MAX_PIECES];
	uint32_t pieces_bytes;
};

/** send_msg_init - Initializes an RDMA_MSG of @dialect, without lists or body. */
static inline void send_msg_init(struct send_msg *m, const struct dialect *dialect, uint32_t xid)
{
	rpcrdma_header_init(&m->hdr, xid, dialect->version, 0, RPCRDMA_MSG);
	m->npieces = 0;
	m->pieces_bytes = 0;
}

/**
 * send_msg_add_piece - Adds the bytes of @msg from @from to @to as an inline piece, unless the
 * range is empty.
 */
static inline void send_msg_add_piece(struct send_msg *m, const struct rpc_msg *msg, uint32_t from,
				      uint32_t to)
{
	if (from >= to)
		return;
	assert(m->npieces < SEND_MSG_MAX_PIECES);
	m->pieces[m->npieces++] = (struct fabric_sge){msg->buf, msg->data + from, to - from};
	m->pieces_bytes += to - from;
}

/**
 * send_msg_add_bytes - Adds a short inline piece that belongs to no exchange; send_msg_post()
 * copies it.
 */
static inline void send_msg_add_bytes(struct send_msg *m, const uint8_t *bytes, uint32_t len_bytes)
{
	assert(m->npieces < SEND_MSG_MAX_PIECES);
	m->pieces[m->npieces++] = (struct fabric_sge){NULL, (uint8_t *)bytes, len_bytes};
	m->pieces_bytes += len_bytes;
}

/**
 * send_msg_post - Sends the message.
 * @credit:   requested, or granted
 * @x:        kept until the Send is done, or NULL
 * @inv_rkey: the peer's key to invalidate, or NULL
 */
static inline void send_msg_post(struct send_msg *m, struct rdma_conn *conn, uint32_t credit,
				 struct exchange *x, const uint32_t *inv_rkey)
{
	/* The pieces of an RDMA_NOMSG are in a chunk. */
	unsigned npieces = m->hdr.proc != RPCRDMA_NOMSG ? m->npieces : 0;

	m->hdr.credit = credit;
	work_request_post_send(conn, &m->hdr, m->pieces, npieces, x, inv_rkey);
}

#endif
