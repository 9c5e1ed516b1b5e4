// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/draft03/msgp.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/minmax.h"
#include "nfs/opaque_walk.h"
#include "rpc/rpc_header.h"
#include "rpc/xdr.h"

/*
 * Returns the number of pads at offset @at of a Send, before a long opaque; any @align is safe
 * (A3.5-5, A3.5-6).
 */
static uint32_t pad_bytes(uint32_t align, uint64_t at)
{
	uint32_t over = align > 1 ? (uint32_t)(at % align) : 0;

	return over ? align - over : 0;
}

/* ---- removal ---- */

struct msgp_decoder {
	struct nfs_listener listener;
	const struct padded *in;
	uint8_t *to;
	uint32_t done_bytes;      /* bytes of the body passed, and copied except for pads */
	uint32_t pads_bytes;      /* pad bytes among them */
	uint64_t elsewhere_bytes; /* bytes of the message in chunks */
	uint64_t next_chunk;      /* position of the next read chunk; NO_CHUNK: none */
	unsigned nresults;        /* data items of a Reply found so far */
	bool lost;                /* a read chunk that holds no opaque was passed */
};

#define NO_CHUNK UINT64_MAX

/* Returns the first position in the read list at or after @from. */
static uint64_t find_chunk(const struct rpcrdma_header *hdr, uint64_t from)
{
	uint64_t found = NO_CHUNK;

	for (unsigned i = 0; i < hdr->nreads; i++)
		if (hdr->reads[i].position >= from && hdr->reads[i].position < found)
			found = hdr->reads[i].position;
	return found;
}

/*
 * Returns true if the data at @position are in a read chunk. A chunk anywhere else makes the body
 * unknown.
 */
static bool is_in_read_chunk(struct msgp_decoder *r, uint64_t position)
{
	if (position > r->next_chunk)
		r->lost = true;
	if (position != r->next_chunk)
		return false;
	r->next_chunk = find_chunk(r->in->hdr, position + 1);
	return true;
}

/*
 * Returns true if the data item is in a write chunk: the n-th item is in the n-th chunk, if that
 * has data.
 */
static bool is_in_write_chunk(struct msgp_decoder *r, uint32_t len_bytes, bool is_data)
{
	const struct rpcrdma_header *hdr = r->in->hdr;
	unsigned n;

	if (r->in->is_call || !is_data)
		return false;
	n = r->nresults++;
	return len_bytes && n < hdr->nwrites && hdr->writes[n].len_bytes;
}

/* Copies the body up to @offset_bytes and skips the @pad_bytes after it. */
static void copy_body(struct msgp_decoder *r, uint32_t offset_bytes, uint32_t pad_bytes)
{
	if (r->to)
		memcpy(r->to + (r->done_bytes - r->pads_bytes), r->in->body + r->done_bytes,
		       offset_bytes - r->done_bytes);
	r->done_bytes = offset_bytes + pad_bytes;
	r->pads_bytes += pad_bytes;
}

static uint64_t decode_opaque(struct nfs_listener *listener, uint32_t offset_bytes,
			      uint32_t len_bytes, bool is_data)
{
	struct msgp_decoder *r = container_of(listener, struct msgp_decoder, listener);
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
	pads = pad_bytes(hdr->align, (uint64_t)hdr->body_offset + offset_bytes);
	/* If the pads would end after the body, the walk ends too. */
	if (pads && pads <= r->in->len_bytes - offset_bytes)
		copy_body(r, offset_bytes, pads);
	return pads + padded;
}

int64_t msgp_strip_pads(const struct padded *padded, uint8_t *to)
{
	const struct rpcrdma_header *hdr = padded->hdr;
	struct msgp_decoder r = {
		.listener = {decode_opaque},
		.in = padded,
		.to = to,
		.next_chunk = find_chunk(hdr, 0),
	};
	bool ok;

	if (hdr->align > 1 && padded->len_bytes >= hdr->thresh) {
		ok = padded->is_call
			     ? nfs_opaque_walk_call(padded->body, padded->len_bytes, &r.listener)
			     : nfs_opaque_walk_reply(padded->call_info, padded->body,
						     padded->len_bytes, &r.listener);
		if (!ok || r.lost || r.next_chunk != NO_CHUNK)
			return -EBADMSG;
	}
	copy_body(&r, padded->len_bytes, 0);
	return padded->len_bytes - r.pads_bytes;
}

/* ---- insertion ---- */

