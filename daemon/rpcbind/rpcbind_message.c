// SPDX-License-Identifier: BSD-3-Clause
/* RPCBPROC_SET, RPCBPROC_UNSET, and their Reply. */
#include "daemon/rpcbind/rpcbind_message.h"

#include <string.h>

#include "rpc/msg.h"
#include "rpc/record.h"
#include "rpc/xdr.h"

#define RPCBIND_PROGRAM 100000u
#define RPCBIND_VERSION 3u

static void put_text(struct xdr_writer *writer, const char *text)
{
	xdr_put_opaque(writer, (const uint8_t *)text, (uint32_t)strlen(text));
}

/* Who asks is told by the socket; rpcbind takes the owner from there. */
static void put_header(struct xdr_writer *writer, uint32_t xid, enum rpcbind_procedure procedure)
{
	xdr_put_u32(writer, xid);
	xdr_put_u32(writer, RPC_CALL);
	xdr_put_u32(writer, RPC_VERSION);
	xdr_put_u32(writer, RPCBIND_PROGRAM);
	xdr_put_u32(writer, RPCBIND_VERSION);
	xdr_put_u32(writer, procedure);
	for (int i = 0; i < 2; i++) {
		xdr_put_u32(writer, RPC_AUTH_NONE);
		xdr_put_u32(writer, 0);
	}
}

size_t rpcbind_call(uint8_t to[RPCBIND_MAX_CALL_BYTES], uint32_t xid,
		    enum rpcbind_procedure procedure, uint32_t program, uint32_t version,
		    const char *netid, const char *address)
{
	struct xdr_writer writer;
	size_t len;

	xdr_writer_init(&writer, to + RECORD_MARK_BYTES,
			RPCBIND_MAX_CALL_BYTES - RECORD_MARK_BYTES);
	put_header(&writer, xid, procedure);
	xdr_put_u32(&writer, program);
	xdr_put_u32(&writer, version);
	put_text(&writer, netid);
	put_text(&writer, address);
	put_text(&writer, ""); /* the owner */
	len = xdr_written_bytes(&writer);
	if (!len)
		return 0;
	record_mark_encode(to, (uint32_t)len);
	return RECORD_MARK_BYTES + len;
}

enum rpcbind_reply rpcbind_reply(const uint8_t *message, size_t len, uint32_t xid)
{
	struct rpc_reply_hdr header;
	struct xdr_reader reader;
	bool yes;

	if (rpc_reply_decode(message, len, &header) != RPC_OK)
		return RPCBIND_GARBAGE;
	if (header.xid != xid)
		return RPCBIND_ANOTHER;
	if (header.stat != RPC_MSG_ACCEPTED || header.accept_stat != RPC_SUCCESS)
		return RPCBIND_ERROR;
	xdr_reader_init(&reader, message, len);
	if (!xdr_skip(&reader, header.results_offset) || !xdr_get_bool(&reader, &yes) ||
	    xdr_remaining_bytes(&reader))
		return RPCBIND_GARBAGE;
	return yes ? RPCBIND_YES : RPCBIND_NO;
}
