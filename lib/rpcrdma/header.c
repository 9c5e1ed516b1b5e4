// SPDX-License-Identifier: BSD-3-Clause
/*
 * Has three parts: the four words that begin every header (A4.1-1); ERR_VERS, which is the same and
 * valid in all versions (A4.2-1); and the rest of version one (draft-ietf-nfsv4-rpcrdma-03 section
 * 4.3). The parts that only version two has (draft-cel-nfsv4-rpcrdma-version-two-00 section 4.2)
 * are in v2/header_v2.c.
 */
#include "rpcrdma/header.h"

#include "rpc/xdr.h"
#include "rpcrdma/header_priv.h"

#define DISCRIMINATOR_BYTES 4u
#define COUNT_BYTES         4u
#define NO_LISTS_BYTES      (3 * DISCRIMINATOR_BYTES)

#define ERROR_VERS_BYTES    28u
#define ERROR_BYTES         20u /* version one: fixed words and the code */
#define ERROR_EXTRA_WORDS   8u  /* … and the default arm of the error */

/* ---- the three chunk lists, the same in all versions ---- */

static bool get_segment(struct xdr_reader *reader, struct rpcrdma_segment *seg)
{
	const uint8_t *at = reader->pos;

	if (!xdr_skip(reader, RPCRDMA_SEGMENT_BYTES))
		return false;
	seg->handle = be32_get(at);
	seg->len_bytes = be32_get(at + 4);
	seg->offset = be64_get(at + 8);
	return seg->offset <= UINT64_MAX - seg->len_bytes;
}

/* Neither segment wraps. An empty segment overlaps nothing. */
static bool segments_overlap(const struct rpcrdma_segment *a, const struct rpcrdma_segment *b)
{
	return a->handle == b->handle && a->len_bytes && b->len_bytes &&
	       a->offset < b->offset + b->len_bytes && b->offset < a->offset + a->len_bytes;
}

static bool get_read_list(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	for (;;) {
		struct rpcrdma_read_segment *read = &hdr->reads[hdr->nreads];
		bool more;

		if (!xdr_get_bool(reader, &more))
			return false;
		if (!more)
			return true;
		if (hdr->nreads == RPCRDMA_MAX_SEGMENTS || !xdr_get_u32(reader, &read->position) ||
		    read->position % XDR_UNIT_BYTES || !get_segment(reader, &read->seg))
			return false;
		for (unsigned i = 0; i < hdr->nreads; i++)
			if (segments_overlap(&hdr->reads[i].seg, &read->seg))
				return false;
		hdr->nreads++;
	}
}

/* A chunk without segments is legal (RFC 8166 section 3.4.6) and can hold nothing. */
static bool get_chunk(struct xdr_reader *reader, struct rpcrdma_header *hdr,
		      struct rpcrdma_chunk *chunk)
{
	uint32_t count;

	if (!xdr_get_count(reader, RPCRDMA_MAX_SEGMENTS - hdr->nsegments, RPCRDMA_SEGMENT_BYTES,
			   &count))
		return false;
	chunk->first = hdr->nsegments;
	chunk->count = count;
	chunk->len_bytes = 0;
	for (uint32_t n = 0; n < count; n++) {
		struct rpcrdma_segment *seg = &hdr->segments[hdr->nsegments];

		if (!get_segment(reader, seg))
			return false;
		for (unsigned i = 0; i < hdr->nsegments; i++)
			if (segments_overlap(&hdr->segments[i], seg))
				return false;
		chunk->len_bytes += seg->len_bytes;
		hdr->nsegments++;
	}
	return true;
}

static bool get_write_list(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	for (;;) {
		bool more;

		if (!xdr_get_bool(reader, &more))
			return false;
		if (!more)
			return true;
		if (hdr->nwrites == RPCRDMA_MAX_CHUNKS ||
		    !get_chunk(reader, hdr, &hdr->writes[hdr->nwrites]))
			return false;
		hdr->nwrites++;
	}
}