struct msgp_encoder {
	struct nfs_listener listener;
	const struct msgp_goal *goal;
	struct fabric_sge *to;
	unsigned count, max;
	bool found, full;
	unsigned next;       /* index of the goal's piece at or after the position of the walk */
	uint32_t done_bytes; /* bytes done of that piece */
	uint64_t at;         /* offset in the Send of the next bytes */
};

static void put(struct msgp_encoder *in, struct fabric_sge piece)
{
	in->at += piece.len_bytes;
	if (!piece.len_bytes)
		return;
	if (in->count == in->max)
		in->full = true;
	else
		in->to[in->count++] = piece;
}

static void put_part(struct msgp_encoder *in, uint32_t end_bytes)
{
	struct fabric_sge part = in->goal->pieces[in->next];

	part.addr += in->done_bytes;
	part.len_bytes = end_bytes - in->done_bytes;
	in->done_bytes = end_bytes;
	put(in, part);
}

static void put_rest(struct msgp_encoder *in)
{
	put_part(in, in->goal->pieces[in->next].len_bytes);
	in->next++;
	in->done_bytes = 0;
}

/*
 * Advances to the piece that contains @offset_bytes of the message, and sets *@inside to the offset
 * in it. Returns false if that byte is not inline.
 */
static bool find_piece(struct msgp_encoder *in, uint32_t offset_bytes, uint32_t *inside)
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

static uint64_t encode_opaque(struct nfs_listener *listener, uint32_t offset_bytes,
			      uint32_t len_bytes, bool is_data)
{
	struct msgp_encoder *in = container_of(listener, struct msgp_encoder, listener);
	const struct msgp_goal *goal = in->goal;
	uint32_t inside;

	if (len_bytes >= goal->thresh_bytes && find_piece(in, offset_bytes, &inside)) {
		uint32_t pads = pad_bytes(goal->align, in->at + inside - in->done_bytes);

		in->found = true;
		if (pads) {
			put_part(in, inside);
			put(in, (struct fabric_sge){.len_bytes = pads});
		}
	}
	return xdr_padded_bytes(len_bytes);
}

unsigned msgp_insert_pads(const struct msgp_goal *goal, struct fabric_sge *to, unsigned max)
{
	struct msgp_encoder in = {
		.listener = {encode_opaque},
		.goal = goal,
		.to = to,
		.max = max,
		.at = goal->header_bytes,
	};
	bool ok;

	assert(goal->thresh_bytes);
	ok = goal->call_info ? nfs_opaque_walk_reply(goal->call_info, goal->msg, goal->len_bytes,
						     &in.listener)
			     : nfs_opaque_walk_call(goal->msg, goal->len_bytes, &in.listener);
	if (!ok || !in.found)
		return 0;
	while (in.next < goal->npieces)
		put_rest(&in);
	return in.full ? 0 : in.count;
}

/* ---- received messages: a body with pads is copied without them ---- */

/* Returns the largest alignment of a message that fits into a Receive (A3.5-6). */
static uint32_t alignment_max(const struct rdma_conn *conn)
{
	return max_u32(conn->limits.recv_bytes, inline_threshold_offer(&conn->recv_limit));
}

/* Removes the pads of a parsed body; returns false without memory. */
static bool strip_pads(struct rdma_conn *conn, const struct padded *padded, uint32_t plain_bytes,
		       struct msgp_body *body)
{
	if (plain_bytes == body->len_bytes)
		return true;
	body->buf = buf_get(conn->leg->config->pool, plain_bytes);
	if (!body->buf || msgp_strip_pads(padded, body->buf->mem) != plain_bytes) {
		rdma_conn_fail(conn, LEG_CLOSE_RESOURCES, "no memory for a message with pads");
		return false;
	}
	body->data = body->buf->mem;
	body->len_bytes = plain_bytes;
	return true;
}

bool msgp_decode(struct rdma_conn *conn, struct rpcrdma_header *hdr, const struct fabric_recv *recv,
		 const struct call_info *call_info, struct msgp_body *body)
{
	struct padded padded = {.hdr = hdr, .call_info = call_info};
	enum rpc_msg_type type;
	int64_t plain_bytes;
	uint32_t xid;

	*body = (struct msgp_body){.data = recv->data + hdr->body_offset,
				   .len_bytes = recv->len_bytes - hdr->body_offset};
	padded.body = body->data;
	padded.len_bytes = body->len_bytes;
	conn->counters->msgp_received++;
	if (rpc_msg_peek(body->data, body->len_bytes, &xid, &type) != RPC_OK)
		return true;
	body->is_call = padded.is_call = type == RPC_CALL;
	plain_bytes = msgp_strip_pads(&padded, NULL);
	if (hdr->align > alignment_max(conn))
		body->wrong = "an RDMA_MSGP with an alignment longer than a receive";
	else if (plain_bytes < 0)
		body->wrong = "an RDMA_MSGP whose pads cannot be found";
	if (body->wrong)
		return false;
	hdr->proc = RPCRDMA_MSG;
	return strip_pads(conn, &padded, (uint32_t)plain_bytes, body);
}

