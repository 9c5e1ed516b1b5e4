// SPDX-License-Identifier: BSD-3-Clause
/* The messages of the Connection Configuration Protocol. */
#include "rpcrdma/draft03/ccp.h"

#include "rpc/xdr.h"

#define PROC_NULL 0u
#define PROC_CONF 1u

/* All that follows a header is these words. */
static bool get_words(const uint8_t *msg, size_t len, size_t at, uint32_t words[3])
{
	struct xdr_reader reader;

	xdr_reader_init(&reader, msg + at, len - at);
	for (unsigned i = 0; i < 3; i++)
		if (!xdr_get_u32(&reader, &words[i]))
			return false;
	return xdr_remaining_bytes(&reader) == 0;
}

static size_t put_words(uint8_t *to, size_t room, const uint32_t *words, size_t count)
{
	struct xdr_writer writer;

	xdr_writer_init(&writer, to, room);
	for (size_t i = 0; i < count; i++)
		xdr_put_u32(&writer, words[i]);
	return xdr_written_bytes(&writer);
}

size_t ccp_encode_call(uint8_t to[CCP_CALL_BYTES], uint32_t xid, uint32_t prog,
		       const struct ccp_args *args)
{
	const uint32_t words[] = {
		xid,
		RPC_CALL,
		RPC_VERSION,
		prog,
		CCP_VERSION,
		PROC_CONF,
		RPC_AUTH_NONE,
		0,
		RPC_AUTH_NONE,
		0,
		args->maxcall_sendsize,
		args->maxreply_sendsize,
		args->maxrdmaread,
	};

	return put_words(to, CCP_CALL_BYTES, words, ARRAY_SIZE(words));
}

enum ccp_verdict ccp_judge(const uint8_t *call, size_t len, const struct rpc_call_hdr *hdr,
			   struct ccp_args *args)
{
	uint32_t words[3];

	if (rpc_call_wants_verifier(hdr))
		return CCP_FLAVOR;
	if (hdr->vers != CCP_VERSION)
		return CCP_MISMATCH;
	if (hdr->proc == PROC_NULL)
		return CCP_NULL;
	if (hdr->proc != PROC_CONF)
		return CCP_NO_PROC;
	if (!get_words(call, len, hdr->args_offset, words))
		return CCP_GARBAGE;
	*args = (struct ccp_args){words[0], words[1], words[2]};
	return CCP_CONF;
}

static size_t encode_results(uint8_t to[CCP_REPLY_BYTES], uint32_t xid,
			     const struct ccp_results *results)
{
	const uint32_t words[] = {
		xid,
		RPC_REPLY,
		RPC_MSG_ACCEPTED,
		RPC_AUTH_NONE,
		0,
		RPC_SUCCESS,
		results->maxcall_sendsize,
		results->align,
		results->maxrdmaread,
	};

	return put_words(to, CCP_REPLY_BYTES, words, ARRAY_SIZE(words));
}

size_t ccp_encode_reply(uint8_t to[CCP_REPLY_BYTES], uint32_t xid, enum ccp_verdict verdict,
			const struct ccp_results *results)
{
	switch (verdict) {
	case CCP_CONF:
		return encode_results(to, xid, results);
	case CCP_MISMATCH:
		return rpc_encode_prog_mismatch(to, xid, CCP_VERSION, CCP_VERSION);
	case CCP_NO_PROC:
		return rpc_encode_accepted(to, xid, RPC_PROC_UNAVAIL);
	case CCP_GARBAGE:
		return rpc_encode_accepted(to, xid, RPC_GARBAGE_ARGS);
	case CCP_FLAVOR:
		return rpc_encode_auth_error(to, xid, RPC_AUTH_FAILED);
	case CCP_NULL:
		break;
	}
	return rpc_encode_accepted(to, xid, RPC_SUCCESS);
}

bool ccp_decode_reply(const uint8_t *reply, size_t len, uint32_t xid, struct ccp_results *results)
{
	struct rpc_reply_hdr hdr;
	uint32_t words[3];

	if (rpc_reply_decode(reply, len, &hdr) != RPC_OK || hdr.xid != xid ||
	    hdr.stat != RPC_MSG_ACCEPTED || hdr.accept_stat != RPC_SUCCESS ||
	    !get_words(reply, len, hdr.results_offset, words))
		return false;
	*results = (struct ccp_results){words[0], words[1], words[2]};
	return true;
}
