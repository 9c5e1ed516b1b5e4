// SPDX-License-Identifier: BSD-3-Clause
#include "rpc/rpc_header.h"

#define GSS_VERSION 1u

enum { REJECT_RPC_MISMATCH = 0, REJECT_AUTH_ERROR = 1 };

#define AUTH_HEAD_BYTES   8u  /* flavour and length */
#define CALL_START_BYTES  24u /* of a Call, up to its credential */
#define REPLY_START_BYTES 12u /* of a Reply, up to the fields that depend on its status */

/* Reads opaque_auth (RFC 5531 section 8.2). The body of *len_bytes follows these two words. */
static inline enum rpc_verdict get_auth(struct xdr_reader *reader, uint32_t *flavor,
					uint32_t *len_bytes)
{
	if (xdr_remaining_bytes(reader) < AUTH_HEAD_BYTES)
		return RPC_TRUNCATED;
	*flavor = be32_get(reader->pos);
	*len_bytes = be32_get(reader->pos + XDR_UNIT_BYTES);
	if (*len_bytes > RPC_MAX_AUTH_BYTES)
		return RPC_BAD_AUTH;
	return xdr_skip(reader, AUTH_HEAD_BYTES + xdr_padded_bytes(*len_bytes)) ? RPC_OK
										: RPC_TRUNCATED;
}

/*
 * rpc_gss_cred_vers_1_t (RFC 2203 section 5.3.1). While a context is being created the service is
 * undefined and ignored (section 5.2.2).
 */
void rpc_gss_cred_decode(struct rpc_call_hdr *hdr, const uint8_t *body)
{
	struct xdr_reader reader;
	uint32_t vers, proc, seq, service;

	xdr_reader_init(&reader, body, hdr->cred_bytes);
	if (!xdr_get_u32(&reader, &vers) || vers != GSS_VERSION || !xdr_get_u32(&reader, &proc) ||
	    proc > RPC_GSS_DESTROY || !xdr_get_u32(&reader, &seq) ||
	    !xdr_get_u32(&reader, &service) || !xdr_skip_opaque(&reader, RPC_MAX_AUTH_BYTES) ||
	    xdr_remaining_bytes(&reader))
		return;
	if (proc == RPC_GSS_INIT || proc == RPC_GSS_CONTINUE)
		service = 0;
	else if (service < RPC_GSS_NONE || service > RPC_GSS_PRIVACY)
		return;
	hdr->gss_vers = vers;
	hdr->gss_proc = proc;
	hdr->gss_service = service;
}

/* Checks the words at the start of every Call. Sets the XID for another version of RPC. */
static inline enum rpc_verdict check_call_start(const uint8_t *msg, size_t len, uint32_t *xid)
{
	if (len < 2 * XDR_UNIT_BYTES)
		return RPC_TRUNCATED;
	if (be32_get(msg + 4) != RPC_CALL)
		return RPC_BAD_TYPE;
	if (len < 3 * XDR_UNIT_BYTES)
		return RPC_TRUNCATED;
	if (be32_get(msg + 8) != RPC_VERSION) {
		*xid = be32_get(msg);
		return RPC_BAD_VERSION;
	}
	return len < CALL_START_BYTES ? RPC_TRUNCATED : RPC_OK;
}

enum rpc_verdict rpc_call_decode(const uint8_t *msg, size_t len, struct rpc_call_hdr *hdr)
{
	enum rpc_verdict verdict = check_call_start(msg, len, &hdr->xid);
	uint32_t cred_flavor, cred_bytes, verf_flavor, verf_bytes;
	struct xdr_reader reader;

	if (verdict != RPC_OK)
		return verdict;
	reader = (struct xdr_reader){msg, msg + CALL_START_BYTES, msg + len};
	verdict = get_auth(&reader, &cred_flavor, &cred_bytes);
	if (verdict == RPC_OK)
		verdict = get_auth(&reader, &verf_flavor, &verf_bytes);
	if (verdict != RPC_OK)
		return verdict;
	*hdr = (struct rpc_call_hdr){
		.xid = be32_get(msg),
		.prog = be32_get(msg + 12),
		.vers = be32_get(msg + 16),
		.proc = be32_get(msg + 20),
		.cred_flavor = cred_flavor,
		.cred_bytes = cred_bytes,
		.verf_flavor = verf_flavor,
		.verf_bytes = verf_bytes,
		.args_offset = (uint32_t)xdr_position_bytes(&reader),
	};
	if (cred_flavor == RPC_AUTH_GSS)
		rpc_gss_cred_decode(hdr, msg + CALL_START_BYTES + AUTH_HEAD_BYTES);
	return RPC_OK;
}

/* Decodes accepted_reply up to the results. */
static enum rpc_verdict get_accepted(struct xdr_reader *reader, struct rpc_reply_hdr *hdr)
{
	uint32_t stat;
	enum rpc_verdict verdict = get_auth(reader, &hdr->verf_flavor, &hdr->verf_bytes);

	if (verdict != RPC_OK)
		return verdict;
	if (!xdr_get_u32(reader, &stat))
		return RPC_TRUNCATED;
	if (stat > RPC_SYSTEM_ERR)
		return RPC_BAD_STAT;
	hdr->accept_stat = stat;
	hdr->results_offset = (uint32_t)xdr_position_bytes(reader);
	return RPC_OK;
}