/* ---- outgoing messages ---- */

/* Returns the alignment for long opaques of forward messages to the peer; below 2: none. */
static uint32_t msgp_alignment(const struct rdma_conn *conn)
{
	uint32_t own = conn->config->padding_align_bytes, recommended = conn->peer_align_bytes;

	if (conn->rejects_padding)
		return 0;
	/*
	 * Not an order: an end without alignment stays so, and a message must not be mostly pads
	 * (A6.2-6).
	 */
	return own > 1 && recommended > 1 && recommended <= RPCRDMA_INLINE_MIN ? recommended : own;
}

/*
 * Marks short pieces and the pads around them to be copied, so that they need no gather entry.
 * Returns the total length, and in *@copied_bytes the copied part.
 */
static uint64_t detach_short(struct fabric_sge *pieces, unsigned npieces, uint64_t *copied_bytes)
{
	uint64_t bytes = 0;

	*copied_bytes = 0;
	for (unsigned i = 0; i < npieces; i++) {
		bytes += pieces[i].len_bytes;
		if (pieces[i].len_bytes > WORK_REQUEST_COPY_MAX_BYTES)
			continue;
		pieces[i].buf = NULL;
		*copied_bytes += pieces[i].len_bytes;
	}
	return bytes;
}

/*
 * Returns true if a Send of these pieces needs no larger buffer than memory_bound_uncharged_bytes()
 * counts, and no more gather entries than the endpoint has.
 */
static bool can_send(const struct rdma_conn *conn, uint32_t header_bytes,
		     const struct fabric_sge *pieces, unsigned npieces, uint64_t copied_bytes)
{
	return header_bytes + copied_bytes <=
		       RPCRDMA_LONGEST_HDR_BYTES + WORK_REQUEST_COPY_MAX_BYTES &&
	       work_request_gathers(conn, pieces, npieces);
}

/* Inserts the pads; returns false if the message must be sent without them. */
static bool pad(struct send_msg *m, const struct rdma_conn *conn, const struct rpc_msg *msg,
		const struct call_info *call_info, uint64_t space_bytes)
{
	struct fabric_sge pieces[SEND_MSG_MAX_PIECES];
	const struct msgp_goal goal = {
		.align = m->hdr.align,
		.thresh_bytes = m->hdr.thresh,
		.header_bytes = (uint32_t)rpcrdma_header_bytes(&m->hdr),
		.msg = msg->data,
		.len_bytes = msg->len_bytes,
		.call_info = call_info,
		.pieces = m->pieces,
		.npieces = m->npieces,
	};
	unsigned npieces = msgp_insert_pads(&goal, pieces, SEND_MSG_MAX_PIECES);
	uint64_t copied_bytes, bytes = detach_short(pieces, npieces, &copied_bytes);

	if (!npieces || bytes > space_bytes ||
	    (bytes > WORK_REQUEST_COPY_MAX_BYTES &&
	     !can_send(conn, goal.header_bytes, pieces, npieces, copied_bytes)))
		return false;
	memcpy(m->pieces, pieces, npieces * sizeof(pieces[0]));
	m->npieces = npieces;
	m->pieces_bytes = (uint32_t)bytes;
	return true;
}

void msgp_encode(struct send_msg *m, const struct rdma_conn *conn, const struct rpc_msg *msg,
		 const struct call_info *call_info, uint64_t space_bytes)
{
	uint32_t align = msgp_alignment(conn), thresh = conn->config->padding_threshold_bytes;
	bool forward = conn->connector == !call_info;

	if (!forward || align < 2 || m->hdr.proc != RPCRDMA_MSG || m->pieces_bytes < thresh ||
	    space_bytes < RPCRDMA_MSGP_EXTRA_BYTES)
		return;
	m->hdr.proc = RPCRDMA_MSGP;
	m->hdr.align = align;
	m->hdr.thresh = thresh;
	if (!pad(m, conn, msg, call_info, space_bytes - RPCRDMA_MSGP_EXTRA_BYTES))
		m->hdr.proc = RPCRDMA_MSG;
}
