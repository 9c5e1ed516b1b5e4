// SPDX-License-Identifier: BSD-3-Clause
/* Fuzzes RPC messages: offsets stay inside, and the header alone decodes to the same. */
#include <string.h>

#include "rpc/call_identity.h"
#include "rpc/rpc_header.h"
#include "tests/fuzz/fuzz.h"

/*
 * What a Call is recognized by lies in what is needed for it, and is the same of as much of the
 * message.
 */
static void check_identity(const struct rpc_call_hdr *hdr, const uint8_t *data, uint32_t size)
{
	uint32_t need = call_identity_bytes(hdr, size);
	struct call_identity whole, part;

	FUZZ_ASSERT(need >= hdr->args_offset && need <= size);
	call_identity_find(&whole, hdr, data, size);
	call_identity_find(&part, hdr, data, need);
	FUZZ_ASSERT(whole.nparts <= CALL_IDENTITY_MAX_PARTS);
	FUZZ_ASSERT(call_identity_equals(&whole, &part));
	for (unsigned i = 0; i < whole.nparts; i++) {
		const struct call_identity_part *it = &whole.parts[i];

		FUZZ_ASSERT(it->data >= data && it->len_bytes <= (size_t)(data + need - it->data));
	}
}

static void check_call(const uint8_t *data, size_t size)
{
	struct rpc_call_hdr hdr, again;

	if (rpc_call_decode(data, size, &hdr) != RPC_OK)
		return;
	FUZZ_ASSERT(hdr.args_offset >= 40 && hdr.args_offset <= size && hdr.args_offset % 4 == 0);
	FUZZ_ASSERT(hdr.cred_bytes <= RPC_MAX_AUTH_BYTES && hdr.verf_bytes <= RPC_MAX_AUTH_BYTES);
	FUZZ_ASSERT(hdr.gss_vers == 0 || hdr.cred_flavor == RPC_AUTH_GSS);
	FUZZ_ASSERT(hdr.gss_proc <= RPC_GSS_DESTROY && hdr.gss_service <= RPC_GSS_PRIVACY);
	FUZZ_ASSERT(rpc_call_decode(data, hdr.args_offset, &again) == RPC_OK);
	FUZZ_ASSERT(!memcmp(&hdr, &again, sizeof(hdr)));
	FUZZ_ASSERT(rpc_call_decode(data, hdr.args_offset - 1, &again) == RPC_TRUNCATED);
	check_identity(&hdr, data, (uint32_t)size);
}

static void check_reply(const uint8_t *data, size_t size)
{
	struct rpc_reply_hdr hdr;

	if (rpc_reply_decode(data, size, &hdr) != RPC_OK)
		return;
	if (hdr.stat == RPC_MSG_ACCEPTED) {
		FUZZ_ASSERT(hdr.results_offset >= 24 && hdr.results_offset <= size);
		FUZZ_ASSERT(hdr.results_offset % 4 == 0);
		FUZZ_ASSERT(hdr.accept_stat <= RPC_SYSTEM_ERR);
		FUZZ_ASSERT(hdr.verf_bytes <= RPC_MAX_AUTH_BYTES);
	} else {
		FUZZ_ASSERT(hdr.stat == RPC_MSG_DENIED && hdr.results_offset == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum rpc_msg_type type;
	uint32_t xid;

	if (rpc_msg_peek(data, size, &xid, &type) == RPC_OK)
		FUZZ_ASSERT(size >= 8 && (type == RPC_CALL || type == RPC_REPLY));
	check_call(data, size);
	check_reply(data, size);
	return 0;
}
