// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/rpcbind/rpcb_xdr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/minmax.h"
#include "base/sockaddr.h"
#include "rpc/rpc_header.h"
#include "rpc/xdr.h"

#define RPCBIND_PROGRAM 100000u
#define RPCBIND_VERSION 3u
#define UADDR_BYTES     64u

static void put_text(struct xdr_writer *writer, const char *text)
{
	xdr_put_opaque(writer, (const uint8_t *)text, (uint32_t)strlen(text));
}

/* AUTH_NONE: rpcbind gets the owner from the socket. */
static void put_header(struct xdr_writer *writer, uint32_t xid, enum rpcb_procedure procedure)
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

size_t rpcb_call_encode(uint8_t to[RPCBIND_MAX_CALL_BYTES], uint32_t xid,
			enum rpcb_procedure procedure, uint32_t program, uint32_t version,
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

void rpcb_input_init(struct rpcb_input *input)
{
	input->len = 0;
	record_parser_init(&input->parser, sizeof(input->message));
}

enum record_status rpcb_input_read(struct rpcb_input *input, const uint8_t **in, size_t *len)
{
	enum record_status status;
	size_t used, n;

	for (;;) {
		status = record_next(&input->parser, *in, *len, &used);
		*in += used;
		*len -= used;
		if (status != RECORD_BODY)
			return status;
		n = min_u32((uint32_t)*len, input->parser.fragment_left_bytes);
		if (!n)
			return RECORD_MORE;
		memcpy(input->message + input->len, *in, n); /* longer records are rejected */
		input->len += n;
		record_consume(&input->parser, (uint32_t)n);
		*in += n;
		*len -= n;
	}
}

/* Returns RPCBIND_YES if @results are those of Call @xid. */
static enum rpcb_reply begin_reply(const uint8_t *message, size_t len, uint32_t xid,
				   struct xdr_reader *results)
{
	struct rpc_reply_hdr header;

	if (rpc_reply_decode(message, len, &header) != RPC_OK)
		return RPCBIND_GARBAGE;
	if (header.xid != xid)
		return RPCBIND_ANOTHER;
	if (header.stat != RPC_MSG_ACCEPTED || header.accept_stat != RPC_SUCCESS)
		return RPCBIND_ERROR;
	xdr_reader_init(results, message, len);
	return xdr_skip(results, header.results_offset) ? RPCBIND_YES : RPCBIND_GARBAGE;
}

enum rpcb_reply rpcbind_reply(const uint8_t *message, size_t len, uint32_t xid)
{
	struct xdr_reader results;
	enum rpcb_reply reply = begin_reply(message, len, xid, &results);
	bool yes;

	if (reply != RPCBIND_YES)
		return reply;
	if (!xdr_get_bool(&results, &yes) || xdr_remaining_bytes(&results))
		return RPCBIND_GARBAGE;
	return yes ? RPCBIND_YES : RPCBIND_NO;
}

/* "10.0.0.1.78.80": the last two numbers are the port. */
static bool parse_port(const char *address, uint16_t *port)
{
	const char *at = strrchr(address, '.');
	unsigned high, low;
	char end;

	while (at && at > address && at[-1] != '.')
		at--;
	if (!at || at == address || sscanf(at, "%3u.%3u%c", &high, &low, &end) != 2 || high > 255 ||
	    low > 255)
		return false;
	*port = (uint16_t)(high << 8 | low);
	return *port != 0;
}

enum rpcb_reply rpcb_reply_port(const uint8_t *message, size_t len, uint32_t xid, uint16_t *port)
{
	struct xdr_reader results;
	enum rpcb_reply reply = begin_reply(message, len, xid, &results);
	char address[UADDR_BYTES + 1];
	const uint8_t *data;
	uint32_t bytes;

	if (reply != RPCBIND_YES)
		return reply;
	if (!xdr_get_opaque(&results, UADDR_BYTES, &data, &bytes) || memchr(data, '\0', bytes))
		return RPCBIND_GARBAGE;
	memcpy(address, data, bytes);
	address[bytes] = '\0';
	if (!bytes)
		return RPCBIND_NO;
	return parse_port(address, port) ? RPCBIND_YES : RPCBIND_GARBAGE;
}

const char *uaddr_encode(const struct sockaddr *addr, char text[UADDR_TEXT_BYTES])
{
	char name[INET6_ADDRSTRLEN];
	struct in6_addr host;
	uint16_t port = sockaddr_port(addr);

	text[0] = '\0';
	if (!sockaddr_host(addr, &host))
		return text;
	if (IN6_IS_ADDR_V4MAPPED(&host))
		inet_ntop(AF_INET, &host.s6_addr[12], name, sizeof(name));
	else
		inet_ntop(AF_INET6, &host, name, sizeof(name));
	snprintf(text, UADDR_TEXT_BYTES, "%s.%u.%u", name, port >> 8, port & 0xffu);
	return text;
}
