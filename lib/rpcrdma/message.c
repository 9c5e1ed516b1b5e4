// SPDX-License-Identifier: BSD-3-Clause
/* A message on its way out: its lists and its pieces. */
#include "rpcrdma/message.h"

#include <assert.h>

#include "rpc/xdr.h"
#include "rpcrdma/work.h"

void message_init(struct message *m, uint32_t xid)
{
	rpcrdma_header_init(&m->hdr, xid, 0, RPCRDMA_MSG);
	m->npieces = 0;
	m->pieces_bytes = 0;
}

void message_add_piece(struct message *m, const struct rpc_msg *msg, uint32_t from, uint32_t to)
{
	if (from >= to)
		return;
	assert(m->npieces < MESSAGE_MAX_PIECES);
	m->pieces[m->npieces++] = (struct fabric_sge){msg->buf, msg->data + from, to - from};
	m->pieces_bytes += to - from;
}

void message_add_bytes(struct message *m, const uint8_t *bytes, uint32_t len_bytes)
{
	assert(m->npieces < MESSAGE_MAX_PIECES);
	m->pieces[m->npieces++] = (struct fabric_sge){NULL, (uint8_t *)bytes, len_bytes};
	m->pieces_bytes += len_bytes;
}

/* What goes inline: all, what is beside the payload and its pad (A3.4-3), or nothing. */
static void add_body(struct message *m, const struct rpc_msg *msg, const struct msg_form *form)
{
	uint64_t end = form->chunk_at + xdr_padded_bytes(form->chunk_bytes);

	switch (form->form) {
	case FORM_INLINE:
		message_add_piece(m, msg, 0, msg->len_bytes);
		break;
	case FORM_REDUCED:
		message_add_piece(m, msg, 0, form->chunk_at);
		if (end < msg->len_bytes)
			message_add_piece(m, msg, (uint32_t)end, msg->len_bytes);
		break;
	case FORM_NOMSG:
		m->hdr.proc = RPCRDMA_NOMSG;
		break;
	}
}

void message_put(struct message *m, const struct rpc_msg *msg, const struct msg_form *form,
		 const struct lend *lend, unsigned first)
{
	for (unsigned i = 0; i < form->nsegments; i++)
		m->hdr.reads[m->hdr.nreads++] = (struct rpcrdma_read_segment){
			form->chunk_at, lend_segment(lend, first + i)};
	add_body(m, msg, form);
}

static struct rpcrdma_chunk chunk_of(struct message *m, const struct lend *lend, unsigned first,
				     unsigned nkeys)
{
	struct rpcrdma_chunk chunk = {.first = m->hdr.nsegments, .count = nkeys};

	for (unsigned i = first; i < first + nkeys; i++) {
		struct rpcrdma_segment seg = lend_segment(lend, i);

		m->hdr.segments[m->hdr.nsegments++] = seg;
		chunk.len_bytes += seg.len_bytes;
	}
	return chunk;
}

void message_offer_write_chunk(struct message *m, const struct lend *lend, unsigned first,
			       unsigned nkeys)
{
	m->hdr.writes[m->hdr.nwrites++] = chunk_of(m, lend, first, nkeys);
}

void message_offer_reply_chunk(struct message *m, const struct lend *lend, unsigned first,
			       unsigned nkeys)
{
	m->hdr.has_reply_chunk = true;
	m->hdr.reply_chunk = chunk_of(m, lend, first, nkeys);
}

void message_send(struct message *m, struct rdma_conn *conn, uint32_t credit, struct exchange *x,
		  const uint32_t *inv_rkey)
{
	/* The pieces of an RDMA_NOMSG are in a chunk by now. */
	unsigned npieces = m->hdr.proc == RPCRDMA_MSG ? m->npieces : 0;

	m->hdr.credit = credit;
	work_send(conn, &m->hdr, m->pieces, npieces, x, inv_rkey);
}
