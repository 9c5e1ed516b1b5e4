/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes and encodes ONC RPC message headers (RFC 5531 section 9), as far as a transport needs
 * them.
 */
#ifndef RPC_RPC_HEADER_H
#define RPC_RPC_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/xdr.h"

#define RPC_VERSION        2u
#define RPC_MAX_AUTH_BYTES 400u /* RFC 5531 section 8.2: opaque_auth body */
/* Offset of the credential's body in a Call. */
#define RPC_CALL_CRED_OFFSET 32u

enum rpc_msg_type { RPC_CALL = 0, RPC_REPLY = 1 };

enum rpc_auth_flavor {
	RPC_AUTH_NONE = 0,
	RPC_AUTH_SYS = 1,
	RPC_AUTH_SHORT = 2,
	RPC_AUTH_DH = 3,
	RPC_AUTH_GSS = 6, /* RFC 2203 */
	RPC_AUTH_TLS = 7, /* RFC 9289 */
};

enum rpc_gss_proc { RPC_GSS_DATA = 0, RPC_GSS_INIT = 1, RPC_GSS_CONTINUE = 2, RPC_GSS_DESTROY = 3 };
enum rpc_gss_service { RPC_GSS_NONE = 1, RPC_GSS_INTEGRITY = 2, RPC_GSS_PRIVACY = 3 };

enum rpc_reply_stat { RPC_MSG_ACCEPTED = 0, RPC_MSG_DENIED = 1 };
enum rpc_accept_stat {
	RPC_SUCCESS = 0,
	RPC_PROG_UNAVAIL = 1,
	RPC_PROG_MISMATCH = 2,
	RPC_PROC_UNAVAIL = 3,
	RPC_GARBAGE_ARGS = 4,
	RPC_SYSTEM_ERR = 5,
};

/* RFC 5531 section 9: why AUTH_ERROR. */
enum rpc_auth_stat {
	RPC_AUTH_BADCRED = 1,      /* the credential is malformed */
	RPC_AUTH_REJECTEDCRED = 2, /* the client must begin again */
	RPC_AUTH_BADVERF = 3,      /* the verifier is malformed */
	RPC_AUTH_TOOWEAK = 5,      /* rejected for security reasons */
	RPC_AUTH_FAILED = 7,       /* "reason unknown" */
};

/* Result of decoding a header. */
enum rpc_verdict {
	RPC_OK,
	RPC_TRUNCATED,   /* the message ends inside its header */
	RPC_BAD_TYPE,    /* neither CALL nor REPLY, or not the requested one */
	RPC_BAD_VERSION, /* a Call of an RPC version other than 2 */
	RPC_BAD_AUTH,    /* an auth body longer than 400 bytes */
	RPC_BAD_STAT,    /* reply_stat or accept_stat out of range */
};

struct rpc_call_hdr {
	uint32_t xid, prog, vers, proc;
	uint32_t cred_flavor, cred_bytes; /* body length as on the wire, without padding */
	uint32_t verf_flavor, verf_bytes;
	/* Set for RPC_AUTH_GSS with a well-formed version-1 credential, else 0. */
	uint32_t gss_vers, gss_proc, gss_service;
	uint32_t args_offset; /* of the arguments, from the start of the message, in bytes */
};

struct rpc_reply_hdr {
	uint32_t xid;
	enum rpc_reply_stat stat;
	enum rpc_accept_stat accept_stat; /* if accepted */
	uint32_t verf_flavor, verf_bytes;
	uint32_t results_offset; /* if accepted: of the results, after accept_stat */
};

/**
 * rpc_msg_peek - Reads XID and type of a message
 * @msg, @len: the message, or at least its start
 *
 * Returns RPC_OK, RPC_TRUNCATED (under 8 bytes) or RPC_BAD_TYPE; outputs are set on RPC_OK only.
 */
MUST_CHECK static inline enum rpc_verdict rpc_msg_peek(const uint8_t *msg, size_t len,
						       uint32_t *xid, enum rpc_msg_type *type)
{
	uint32_t got;

	if (len < 2 * XDR_UNIT_BYTES)
		return RPC_TRUNCATED;
	got = be32_get(msg + XDR_UNIT_BYTES);
	if (got != RPC_CALL && got != RPC_REPLY)
		return RPC_BAD_TYPE;
	*xid = be32_get(msg);
	*type = got;
	return RPC_OK;
}

/**
 * rpc_call_decode - Decodes a Call header; skips every auth flavour by its length
 * @msg, @len: the message or a prefix of it
 * @hdr:       set on RPC_OK only; on RPC_BAD_VERSION only its xid
 *
 * Returns RPC_OK or why the header is invalid.
 */
