// SPDX-License-Identifier: BSD-3-Clause
#include "rpc/call_check.h"

const char *call_verdict_text(enum call_verdict verdict)
{
	static const char *const texts[] = {
#define CALL_VERDICT_TEXT(name, text) [name] = text,
		CALL_VERDICTS(CALL_VERDICT_TEXT)
#undef CALL_VERDICT_TEXT
	};

	return (size_t)verdict < ARRAY_SIZE(texts) ? texts[verdict] : "unknown";
}

/* The header ends too early: incomplete or truncated. */
static enum call_verdict incomplete_verdict(uint32_t have_bytes, uint32_t len_bytes)
{
	return have_bytes < len_bytes ? CALL_PENDING : CALL_TRUNCATED;
}

enum call_verdict call_check(const uint8_t *msg, uint32_t have_bytes, uint32_t len_bytes,
			     const uint32_t *xid, uint32_t config_program, struct rpc_call_hdr *hdr)
{
	enum rpc_msg_type type;
	uint32_t got;

	switch (rpc_msg_peek(msg, have_bytes, &got, &type)) {
	case RPC_OK:
		break;
	case RPC_TRUNCATED:
		return incomplete_verdict(have_bytes, len_bytes);
	default:
		return CALL_NOT_RPC;
	}
	if (type != RPC_CALL)
		return CALL_IS_REPLY;
	if (xid && *xid != got)
		return CALL_XID_DIFFERS;
	hdr->xid = got;
	switch (rpc_call_decode(msg, have_bytes, hdr)) {
	case RPC_OK:
		if (hdr->cred_flavor == RPC_AUTH_TLS)
			return CALL_AUTH_TLS;
		return config_program && hdr->prog == config_program ? CALL_CONFIG_PROGRAM
								     : CALL_OK;
	case RPC_BAD_VERSION:
		return CALL_RPC_MISMATCH;
	case RPC_BAD_AUTH:
		return CALL_BAD_AUTH;
	default:
		return incomplete_verdict(have_bytes, len_bytes);
	}
}

size_t call_verdict_encode(uint8_t to[RPC_ERROR_REPLY_BYTES], enum call_verdict verdict,
			   const struct rpc_call_hdr *hdr)
{
	switch (verdict) {
	case CALL_AUTH_TLS:
		return rpc_encode_auth_error(to, hdr->xid, RPC_AUTH_REJECTEDCRED);
	case CALL_BAD_AUTH:
		return rpc_encode_auth_error(to, hdr->xid, RPC_AUTH_BADCRED);
	case CALL_RPC_MISMATCH:
		return rpc_encode_rpc_mismatch(to, hdr->xid);
	case CALL_GARBAGE_ARGS:
		return rpc_encode_failure(to, hdr, RPC_GARBAGE_ARGS);
	case CALL_CONFIG_PROGRAM:
		return rpc_encode_failure(to, hdr, RPC_PROG_UNAVAIL);
	default:
		return 0;
	}
}
