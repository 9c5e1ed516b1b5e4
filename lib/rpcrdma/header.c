// SPDX-License-Identifier: BSD-3-Clause
/*
 * The four words that stand first in every version (A4.1-1), ERR_VERS, which is the same in all versions and is understood
 * in any (A4.2-1), and what follows them in version one (draft-ietf-nfsv4-rpcrdma-03 section 4.3). Version two is in
 * v2/header_v2.c.
 */
#include "rpcrdma/header.h"

#include "rpc/xdr.h"
#include "rpcrdma/header_impl.h"

#define ERROR_VERS_BYTES  28u
#define ERROR_BYTES       20u /* version one: fixed words and the code */
#define ERROR_EXTRA_WORDS 8u  /* … what the default arm of the error carries */

/* ---- version one ---- */

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
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		return len < RPCRDMA_MIN_HDR_BYTES ? RPCRDMA_SHORT : chunk_lists_get(reader, hdr);
	case RPCRDMA_MSGP:
		return len < RPCRDMA_MIN_HDR_BYTES + RPCRDMA_MSGP_EXTRA_BYTES
			       ? RPCRDMA_SHORT
			       : get_msgp(reader, hdr);
	case RPCRDMA_DONE:
	case RPCRDMA_ERROR:
		/* Error codes that are not known stand alone; what follows them is ignored. */
		hdr->body_offset = (uint32_t)xdr_position_bytes(reader);
		return RPCRDMA_OK;
	case RPCRDMA_OPTIONAL:
		break;
	}
	/* RFC 8166 section 4.5 drops what is shorter than any Call's header. */
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
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		chunk_lists_put(writer, hdr);
		return true;
	case RPCRDMA_DONE:
		return true;
	case RPCRDMA_ERROR:
		put_error(writer, hdr);
		return true;
	case RPCRDMA_OPTIONAL:
		break;
	}
	return false;
}

static size_t v1_bytes(const struct rpcrdma_header *hdr)
{
	switch (hdr->proc) {
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		return RPCRDMA_FIXED_BYTES + chunk_lists_bytes(hdr);
	case RPCRDMA_MSGP:
		return RPCRDMA_FIXED_BYTES + RPCRDMA_MSGP_EXTRA_BYTES + chunk_lists_bytes(hdr);
	case RPCRDMA_DONE:
		return RPCRDMA_FIXED_BYTES;
	case RPCRDMA_ERROR:
		return hdr->error == RPCRDMA_ERR_CHUNK
			       ? ERROR_BYTES
			       : ERROR_BYTES + ERROR_EXTRA_WORDS * XDR_UNIT_BYTES;
	case RPCRDMA_OPTIONAL:
		break;
	}
	return 0;
}

/* ---- all versions ---- */

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
	if (hdr->vers == RPCRDMA_VERSION_ONE)
		return v1_get(&reader, len, hdr);
	return hdr->vers == RPCRDMA_VERSION_TWO ? header_v2_get(&reader, len, hdr)
						: RPCRDMA_BAD_VERS;
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
	if (hdr->vers == RPCRDMA_VERSION_ONE)
		return v1_put(writer, hdr);
	return hdr->vers == RPCRDMA_VERSION_TWO && header_v2_put(writer, hdr);
}

size_t rpcrdma_header_encode(const struct rpcrdma_header *hdr, uint8_t *to, size_t room)
{
	struct xdr_writer writer;

	xdr_writer_init(&writer, to, room);
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
	if (hdr->vers == RPCRDMA_VERSION_ONE)
		return v1_bytes(hdr);
	return hdr->vers == RPCRDMA_VERSION_TWO ? header_v2_bytes(hdr) : 0;
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

const char *rpcrdma_proc_name(uint32_t proc)
{
	static const char *const names[] = {
		[RPCRDMA_MSG] = "RDMA_MSG",     [RPCRDMA_NOMSG] = "RDMA_NOMSG",
		[RPCRDMA_MSGP] = "RDMA_MSGP",   [RPCRDMA_DONE] = "RDMA_DONE",
		[RPCRDMA_ERROR] = "RDMA_ERROR", [RPCRDMA_OPTIONAL] = "RDMA_OPTIONAL",
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
		[RPCRDMA_RESERVED] = "reserved message type",
		[RPCRDMA_BAD_OPTION] = "bad operation",
	};

	return (size_t)verdict < ARRAY_SIZE(names) ? names[verdict] : "unknown";
}