enum rpc_verdict rpc_call_decode(const uint8_t *msg, size_t len,
				 struct rpc_call_hdr *hdr) MUST_CHECK;

/**
 * rpc_gss_cred_decode - Decodes an RPC_AUTH_GSS credential, for callers that decode the header
 * themselves
 * @hdr:  with cred_bytes set; its gss_* are set if the credential is well-formed, else unchanged
 * @body: cred_bytes long
 */
void rpc_gss_cred_decode(struct rpc_call_hdr *hdr, const uint8_t *body);

/** rpc_reply_decode - Decodes a Reply header. @hdr is set on RPC_OK only. */
enum rpc_verdict rpc_reply_decode(const uint8_t *msg, size_t len,
				  struct rpc_reply_hdr *hdr) MUST_CHECK;

#define RPC_ERROR_REPLY_BYTES 32 /* enough for every encoder below */

/**
 * rpc_encode_accepted - Encodes an accepted Reply without results, with an AUTH_NONE verifier
 * @stat: not RPC_PROG_MISMATCH, which carries more; RPC_SUCCESS is the Reply of a NULL procedure
 *
 * Returns the bytes written to @to: 24.
 */
size_t rpc_encode_accepted(uint8_t to[RPC_ERROR_REPLY_BYTES], uint32_t xid,
			   enum rpc_accept_stat stat);
/**
 * rpc_call_wants_verifier - Returns whether the client needs a Reply with a verifier that only the
 * server can create
 *
 * True for AUTH_DH (RFC 2695 section 2.4), for unknown flavours, and for RPCSEC_GSS, which signs
 * the sequence number (RFC 2203 section 5.3.3.2). False for an RPCSEC_GSS Call that creates a
 * context (section 5.2.3.1). A denied Reply has no verifier (RFC 5531 section 9).
 */
static inline bool rpc_call_wants_verifier(const struct rpc_call_hdr *hdr)
{
	return hdr->cred_flavor > RPC_AUTH_SHORT &&
	       !(hdr->gss_vers &&
		 (hdr->gss_proc == RPC_GSS_INIT || hdr->gss_proc == RPC_GSS_CONTINUE));
}
/**
 * rpc_encode_failure - Encodes the proxy's own Reply to a Call that cannot be answered otherwise
 * @hdr:  of the Call
 * @stat: as for rpc_encode_accepted()
 *
 * If rpc_call_wants_verifier() is true, encodes a denied Reply, AUTH_ERROR with AUTH_FAILED;
 * otherwise an accepted one by rpc_encode_accepted(). The reason: clients discard an accepted Reply
 * with a wrong verifier and retransmit the Call. After other auth errors (AUTH_BADCRED,
 * AUTH_REJECTEDCRED, RPCSEC_GSS_CREDPROBLEM, RPCSEC_GSS_CTXPROBLEM) they renew the credential and
 * retransmit the Call, which the server may then execute again. AUTH_FAILED, "reason unknown", ends
 * the Call like SYSTEM_ERR: Linux returns EIO for both.
 *
 * Returns the bytes written to @to.
 */
size_t rpc_encode_failure(uint8_t to[RPC_ERROR_REPLY_BYTES], const struct rpc_call_hdr *hdr,
			  enum rpc_accept_stat stat);
/**
 * rpc_encode_auth_error - Encodes a denied Reply, AUTH_ERROR with @auth_stat (RFC 5531 section 9).
 */
size_t rpc_encode_auth_error(uint8_t to[RPC_ERROR_REPLY_BYTES], uint32_t xid,
			     enum rpc_auth_stat auth_stat);
/** rpc_encode_rpc_mismatch - Encodes a denied Reply, RPC_MISMATCH with versions 2 to 2. */
size_t rpc_encode_rpc_mismatch(uint8_t to[RPC_ERROR_REPLY_BYTES], uint32_t xid);
/**
 * rpc_encode_prog_mismatch - Encodes an accepted Reply, PROG_MISMATCH with versions @low to @high.
 */
size_t rpc_encode_prog_mismatch(uint8_t to[RPC_ERROR_REPLY_BYTES], uint32_t xid, uint32_t low,
				uint32_t high);

#define RPC_NULL_CALL_BYTES 40
/**
 * rpc_encode_null_call - Encodes a Call of procedure 0 with AUTH_NONE. Returns the bytes written to
 * @to: 40.
 */
size_t rpc_encode_null_call(uint8_t to[RPC_NULL_CALL_BYTES], uint32_t xid, uint32_t prog,
			    uint32_t vers);

/** rpc_verdict_name - Returns the verdict as text, such as "truncated". */
const char *rpc_verdict_name(enum rpc_verdict verdict);

#endif
