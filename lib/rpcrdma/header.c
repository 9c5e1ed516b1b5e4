// SPDX-License-Identifier: BSD-3-Clause
/* The version-one transport header, one function per production (draft-ietf-nfsv4-rpcrdma-03 section 4.3). */
#include "rpcrdma/header.h"

#include "rpc/xdr.h"

#define ERROR_BYTES         20u /* fixed words and the code */
#define ERROR_VERS_BYTES    28u
#define ERROR_EXTRA_WORDS   8u /* what the default arm of the error carries */
#define MSGP_EXTRA_BYTES    8u /* align, thresh */
#define DISCRIMINATOR_BYTES 4u
#define COUNT_BYTES         4u

static bool get_segment(struct xdr_reader *reader, struct rpcrdma_segment *seg)
{
	if (!xdr_get_u32(reader, &seg->handle) || !xdr_get_u32(reader, &seg->len_bytes) ||
	    !xdr_get_u64(reader, &seg->offset))
		return false;
	return seg->offset <= UINT64_MAX - seg->len_bytes;
}

/* Neither wraps; an empty one overlaps nothing. */
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

/* A chunk without segments is legal (RFC 8166 section 3.4.6) and has no room. */
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

static void clear_lists(struct rpcrdma_header *hdr)
{
	hdr->nreads = 0;
	hdr->nwrites = 0;
	hdr->nsegments = 0;
	hdr->has_reply_chunk = false;
}

static enum rpcrdma_verdict get_lists(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	if (get_read_list(reader, hdr) && get_write_list(reader, hdr) &&
	    get_reply_chunk(reader, hdr)) {
		hdr->body_offset = (uint32_t)xdr_position_bytes(reader);
		return RPCRDMA_OK;
	}
	clear_lists(hdr);
	return RPCRDMA_BAD_LISTS;
}

static enum rpcrdma_verdict get_msgp(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	if (!xdr_get_u32(reader, &hdr->align) || !xdr_get_u32(reader, &hdr->thresh))
		return RPCRDMA_SHORT;
	return get_lists(reader, hdr);
}

/*
 * The only kind whose form does not depend on the version (A4.1-1), and ERR_VERS is to be
 * understood in any (A4.2-1). Codes that are not known stand alone; what follows them is ignored.
 */
static enum rpcrdma_verdict get_error(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	if (!xdr_get_u32(reader, &hdr->error))
		return RPCRDMA_SHORT;
	if (hdr->error == RPCRDMA_ERR_VERS) {
		if (!xdr_get_u32(reader, &hdr->vers_low) || !xdr_get_u32(reader, &hdr->vers_high))
			return RPCRDMA_SHORT;
	} else if (hdr->vers != RPCRDMA_VERSION_ONE) {
		return RPCRDMA_BAD_VERS;
	}
	hdr->body_offset = (uint32_t)xdr_position_bytes(reader);
	return RPCRDMA_OK;
}

enum rpcrdma_verdict rpcrdma_header_decode(const uint8_t *send, size_t len,
					   struct rpcrdma_header *hdr)
{
	struct xdr_reader reader;
	uint32_t xid, vers, credit, proc;

	xdr_reader_init(&reader, send, len);
	if (!xdr_get_u32(&reader, &xid) || !xdr_get_u32(&reader, &vers) ||
	    !xdr_get_u32(&reader, &credit) || !xdr_get_u32(&reader, &proc))
		return RPCRDMA_SHORT;
	rpcrdma_header_init(hdr, xid, credit, proc);
	hdr->vers = vers;
	if (proc == RPCRDMA_ERROR)
		return get_error(&reader, hdr);
	if (vers != RPCRDMA_VERSION_ONE)
		return RPCRDMA_BAD_VERS;

	switch (proc) {
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		return len < RPCRDMA_MIN_HDR_BYTES ? RPCRDMA_SHORT : get_lists(&reader, hdr);
	case RPCRDMA_MSGP:
		return len < RPCRDMA_MIN_HDR_BYTES + MSGP_EXTRA_BYTES ? RPCRDMA_SHORT
								      : get_msgp(&reader, hdr);
	case RPCRDMA_DONE:
		hdr->body_offset = RPCRDMA_FIXED_BYTES;
		return RPCRDMA_OK;
	default:
		return RPCRDMA_BAD_PROC;
	}
}

static void put_segment(struct xdr_writer *writer, const struct rpcrdma_segment *seg)
{
	xdr_put_u32(writer, seg->handle);
	xdr_put_u32(writer, seg->len_bytes);
	xdr_put_u64(writer, seg->offset);
}

static void put_chunk(struct xdr_writer *writer, const struct rpcrdma_header *hdr,
		      const struct rpcrdma_chunk *chunk)
{
	xdr_put_u32(writer, chunk->count);
	for (unsigned i = 0; i < chunk->count; i++)
		put_segment(writer, &hdr->segments[chunk->first + i]);
}