static bool get_reply_chunk(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	return xdr_get_bool(reader, &hdr->has_reply_chunk) &&
	       (!hdr->has_reply_chunk || get_chunk(reader, hdr, &hdr->reply_chunk));
}

static void chunk_lists_clear(struct rpcrdma_header *hdr)
{
	hdr->nreads = 0;
	hdr->nwrites = 0;
	hdr->nsegments = 0;
	hdr->has_reply_chunk = false;
}

/* Skips three empty lists, the usual case. */
static bool get_no_lists(struct xdr_reader *reader)
{
	if (xdr_remaining_bytes(reader) < NO_LISTS_BYTES || be64_get(reader->pos) ||
	    be32_get(reader->pos + 2 * DISCRIMINATOR_BYTES))
		return false;
	reader->pos += NO_LISTS_BYTES;
	return true;
}

/* Decodes the chunk lists; the lists of @hdr are empty on entry. */
static enum rpcrdma_verdict chunk_lists_get(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	if (get_no_lists(reader)) {
		hdr->body_offset = (uint32_t)xdr_position_bytes(reader);
		return RPCRDMA_OK;
	}
	if (get_read_list(reader, hdr) && get_write_list(reader, hdr) &&
	    get_reply_chunk(reader, hdr)) {
		hdr->body_offset = (uint32_t)xdr_position_bytes(reader);
		return RPCRDMA_OK;
	}
	chunk_lists_clear(hdr);
	return RPCRDMA_BAD_LISTS;
}

static void put_segment(struct xdr_writer *writer, const struct rpcrdma_segment *seg)
{
	uint8_t *to = xdr_reserve(writer, RPCRDMA_SEGMENT_BYTES);

	if (!to)
		return;
	be32_put(to, seg->handle);
	be32_put(to + 4, seg->len_bytes);
	be64_put(to + 8, seg->offset);
}

static void put_chunk(struct xdr_writer *writer, const struct rpcrdma_header *hdr,
		      const struct rpcrdma_chunk *chunk)
{
	xdr_put_u32(writer, chunk->count);
	for (unsigned i = 0; i < chunk->count; i++)
		put_segment(writer, &hdr->segments[chunk->first + i]);
}

static void put_no_lists(struct xdr_writer *writer)
{
	uint8_t *to = xdr_reserve(writer, NO_LISTS_BYTES);

	if (to)
		memset(to, 0, NO_LISTS_BYTES);
}

static void chunk_lists_put(struct xdr_writer *writer, const struct rpcrdma_header *hdr)
{
	if (!rpcrdma_header_has_chunks(hdr)) {
		put_no_lists(writer);
		return;
	}
	for (unsigned i = 0; i < hdr->nreads; i++) {
		xdr_put_bool(writer, true);
		xdr_put_u32(writer, hdr->reads[i].position);
		put_segment(writer, &hdr->reads[i].seg);
	}
	xdr_put_bool(writer, false);
	for (unsigned i = 0; i < hdr->nwrites; i++) {
		xdr_put_bool(writer, true);
		put_chunk(writer, hdr, &hdr->writes[i]);
	}
	xdr_put_bool(writer, false);
	xdr_put_bool(writer, hdr->has_reply_chunk);
	if (hdr->has_reply_chunk)
		put_chunk(writer, hdr, &hdr->reply_chunk);
}

static size_t chunk_bytes(const struct rpcrdma_chunk *chunk)
{
	return COUNT_BYTES + (size_t)chunk->count * RPCRDMA_SEGMENT_BYTES;
}

static size_t chunk_lists_bytes(const struct rpcrdma_header *hdr)
{
	size_t bytes = NO_LISTS_BYTES;

	bytes += (size_t)hdr->nreads * RPCRDMA_READ_SEGMENT_BYTES;
	for (unsigned i = 0; i < hdr->nwrites; i++)
		bytes += DISCRIMINATOR_BYTES + chunk_bytes(&hdr->writes[i]);
	if (hdr->has_reply_chunk)
		bytes += chunk_bytes(&hdr->reply_chunk);
	return bytes;
}

