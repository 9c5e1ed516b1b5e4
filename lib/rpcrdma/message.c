// SPDX-License-Identifier: BSD-3-Clause
/* A message on its way out: its lists and its pieces. */
#include "rpcrdma/message.h"

#include "rpc/xdr.h"

void message_add_bytes(struct message *m, const uint8_t *bytes, uint32_t len_bytes)
{
	assert(m->npieces < MESSAGE_MAX_PIECES);
	m->pieces[m->npieces++] = (struct fabric_sge){NULL, (uint8_t *)bytes, len_bytes};
	m->pieces_bytes += len_bytes;
}

void message_put(struct message *m, const struct rpc_msg *msg, const struct msg_form *form,
		 const struct lend *lend, unsigned first)
{
	uint64_t end = form->chunk_at + xdr_padded_bytes(form->chunk_bytes);

	for (unsigned i = 0; i < form->nsegments; i++)
		m->hdr.reads[m->hdr.nreads++] = (struct rpcrdma_read_segment){
			form->chunk_at, lend_segment(lend, first + i)};
	/* Inline goes all but the chunk and its pad (A3.4-3). */
	message_add_piece(m, msg, 0, form->chunk_at);
	if (form->form == MESSAGE_FORM_LONG)
		m->hdr.proc = RPCRDMA_NOMSG;
	else if (end < msg->len_bytes)
		message_add_piece(m, msg, (uint32_t)end, msg->len_bytes);
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
