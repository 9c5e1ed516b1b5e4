// SPDX-License-Identifier: BSD-3-Clause
/* Messages on their way out whose long opaques are to stand aligned. */
#include "rpcrdma/draft03/msgp_encode.h"

#include <string.h>

#include "rpcrdma/draft03/msgp.h"

uint32_t message_alignment(const struct rdma_conn *conn)
{
	uint32_t own = conn->config->padding_align_bytes, recommended = conn->peer_align_bytes;

	if (conn->refuses_padding)
		return 0;
	/* A recommendation, not an order: who aligns nothing goes on so, nor is a message to be mostly pads (A6.2-6). */
	return own > 1 && recommended > 1 && recommended <= RPCRDMA_INLINE_MIN ? recommended : own;
}

/*
 * What is short is copied at once, with the pads around it: it takes no place in the gather list. Returns how long all
 * are, *@copied_bytes: those that are copied.
 */
static uint64_t detach_short(struct fabric_sge *pieces, unsigned npieces, uint64_t *copied_bytes)
{
	uint64_t bytes = 0;

	*copied_bytes = 0;
	for (unsigned i = 0; i < npieces; i++) {
		bytes += pieces[i].len_bytes;
		if (pieces[i].len_bytes > WORK_COPY_MAX_BYTES)
			continue;
		pieces[i].buf = NULL;
		*copied_bytes += pieces[i].len_bytes;
	}
	return bytes;
}

/* Whether a Send takes no longer a buffer than rdma_beside_bytes() counts for it, nor more pieces than it gathers. */
static bool can_send(const struct rdma_conn *conn, uint32_t header_bytes,
		     const struct fabric_sge *pieces, unsigned npieces, uint64_t copied_bytes)
{
	return header_bytes + copied_bytes <= RPCRDMA_LONGEST_HDR_BYTES + WORK_COPY_MAX_BYTES &&
	       work_gathers(conn, pieces, npieces);
}

/* The pieces with pads between them, and the header as it stands; false if the message is to go without. */
static bool pad(struct message *m, const struct rdma_conn *conn, const struct rpc_msg *msg,
		const struct call_facts *facts, uint64_t room)
{
	struct fabric_sge pieces[MESSAGE_MAX_PIECES];
	const struct msgp_goal goal = {
		.align = m->hdr.align,
		.thresh_bytes = m->hdr.thresh,
		.header_bytes = (uint32_t)rpcrdma_header_bytes(&m->hdr),
		.msg = msg->data,
		.len_bytes = msg->len_bytes,
		.facts = facts,
		.pieces = m->pieces,
		.npieces = m->npieces,
	};
	unsigned npieces = msgp_insert(&goal, pieces, MESSAGE_MAX_PIECES);
	uint64_t copied_bytes, bytes = detach_short(pieces, npieces, &copied_bytes);

	if (!npieces || bytes > room ||
	    (bytes > WORK_COPY_MAX_BYTES &&
	     !can_send(conn, goal.header_bytes, pieces, npieces, copied_bytes)))
		return false;
	memcpy(m->pieces, pieces, npieces * sizeof(pieces[0]));
	m->npieces = npieces;
	m->pieces_bytes = (uint32_t)bytes;
	return true;
}

void message_pad(struct message *m, const struct rdma_conn *conn, const struct rpc_msg *msg,
		 const struct call_facts *facts, uint64_t room)
{
	uint32_t align = message_alignment(conn), thresh = conn->config->padding_threshold_bytes;
	bool forward = conn->connector == !facts;

	if (!forward || align < 2 || m->hdr.proc != RPCRDMA_MSG || m->pieces_bytes < thresh ||
	    room < RPCRDMA_MSGP_EXTRA_BYTES)
		return;
	m->hdr.proc = RPCRDMA_MSGP;
	m->hdr.align = align;
	m->hdr.thresh = thresh;
	if (!pad(m, conn, msg, facts, room - RPCRDMA_MSGP_EXTRA_BYTES))
		m->hdr.proc = RPCRDMA_MSG;
}