/* ---- only version one ---- */

static enum rpcrdma_verdict get_msgp(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	if (!xdr_get_u32(reader, &hdr->align) || !xdr_get_u32(reader, &hdr->thresh))
		return RPCRDMA_SHORT;
	return chunk_lists_get(reader, hdr);
}

static enum rpcrdma_verdict v1_get(struct xdr_reader *reader, size_t len,
				   struct rpcrdma_header *hdr)
{
	switch (hdr->proc) {
	case RPCRDMA_MSGP:
		return len < RPCRDMA_MIN_HDR_BYTES + RPCRDMA_MSGP_EXTRA_BYTES
			       ? RPCRDMA_SHORT
			       : get_msgp(reader, hdr);
	case RPCRDMA_DONE:
	case RPCRDMA_ERROR:
		/* An unknown error code has no known arguments; bytes after it are ignored. */
		hdr->body_offset = (uint32_t)xdr_position_bytes(reader);
		return RPCRDMA_OK;
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
	case RPCRDMA_OPTIONAL:
		break;
	}
	/* RFC 8166 section 4.5: discard messages shorter than any Call's header. */
	return len < RPCRDMA_MIN_HDR_BYTES ? RPCRDMA_SHORT : RPCRDMA_BAD_PROC;
}

static void put_error(struct xdr_writer *writer, const struct rpcrdma_header *hdr)
{
	if (hdr->error == RPCRDMA_ERR_CHUNK)
		return;
	for (unsigned i = 0; i < ERROR_EXTRA_WORDS; i++)
		xdr_put_u32(writer, 0);
}

static bool v1_put(struct xdr_writer *writer, const struct rpcrdma_header *hdr)
{
	switch (hdr->proc) {
	case RPCRDMA_MSGP:
		xdr_put_u32(writer, hdr->align);
		xdr_put_u32(writer, hdr->thresh);
		chunk_lists_put(writer, hdr);
		return true;
	case RPCRDMA_DONE:
		return true;
	case RPCRDMA_ERROR:
		put_error(writer, hdr);
		return true;
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
	case RPCRDMA_OPTIONAL:
		break;
	}
	return false;
}

static size_t v1_bytes(const struct rpcrdma_header *hdr)
{
	switch (hdr->proc) {
	case RPCRDMA_MSGP:
		return RPCRDMA_FIXED_BYTES + RPCRDMA_MSGP_EXTRA_BYTES + chunk_lists_bytes(hdr);
	case RPCRDMA_DONE:
		return RPCRDMA_FIXED_BYTES;
	case RPCRDMA_ERROR:
		return hdr->error == RPCRDMA_ERR_CHUNK
			       ? ERROR_BYTES
			       : ERROR_BYTES + ERROR_EXTRA_WORDS * XDR_UNIT_BYTES;
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
	case RPCRDMA_OPTIONAL:
		break;
	}
	return 0;
}

/* ---- all versions ---- */

static bool is_known_version(const struct rpcrdma_header *hdr)
{
	return hdr->vers == RPCRDMA_VERSION_ONE || hdr->vers == RPCRDMA_VERSION_TWO;
}

/* Returns true for messages of fixed words and lists only, in both versions. */
static bool is_msg_or_nomsg(const struct rpcrdma_header *hdr)
{
	return hdr->proc == RPCRDMA_MSG || hdr->proc == RPCRDMA_NOMSG;
}

static bool is_err_vers(const struct rpcrdma_header *hdr)
{
	return hdr->proc == RPCRDMA_ERROR && hdr->error == RPCRDMA_ERR_VERS;
}

static bool get_fixed(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	const uint8_t *words = reader->pos;

	if (!xdr_skip(reader, RPCRDMA_FIXED_BYTES))
		return false;
	rpcrdma_header_init(hdr, be32_get(words), be32_get(words + 4), be32_get(words + 8),
			    be32_get(words + 12));
	return true;
}

