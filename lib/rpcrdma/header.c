// SPDX-License-Identifier: BSD-3-Clause
/*
 * The transport header: the four words that stand first in every version (A4.1-1), and ERR_VERS, which is the same in
 * all and is to be understood in any (A4.2-1). What else a version has is its own codec's.
 */
#include "rpcrdma/header.h"

#include "rpc/xdr.h"
#include "rpcrdma/header_impl.h"

#define ERROR_VERS_BYTES 28u

static const struct header_codec *codec_of(uint32_t vers)
{
	switch (vers) {
	case RPCRDMA_VERSION_ONE:
		return &header_v1;
	case RPCRDMA_VERSION_TWO:
		return &header_v2;
	}
	return NULL;
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
	const struct header_codec *codec;
	struct xdr_reader reader;

	xdr_reader_init(&reader, send, len);
	if (!get_fixed(&reader, hdr))
		return RPCRDMA_SHORT;
	if (hdr->proc == RPCRDMA_ERROR && !xdr_get_u32(&reader, &hdr->error))
		return RPCRDMA_SHORT;
	if (is_err_vers(hdr))
		return get_err_vers(&reader, hdr);
	codec = codec_of(hdr->vers);
	return codec ? codec->get(&reader, len, hdr) : RPCRDMA_BAD_VERS;
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

size_t rpcrdma_header_encode(const struct rpcrdma_header *hdr, uint8_t *to, size_t room)
{
	const struct header_codec *codec = codec_of(hdr->vers);
	struct xdr_writer writer;

	xdr_writer_init(&writer, to, room);
	put_fixed(&writer, hdr);
	if (is_err_vers(hdr)) {
		xdr_put_u32(&writer, hdr->vers_low);
		xdr_put_u32(&writer, hdr->vers_high);
	} else if (!codec || !codec->put(&writer, hdr)) {
		return 0;
	}
	return xdr_written_bytes(&writer);
}

size_t rpcrdma_header_bytes(const struct rpcrdma_header *hdr)
{
	const struct header_codec *codec = codec_of(hdr->vers);

	if (is_err_vers(hdr))
		return ERROR_VERS_BYTES;
	return codec ? codec->bytes(hdr) : 0;
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
