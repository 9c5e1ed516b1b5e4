// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes Calls and Replies of the configuration program: a message that decodes is the same after
 * encoding.
 */
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/draft03/ccp.h"
#include "tests/fuzz/fuzz.h"

#define PROGRAM 100417u

static void check_call(const uint8_t *data, size_t size)
{
	struct ccp_results results = {1, 2, 3};
	uint8_t call[CCP_CALL_BYTES], reply[CCP_REPLY_BYTES];
	struct ccp_args args, again;
	struct rpc_call_hdr hdr;
	struct rpc_reply_hdr answer;
	enum ccp_verdict verdict;
	size_t len;

	if (rpc_call_decode(data, size, &hdr) != RPC_OK)
		return;
	verdict = ccp_check_call(data, size, &hdr, &args);
	len = ccp_encode_reply(reply, hdr.xid, verdict, &results);
	FUZZ_ASSERT(len <= sizeof(reply));
	FUZZ_ASSERT(rpc_reply_decode(reply, len, &answer) == RPC_OK && answer.xid == hdr.xid);
	FUZZ_ASSERT((answer.stat == RPC_MSG_DENIED) == (verdict == CCP_FLAVOR));
	FUZZ_ASSERT((answer.stat == RPC_MSG_ACCEPTED && answer.accept_stat == RPC_SUCCESS) ==
		    (verdict == CCP_CONF || verdict == CCP_NULL));
	if (verdict != CCP_CONF)
		return;
	len = ccp_encode_call(call, hdr.xid, PROGRAM, &args);
	FUZZ_ASSERT(len == sizeof(call) && rpc_call_decode(call, len, &hdr) == RPC_OK);
	FUZZ_ASSERT(ccp_check_call(call, len, &hdr, &again) == CCP_CONF);
	FUZZ_ASSERT(!memcmp(&args, &again, sizeof(args)));
}

static void check_reply(const uint8_t *data, size_t size)
{
	uint32_t xid = size >= 4 ? be32_get(data) : 0;
	uint8_t reply[CCP_REPLY_BYTES];
	struct ccp_results results, again;
	size_t len;

	if (!ccp_decode_reply(data, size, xid, &results))
		return;
	FUZZ_ASSERT(!ccp_decode_reply(data, size, xid + 1, &again));
	len = ccp_encode_reply(reply, xid, CCP_CONF, &results);
	FUZZ_ASSERT(len == sizeof(reply) && ccp_decode_reply(reply, len, xid, &again));
	FUZZ_ASSERT(!memcmp(&results, &again, sizeof(results)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_call(data, size);
	check_reply(data, size);
	return 0;
}
