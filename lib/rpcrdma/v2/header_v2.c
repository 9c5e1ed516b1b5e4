// SPDX-License-Identifier: BSD-3-Clause
/* An error is one word; bytes after it are ignored (E4.2-6). */
#include "rpc/xdr.h"
#include "rpcrdma/header_priv.h"

#define ERROR_BYTES        20u /* fixed words and the code */
#define OPTIONAL_MIN_BYTES 24u /* fixed words, type and length */

static enum rpcrdma_verdict get_optional(struct xdr_reader *reader, struct rpcrdma_header *hdr)
{
	const uint8_t *info;
	uint32_t bytes;

	if (!xdr_get_u32(reader, &hdr->opttype) ||
	    !xdr_get_opaque(reader, UINT32_MAX, &info, &bytes))
		return RPCRDMA_BAD_OPTION;
	hdr->optinfo = info;
	hdr->optinfo_bytes = bytes;
	hdr->body_offset = (uint32_t)xdr_position_bytes(reader);
	return RPCRDMA_OK;
}

enum rpcrdma_verdict header_v2_get(struct xdr_reader *reader, size_t len,
				   struct rpcrdma_header *hdr)
{
	switch (hdr->proc) {
	case RPCRDMA_MSGP:
	case RPCRDMA_DONE:
		return RPCRDMA_RESERVED;
	case RPCRDMA_ERROR:
		hdr->body_offset = (uint32_t)xdr_position_bytes(reader);
		return RPCRDMA_OK;
	case RPCRDMA_OPTIONAL:
		return len < OPTIONAL_MIN_BYTES ? RPCRDMA_SHORT : get_optional(reader, hdr);
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		break;
	}
	return RPCRDMA_BAD_PROC;
}

bool header_v2_put(struct xdr_writer *writer, const struct rpcrdma_header *hdr)
{
	switch (hdr->proc) {
	case RPCRDMA_ERROR:
		return true;
	case RPCRDMA_OPTIONAL:
		xdr_put_u32(writer, hdr->opttype);
		xdr_put_opaque(writer, hdr->optinfo, hdr->optinfo_bytes);
		return true;
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
	case RPCRDMA_MSGP:
	case RPCRDMA_DONE:
		break;
	}
	return false;
}

size_t header_v2_bytes(const struct rpcrdma_header *hdr)
{
	switch (hdr->proc) {
	case RPCRDMA_ERROR:
		return ERROR_BYTES;
	case RPCRDMA_OPTIONAL:
		return OPTIONAL_MIN_BYTES + xdr_padded_bytes(hdr->optinfo_bytes);
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
	case RPCRDMA_MSGP:
	case RPCRDMA_DONE:
		break;
	}
	return 0;
}
