// SPDX-License-Identifier: BSD-3-Clause
#include "rpc/starttls.h"

#include <string.h>

#include "base/be_bytes.h"

static const uint8_t token[8] = {'S', 'T', 'A', 'R', 'T', 'T', 'L', 'S'};

/* Offsets in an accepted Reply: of the verifier's body, and of accept_stat after the token. */
#define VERIFIER_OFFSET 20u
#define STAT_OFFSET     (VERIFIER_OFFSET + sizeof(token))

_Static_assert(STAT_OFFSET + XDR_UNIT_BYTES == STARTTLS_ANSWER_BYTES, "the answer's length");

size_t starttls_encode_probe(uint8_t to[RPC_NULL_CALL_BYTES], uint32_t xid, uint32_t prog,
			     uint32_t vers)
{
	size_t len_bytes = rpc_encode_null_call(to, xid, prog, vers);

	be32_put(to + RPC_CALL_CRED_OFFSET - 2 * XDR_UNIT_BYTES, RPC_AUTH_TLS);
	return len_bytes;
}

enum starttls_probe starttls_check_probe(const struct rpc_call_hdr *hdr, uint32_t len_bytes)
{
	if (hdr->proc != 0 || hdr->cred_bytes != 0)
		return STARTTLS_PROBE_BAD_CRED;
	if (hdr->verf_flavor != RPC_AUTH_NONE || hdr->verf_bytes != 0)
		return STARTTLS_PROBE_BAD_VERF;
	return len_bytes == hdr->args_offset ? STARTTLS_PROBE : STARTTLS_PROBE_BAD_ARGS;
}

size_t starttls_encode_answer(uint8_t to[RPC_ERROR_REPLY_BYTES], uint32_t xid)
{
	/* The Reply of a NULL procedure, with the token between its verifier's head and its end. */
	rpc_encode_accepted(to, xid, RPC_SUCCESS);
	be32_put(to + VERIFIER_OFFSET - XDR_UNIT_BYTES, sizeof(token));
	memcpy(to + VERIFIER_OFFSET, token, sizeof(token));
	be32_put(to + STAT_OFFSET, RPC_SUCCESS);
	return STARTTLS_ANSWER_BYTES;
}

static bool has_token(const uint8_t *msg, uint32_t have_bytes, const struct rpc_reply_hdr *hdr)
{
	return hdr->verf_flavor == RPC_AUTH_NONE && hdr->verf_bytes == sizeof(token) &&
	       have_bytes >= STARTTLS_ANSWER_BYTES &&
	       !memcmp(msg + VERIFIER_OFFSET, token, sizeof(token));
}

enum starttls_answer starttls_check_answer(const uint8_t *msg, uint32_t have_bytes,
					   uint32_t len_bytes, uint32_t xid)
{
	struct rpc_reply_hdr hdr;
	enum rpc_verdict verdict = rpc_reply_decode(msg, have_bytes, &hdr);

	/* Its verifier is longer than an answer: it is another one. */
	if (verdict == RPC_TRUNCATED && have_bytes < len_bytes)
		return be32_get(msg) == xid ? STARTTLS_NOT_OFFERED : STARTTLS_NO_ANSWER;
	if (verdict != RPC_OK || hdr.xid != xid)
		return STARTTLS_NO_ANSWER;
	if (hdr.stat == RPC_MSG_DENIED)
		return STARTTLS_DENIED;
	if (!has_token(msg, have_bytes, &hdr) || len_bytes > STARTTLS_ANSWER_MAX_BYTES)
		return STARTTLS_NOT_OFFERED;
	return STARTTLS_ACCEPTED;
}
