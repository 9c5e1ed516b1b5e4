// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/gss_call.h"

#include <string.h>

#include "rpc/rpc_header.h"
#include "rpc/xdr.h"

#define MIC_WORDS 4u

static uint8_t *put(uint8_t *to, uint32_t word)
{
	be32_put(to, word);
	return to + 4;
}

static uint8_t *put_bytes(uint8_t *to, const uint8_t *bytes, uint32_t len_bytes)
{
	if (len_bytes)
		memcpy(to, bytes, len_bytes);
	return to + len_bytes;
}

/* No two sequence numbers have the same. */
static uint8_t *put_mic(uint8_t *to, uint32_t seq)
{
	to = put(to, 4 * MIC_WORDS);
	for (uint32_t i = 0; i < MIC_WORDS; i++)
		to = put(to, (seq + i) * 0x9e3779b9u);
	return to;
}

static uint8_t *put_cred(uint8_t *to, const struct gss_call *call)
{
	to = put(to, RPC_AUTH_GSS);
	to = put(to, 6 * 4);
	to = put(to, 1);
	to = put(to, call->gss_proc);
	to = put(to, call->seq);
	to = put(to, call->service);
	to = put(to, 4);
	return put(to, call->handle);
}

static uint8_t *put_verifier(uint8_t *to, const struct gss_call *call)
{
	if (call->gss_proc == RPC_GSS_INIT || call->gss_proc == RPC_GSS_CONTINUE)
		return put(put(to, RPC_AUTH_NONE), 0);
	return put_mic(put(to, RPC_AUTH_GSS), call->seq);
}

static uint8_t *put_encrypted(uint8_t *to, const struct gss_call *call)
{
	to = put(to, call->args_bytes + 4);
	to = put(to, call->seq * 0x85ebca6bu);
	for (uint32_t i = 0; i < call->args_bytes; i++)
		*to++ = (uint8_t)(call->args[i] ^ (call->seq + 1));
	return to;
}

static uint8_t *put_args(uint8_t *to, const struct gss_call *call)
{
	if (call->gss_proc != RPC_GSS_DATA || call->service == RPC_GSS_NONE)
		return put_bytes(to, call->args, call->args_bytes);
	if (call->service == RPC_GSS_PRIVACY)
		return put_encrypted(to, call);
	to = put(to, call->args_bytes + 4);
	to = put(to, call->seq);
	to = put_bytes(to, call->args, call->args_bytes);
	return put_mic(to, call->seq);
}

uint32_t gss_call_put(uint8_t *to, const struct gss_call *call)
{
	const uint32_t start[] = {call->xid,  RPC_CALL,   RPC_VERSION,
				  call->prog, call->vers, call->proc};
	uint8_t *at = to;

	for (size_t i = 0; i < sizeof(start) / sizeof(start[0]); i++)
		at = put(at, start[i]);
	at = put_args(put_verifier(put_cred(at, call), call), call);
	return (uint32_t)(at - to);
}
