// SPDX-License-Identifier: BSD-3-Clause
/* What version one has behind the fixed words (draft-ietf-nfsv4-rpcrdma-03 section 4.3). */
#include "rpc/xdr.h"
#include "rpcrdma/header_impl.h"

#define ERROR_BYTES       20u /* fixed words and the code */
#define ERROR_EXTRA_WORDS 8u  /* what the default arm of the error carries */

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

const struct header_codec header_v1 = {.get = v1_get, .put = v1_put, .bytes = v1_bytes};