static enum rpcrdma_verdict get_err_vers(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	if (!xdr_get_u32(reader, &hdr->vers_low) || !xdr_get_u32(reader, &hdr->vers_high))
		return RPCRDMA_SHORT;
	hdr->body_offset = (uint32_t)xdr_position_bytes(reader);
	return RPCRDMA_OK;
}

enum rpcrdma_verdict rpcrdma_header_decode(const uint8_t *send, size_t len,
					   struct rpcrdma_header *hdr)
{
	struct xdr_reader reader;

	xdr_reader_init(&reader, send, len);
	if (!get_fixed(&reader, hdr))
		return RPCRDMA_SHORT;
	if (hdr->proc == RPCRDMA_ERROR && !xdr_get_u32(&reader, &hdr->error))
		return RPCRDMA_SHORT;
	if (is_err_vers(hdr))
		return get_err_vers(&reader, hdr);
	if (!is_known_version(hdr))
		return RPCRDMA_BAD_VERS;
	if (is_msg_or_nomsg(hdr))
		return len < RPCRDMA_MIN_HDR_BYTES ? RPCRDMA_SHORT : chunk_lists_get(&reader, hdr);
	return hdr->vers == RPCRDMA_VERSION_ONE ? v1_get(&reader, len, hdr)
						: header_v2_get(&reader, len, hdr);
}

static void put_fixed(struct xdr_writer *writer, const struct rpcrdma_header *hdr)
{
	uint8_t *to = xdr_reserve(writer, RPCRDMA_FIXED_BYTES);

	if (to) {
		be32_put(to, hdr->xid);
		be32_put(to + 4, hdr->vers);
		be32_put(to + 8, hdr->credit);
		be32_put(to + 12, hdr->proc);
	}
	if (hdr->proc == RPCRDMA_ERROR)
		xdr_put_u32(writer, hdr->error);
}

static bool put_rest(struct xdr_writer *writer, const struct rpcrdma_header *hdr)
{
	if (!is_known_version(hdr))
		return false;
	if (is_msg_or_nomsg(hdr)) {
		chunk_lists_put(writer, hdr);
		return true;
	}
	return hdr->vers == RPCRDMA_VERSION_ONE ? v1_put(writer, hdr) : header_v2_put(writer, hdr);
}

size_t rpcrdma_header_encode(const struct rpcrdma_header *hdr, uint8_t *to, size_t capacity)
{
	struct xdr_writer writer;

	xdr_writer_init(&writer, to, capacity);
	put_fixed(&writer, hdr);
	if (is_err_vers(hdr)) {
		xdr_put_u32(&writer, hdr->vers_low);
		xdr_put_u32(&writer, hdr->vers_high);
	} else if (!put_rest(&writer, hdr)) {
		return 0;
	}
	return xdr_written_bytes(&writer);
}

size_t rpcrdma_header_bytes(const struct rpcrdma_header *hdr)
{
	if (is_err_vers(hdr))
		return ERROR_VERS_BYTES;
	if (!is_known_version(hdr))
		return 0;
	if (is_msg_or_nomsg(hdr))
		return RPCRDMA_FIXED_BYTES + chunk_lists_bytes(hdr);
	return hdr->vers == RPCRDMA_VERSION_ONE ? v1_bytes(hdr) : header_v2_bytes(hdr);
}

void rpcrdma_header_init(struct rpcrdma_header *hdr, uint32_t xid, uint32_t vers, uint32_t credit,
			 enum rpcrdma_proc proc)
{
	hdr->xid = xid;
	hdr->vers = vers;
	hdr->credit = credit;
	hdr->proc = proc;
	hdr->align = 0;
	hdr->thresh = 0;
	hdr->error = 0;
	hdr->vers_low = 0;
	hdr->vers_high = 0;
	hdr->opttype = 0;
	hdr->optinfo = NULL;
	hdr->optinfo_bytes = 0;
	hdr->body_offset = 0;
	hdr->reply_chunk = (struct rpcrdma_chunk){0};
	chunk_lists_clear(hdr);
}
