// SPDX-License-Identifier: BSD-3-Clause
/* The pads of RDMA_MSGP: taken out, and put in. */
#include "rpcrdma/draft03/msgp.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "nfs/opaques.h"
#include "rpc/xdr.h"

/* ---- taken out ---- */

struct remover {
	struct nfs_listener listener;
	const struct padded *in;
	uint8_t *to;
	uint32_t done_bytes;      /* of the body: passed, and copied where it is no pad */
	uint32_t pads_bytes;      /* of these, pads */
	uint64_t elsewhere_bytes; /* of the message: in chunks */
	uint64_t next_chunk;      /* position of the next read chunk; NO_CHUNK: there is none */
	unsigned nresults;        /* data items of a Reply that were met */
	bool lost;                /* a read chunk was passed that holds no opaque */
};

#define NO_CHUNK UINT64_MAX

/* The first position in the read list that is not before @from. */
static uint64_t find_chunk(const struct rpcrdma_header *hdr, uint64_t from)
{
	uint64_t found = NO_CHUNK;

	for (unsigned i = 0; i < hdr->nreads; i++)
		if (hdr->reads[i].position >= from && hdr->reads[i].position < found)
			found = hdr->reads[i].position;
	return found;
}

/* Whether the data at @position are in a read chunk; a chunk anywhere else leaves unknown what the body has. */
static bool is_in_read_chunk(struct remover *r, uint64_t position)
{
	if (position > r->next_chunk)
		r->lost = true;
	if (position != r->next_chunk)
		return false;
	r->next_chunk = find_chunk(r->in->hdr, position + 1);
	return true;
}

/* The n-th data item among the results is in the n-th write chunk, if anything is. */
static bool is_in_write_chunk(struct remover *r, uint32_t len_bytes, bool is_data)
{
	const struct rpcrdma_header *hdr = r->in->hdr;
	unsigned n;

	if (r->in->is_call || !is_data)
		return false;
	n = r->nresults++;
	return len_bytes && n < hdr->nwrites && hdr->writes[n].len_bytes;
}

/* The body as far as @offset_bytes is the message's, and the @pad_bytes that follow are not. */
static void pass(struct remover *r, uint32_t offset_bytes, uint32_t pad_bytes)
{
	if (r->to)
		memcpy(r->to + (r->done_bytes - r->pads_bytes), r->in->body + r->done_bytes,
		       offset_bytes - r->done_bytes);
	r->done_bytes = offset_bytes + pad_bytes;
	r->pads_bytes += pad_bytes;
}

static uint64_t take_out(struct nfs_listener *listener, uint32_t offset_bytes, uint32_t len_bytes,
			 bool is_data)
{
	struct remover *r = container_of(listener, struct remover, listener);
	const struct rpcrdma_header *hdr = r->in->hdr;
	uint64_t padded = xdr_padded_bytes(len_bytes);
	uint32_t pads;

	if (is_in_read_chunk(r, offset_bytes - r->pads_bytes + r->elsewhere_bytes) ||
	    is_in_write_chunk(r, len_bytes, is_data)) {
		r->elsewhere_bytes += padded;
		return 0;
	}
	if (len_bytes < hdr->thresh)
		return padded;
	pads = msgp_bytes(hdr->align, (uint64_t)hdr->body_offset + offset_bytes);
	/* Where they end behind the body, the walk ends as well. */
	if (pads && pads <= r->in->len_bytes - offset_bytes)
		pass(r, offset_bytes, pads);
	return pads + padded;
}

int64_t msgp_remove(const struct padded *padded, uint8_t *to)
{
	const struct rpcrdma_header *hdr = padded->hdr;
	struct remover r = {
		.listener = {take_out},
		.in = padded,
		.to = to,
		.next_chunk = find_chunk(hdr, 0),
	};
	bool ok;

	if (hdr->align > 1 && padded->len_bytes >= hdr->thresh) {
		ok = padded->is_call
			     ? nfs_call_opaques(padded->body, padded->len_bytes, &r.listener)
			     : nfs_reply_opaques(padded->facts, padded->body, padded->len_bytes,
						 &r.listener);
		if (!ok || r.lost || r.next_chunk != NO_CHUNK)
			return -EBADMSG;
	}
	pass(&r, padded->len_bytes, 0);
	return padded->len_bytes - r.pads_bytes;
}

/* ---- put in ---- */

struct inserter {
	struct nfs_listener listener;
	const struct msgp_goal *goal;
	struct fabric_sge *to;
	unsigned count, max;
	bool found, full;
	unsigned next;       /* of the goal's pieces: the one that the walk is in or before */
	uint32_t done_bytes; /* of that piece */
	uint64_t at;         /* where in the Send what follows goes */
};

static void put(struct inserter *in, struct fabric_sge piece)
{
	in->at += piece.len_bytes;
	if (!piece.len_bytes)
		return;
	if (in->count == in->max)
		in->full = true;
	else
		in->to[in->count++] = piece;
}

/* The next piece, as far as @end_bytes. */
static void put_part(struct inserter *in, uint32_t end_bytes)
{
	struct fabric_sge part = in->goal->pieces[in->next];

	part.addr += in->done_bytes;
	part.len_bytes = end_bytes - in->done_bytes;
	in->done_bytes = end_bytes;
	put(in, part);
}

static void put_rest(struct inserter *in)
{
	put_part(in, in->goal->pieces[in->next].len_bytes);
	in->next++;
	in->done_bytes = 0;
}

/* Goes to the piece with what is at @offset_bytes of the message, if that is inline; *@inside is where in it. */
static bool find_piece(struct inserter *in, uint32_t offset_bytes, uint32_t *inside)
{
	const struct msgp_goal *goal = in->goal;

	for (; in->next < goal->npieces; put_rest(in)) {
		const struct fabric_sge *piece = &goal->pieces[in->next];
		uint32_t begin = (uint32_t)(piece->addr - goal->msg);

		if (offset_bytes < begin)
			return false;
		*inside = offset_bytes - begin;
		if (*inside < piece->len_bytes)
			return true;
	}
	return false;
}

static uint64_t put_in(struct nfs_listener *listener, uint32_t offset_bytes, uint32_t len_bytes,
		       bool is_data)
{
	struct inserter *in = container_of(listener, struct inserter, listener);
	const struct msgp_goal *goal = in->goal;
	uint32_t inside;

	if (len_bytes >= goal->thresh_bytes && find_piece(in, offset_bytes, &inside)) {
		uint32_t pads = msgp_bytes(goal->align, in->at + inside - in->done_bytes);

		in->found = true;
		if (pads) {
			put_part(in, inside);
			put(in, (struct fabric_sge){.len_bytes = pads});
		}
	}
	return xdr_padded_bytes(len_bytes);
}

unsigned msgp_insert(const struct msgp_goal *goal, struct fabric_sge *to, unsigned max)
{
	struct inserter in = {
		.listener = {put_in},
		.goal = goal,
		.to = to,
		.max = max,
		.at = goal->header_bytes,
	};
	bool ok;

	assert(goal->thresh_bytes);
	ok = goal->facts ? nfs_reply_opaques(goal->facts, goal->msg, goal->len_bytes, &in.listener)
			 : nfs_call_opaques(goal->msg, goal->len_bytes, &in.listener);
	if (!ok || !in.found)
		return 0;
	while (in.next < goal->npieces)
		put_rest(&in);
	return in.full ? 0 : in.count;
}