static enum rpc_verdict get_rejected(struct xdr_reader *reader)
{
	uint32_t stat;

	if (!xdr_get_u32(reader, &stat))
		return RPC_TRUNCATED;
	if (stat > REJECT_AUTH_ERROR)
		return RPC_BAD_STAT;
	return xdr_skip(reader, stat == REJECT_RPC_MISMATCH ? 8 : 4) ? RPC_OK : RPC_TRUNCATED;
}

enum rpc_verdict rpc_reply_decode(const uint8_t *msg, size_t len, struct rpc_reply_hdr *hdr)
{
	struct rpc_reply_hdr h = {0};
	struct xdr_reader reader;
	enum rpc_msg_type type;
	enum rpc_verdict verdict = rpc_msg_peek(msg, len, &h.xid, &type);
	uint32_t stat;

	if (verdict != RPC_OK)
		return verdict;
	if (type != RPC_REPLY)
		return RPC_BAD_TYPE;
	if (len < REPLY_START_BYTES)
		return RPC_TRUNCATED;
	reader = (struct xdr_reader){msg, msg + REPLY_START_BYTES, msg + len};
	stat = be32_get(msg + 8);
	if (stat > RPC_MSG_DENIED)
		return RPC_BAD_STAT;
	h.stat = stat;
	verdict = stat == RPC_MSG_ACCEPTED ? get_accepted(&reader, &h) : get_rejected(&reader);
	if (verdict == RPC_OK)
		*hdr = h;
	return verdict;
}

static size_t encode_words(uint8_t *to, size_t capacity, const uint32_t *words, size_t count)
{
	struct xdr_writer writer;

	xdr_writer_init(&writer, to, capacity);
	for (size_t i = 0; i < count; i++)
		xdr_put_u32(&writer, words[i]);
	return xdr_written_bytes(&writer);
}

size_t rpc_encode_accepted(uint8_t to[RPC_ERROR_REPLY_BYTES], uint32_t xid,
			   enum rpc_accept_stat stat)
{
	const uint32_t words[] = {xid, RPC_REPLY, RPC_MSG_ACCEPTED, RPC_AUTH_NONE, 0, stat};

	return encode_words(to, RPC_ERROR_REPLY_BYTES, words, ARRAY_SIZE(words));
}

size_t rpc_encode_auth_error(uint8_t to[RPC_ERROR_REPLY_BYTES], uint32_t xid,
			     enum rpc_auth_stat auth_stat)
{
	const uint32_t words[] = {xid, RPC_REPLY, RPC_MSG_DENIED, REJECT_AUTH_ERROR, auth_stat};

	return encode_words(to, RPC_ERROR_REPLY_BYTES, words, ARRAY_SIZE(words));
}

size_t rpc_encode_failure(uint8_t to[RPC_ERROR_REPLY_BYTES], const struct rpc_call_hdr *hdr,
			  enum rpc_accept_stat stat)
{
	if (rpc_call_wants_verifier(hdr))
		return rpc_encode_auth_error(to, hdr->xid, RPC_AUTH_FAILED);
	return rpc_encode_accepted(to, hdr->xid, stat);
}

size_t rpc_encode_rpc_mismatch(uint8_t to[RPC_ERROR_REPLY_BYTES], uint32_t xid)
{
	const uint32_t words[] = {
		xid, RPC_REPLY, RPC_MSG_DENIED, REJECT_RPC_MISMATCH, RPC_VERSION, RPC_VERSION,
	};

	return encode_words(to, RPC_ERROR_REPLY_BYTES, words, ARRAY_SIZE(words));
}

size_t rpc_encode_prog_mismatch(uint8_t to[RPC_ERROR_REPLY_BYTES], uint32_t xid, uint32_t low,
				uint32_t high)
{
	const uint32_t words[] = {
		xid, RPC_REPLY, RPC_MSG_ACCEPTED, RPC_AUTH_NONE, 0, RPC_PROG_MISMATCH, low, high,
	};

	return encode_words(to, RPC_ERROR_REPLY_BYTES, words, ARRAY_SIZE(words));
}

size_t rpc_encode_null_call(uint8_t to[RPC_NULL_CALL_BYTES], uint32_t xid, uint32_t prog,
			    uint32_t vers)
{
	const uint32_t words[] = {
		xid, RPC_CALL, RPC_VERSION, prog, vers, 0, RPC_AUTH_NONE, 0, RPC_AUTH_NONE, 0,
	};

	return encode_words(to, RPC_NULL_CALL_BYTES, words, ARRAY_SIZE(words));
}

const char *rpc_verdict_name(enum rpc_verdict verdict)
{
	static const char *const names[] = {
		[RPC_OK] = "ok",
		[RPC_TRUNCATED] = "truncated",
		[RPC_BAD_TYPE] = "bad message type",
		[RPC_BAD_VERSION] = "bad version",
		[RPC_BAD_AUTH] = "bad auth",
		[RPC_BAD_STAT] = "bad reply status",
	};

	return (size_t)verdict < ARRAY_SIZE(names) ? names[verdict] : "unknown";
}