static void put_lists(struct xdr_writer *writer, const struct rpcrdma_header *hdr)
{
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

static void put_error(struct xdr_writer *writer, const struct rpcrdma_header *hdr)
{
	xdr_put_u32(writer, hdr->error);
	switch (hdr->error) {
	case RPCRDMA_ERR_VERS:
		xdr_put_u32(writer, hdr->vers_low);
		xdr_put_u32(writer, hdr->vers_high);
		break;
	case RPCRDMA_ERR_CHUNK:
		break;
	default:
		for (unsigned i = 0; i < ERROR_EXTRA_WORDS; i++)
			xdr_put_u32(writer, 0);
		break;
	}
}

size_t rpcrdma_header_encode(const struct rpcrdma_header *hdr, uint8_t *to, size_t room)
{
	struct xdr_writer writer;

	xdr_writer_init(&writer, to, room);
	xdr_put_u32(&writer, hdr->xid);
	xdr_put_u32(&writer, hdr->vers);
	xdr_put_u32(&writer, hdr->credit);
	xdr_put_u32(&writer, hdr->proc);
	switch (hdr->proc) {
	case RPCRDMA_MSGP:
		xdr_put_u32(&writer, hdr->align);
		xdr_put_u32(&writer, hdr->thresh);
		put_lists(&writer, hdr);
		break;
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		put_lists(&writer, hdr);
		break;
	case RPCRDMA_DONE:
		break;
	case RPCRDMA_ERROR:
		put_error(&writer, hdr);
		break;
	default:
		return 0;
	}
	return xdr_written_bytes(&writer);
}

static size_t chunk_bytes(const struct rpcrdma_chunk *chunk)
{
	return COUNT_BYTES + (size_t)chunk->count * RPCRDMA_SEGMENT_BYTES;
}

static size_t lists_bytes(const struct rpcrdma_header *hdr)
{
	size_t bytes = 3 * DISCRIMINATOR_BYTES;

	bytes += (size_t)hdr->nreads * RPCRDMA_READ_SEGMENT_BYTES;
	for (unsigned i = 0; i < hdr->nwrites; i++)
		bytes += DISCRIMINATOR_BYTES + chunk_bytes(&hdr->writes[i]);
	if (hdr->has_reply_chunk)
		bytes += chunk_bytes(&hdr->reply_chunk);
	return bytes;
}

static size_t error_bytes(uint32_t error)
{
	switch (error) {
	case RPCRDMA_ERR_VERS:
		return ERROR_VERS_BYTES;
	case RPCRDMA_ERR_CHUNK:
		return ERROR_BYTES;
	default:
		return ERROR_BYTES + ERROR_EXTRA_WORDS * XDR_UNIT_BYTES;
	}
}

size_t rpcrdma_header_bytes(const struct rpcrdma_header *hdr)
{
	switch (hdr->proc) {
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		return RPCRDMA_FIXED_BYTES + lists_bytes(hdr);
	case RPCRDMA_MSGP:
		return RPCRDMA_FIXED_BYTES + MSGP_EXTRA_BYTES + lists_bytes(hdr);
	case RPCRDMA_DONE:
		return RPCRDMA_FIXED_BYTES;
	case RPCRDMA_ERROR:
		return error_bytes(hdr->error);
	default:
		return 0;
	}
}

void rpcrdma_header_init(struct rpcrdma_header *hdr, uint32_t xid, uint32_t credit,
			 enum rpcrdma_proc proc)
{
	hdr->xid = xid;
	hdr->vers = RPCRDMA_VERSION_ONE;
	hdr->credit = credit;
	hdr->proc = proc;
	hdr->align = 0;
	hdr->thresh = 0;
	hdr->error = 0;
	hdr->vers_low = 0;
	hdr->vers_high = 0;
	hdr->body_offset = 0;
	hdr->reply_chunk = (struct rpcrdma_chunk){0};
	clear_lists(hdr);
}

const char *rpcrdma_proc_name(uint32_t proc)
{
	static const char *const names[] = {
		[RPCRDMA_MSG] = "RDMA_MSG",     [RPCRDMA_NOMSG] = "RDMA_NOMSG",
		[RPCRDMA_MSGP] = "RDMA_MSGP",   [RPCRDMA_DONE] = "RDMA_DONE",
		[RPCRDMA_ERROR] = "RDMA_ERROR",
	};

	return proc < ARRAY_SIZE(names) ? names[proc] : "unknown";
}

const char *rpcrdma_verdict_name(enum rpcrdma_verdict verdict)
{
	static const char *const names[] = {
		[RPCRDMA_OK] = "ok",
		[RPCRDMA_SHORT] = "short",
		[RPCRDMA_BAD_VERS] = "bad version",
		[RPCRDMA_BAD_PROC] = "bad message type",
		[RPCRDMA_BAD_LISTS] = "bad chunk lists",
	};

	return (size_t)verdict < ARRAY_SIZE(names) ? names[verdict] : "unknown";
}
