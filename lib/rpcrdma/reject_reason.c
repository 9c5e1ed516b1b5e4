// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/reject_reason.h"

#include <assert.h>
#include <string.h>

#include "rpc/xdr.h"

#define IDENTIFIER  0x5250524au
#define VERSION     1u
#define HEAD_BYTES  6u
#define WORDS_BYTES (REJECT_REASON_WORDS_BYTES - 1u)

/* Shown in the log of the connecting proxy ("you"); "it" is the rejecting proxy. */
static const char *const words_of[LEG_CLOSE_COUNT] = {
	/* About its server. */
	[LEG_CLOSE_PEER] = "its server has closed the connection",
	[LEG_CLOSE_LOST] = "its connection to its server is lost",
	[LEG_CLOSE_SILENT] = "its server does not answer any more",
	[LEG_CLOSE_REFUSED] = "its server refuses the connection",
	[LEG_CLOSE_UNREACHABLE] = "its server cannot be reached",
	[LEG_CLOSE_NO_ADDRESS] = "the name of its server cannot be resolved",
	[LEG_CLOSE_OWN_UPSTREAM] = "its server would be itself",
	[LEG_CLOSE_NO_SERVER] = "no server of it takes new connections",
	[LEG_CLOSE_TAKEN_DOWN] = "its server was taken down",
	[LEG_CLOSE_TIMEOUT] = "its server does not answer in time",
	[LEG_CLOSE_NOT_RPC] = "what answers as its server does not speak RPC",
	[LEG_CLOSE_TLS] = "it and its server cannot begin TLS",
	[LEG_CLOSE_PROTOCOL] = "what answers as its server does not speak RPC over RDMA",
	[LEG_CLOSE_VERSION] = "it and its server have no version of RPC over RDMA in common",
	[LEG_CLOSE_RESOURCES] = "it lacks memory, descriptors or a source port",
	/* About the client. */
	[LEG_CLOSE_NO_SOURCE_ADDRESS] = "it cannot come to its server from your address",
	[LEG_CLOSE_PROXY_HEADER] = "your PROXY header is missing, wrong or not taken",
	[LEG_CLOSE_NOT_ALLOWED] = "your address is not allowed",
	[LEG_CLOSE_TOO_MANY] = "its max_connections is reached",
	[LEG_CLOSE_PER_CLIENT] = "its max_connections_per_client is reached for your address",
	[LEG_CLOSE_HALF_OPEN] = "it has too many connections without a Call",
	[LEG_CLOSE_MADE_ROOM] = "you made no Call, and others needed the place",
	[LEG_CLOSE_SUPERSEDED] = "you are back on a new connection",
	[LEG_CLOSE_SHUTDOWN] = "it stops",
};

size_t reject_reason_encode(enum leg_close why, uint8_t to[REJECT_REASON_BYTES])
{
	const char *words = words_of[why];
	size_t len_bytes = words ? strlen(words) : 0;

	if (!len_bytes)
		return 0;
	assert(len_bytes <= WORDS_BYTES);
	be32_put(to, IDENTIFIER);
	to[4] = VERSION;
	to[5] = (uint8_t)len_bytes;
	memcpy(to + HEAD_BYTES, words, len_bytes);
	return HEAD_BYTES + len_bytes;
}

/* Replaces characters that cannot be shown between quotes in the log. */
static char shown(uint8_t c)
{
	if (c < 0x20 || c >= 0x7f || c == '\\')
		return '?';
	return c == '"' ? '\'' : (char)c;
}

bool reject_reason_decode(const uint8_t *data, size_t len_bytes,
			  char words[REJECT_REASON_WORDS_BYTES])
{
	size_t count;

	if (len_bytes <= HEAD_BYTES || be32_get(data) != IDENTIFIER || data[4] != VERSION)
		return false;
	count = data[5];
	if (!count || count > WORDS_BYTES || count > len_bytes - HEAD_BYTES)
		return false;
	for (size_t i = 0; i < count; i++)
		words[i] = shown(data[HEAD_BYTES + i]);
	words[count] = '\0';
	return true;
}
