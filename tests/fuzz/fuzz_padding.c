// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes RDMA_MSGP, as a Call and as the Reply to a known Call: any header and body either decode
 * to a plain message within the body, or are rejected; and a message that is padded and decoded
 * again is unchanged. An input is the length of the Call in four bytes, the Call, and the Send.
 */
#include <string.h>

#include "nfs/nfs.h"
#include "rpcrdma/draft03/msgp.h"
#include "tests/fuzz/fuzz.h"

#define MAX_PIECES 65u
#define MAX_ALIGN  8192u /* so that a finding is not that there is no memory */

/* A message in pieces, with pads between them: free it. */
static uint8_t *join(const struct fabric_sge *pieces, unsigned npieces, uint32_t *len)
{
	uint8_t *out = NULL;

	*len = 0;
	for (unsigned i = 0; i < npieces; i++) {
		out = realloc(out, *len + pieces[i].len_bytes);
		FUZZ_ASSERT(out && pieces[i].len_bytes);
		if (pieces[i].addr)
			memcpy(out + *len, pieces[i].addr, pieces[i].len_bytes);
		else
			memset(out + *len, 0x5a, pieces[i].len_bytes);
		*len += pieces[i].len_bytes;
	}
	return out;
}

/* Pads a plain message by these values, and takes the pads out. */
static void there_and_back(const struct rpcrdma_header *hdr, const struct call_info *call_info,
			   const uint8_t *msg, uint32_t len)
{
	struct fabric_sge piece = {NULL, (uint8_t *)msg, len}, pieces[MAX_PIECES];
	const struct msgp_goal goal = {
		.align = hdr->align,
		.thresh_bytes = hdr->thresh,
		.header_bytes = hdr->body_offset,
		.msg = msg,
		.len_bytes = len,
		.call_info = call_info,
		.pieces = &piece,
		.npieces = 1,
	};
	struct rpcrdma_header *bare = malloc(sizeof(*bare));
	struct padded padded = {.hdr = bare, .is_call = !call_info, .call_info = call_info};
	uint8_t *with, *without;
	unsigned n;

	if (!hdr->thresh || hdr->align > MAX_ALIGN) {
		free(bare);
		return;
	}
	rpcrdma_header_init(bare, hdr->xid, hdr->vers, 1, RPCRDMA_MSGP);
	bare->align = hdr->align;
	bare->thresh = hdr->thresh;
	bare->body_offset = hdr->body_offset;
	n = msgp_insert_pads(&goal, pieces, MAX_PIECES);
	FUZZ_ASSERT(n <= MAX_PIECES);
	if (n) {
		with = join(pieces, n, &padded.len_bytes);
		padded.body = with;
		FUZZ_ASSERT(msgp_strip_pads(&padded, NULL) == len);
		without = malloc(len);
		FUZZ_ASSERT(msgp_strip_pads(&padded, without) == len);
		FUZZ_ASSERT(!memcmp(without, msg, len));
		free(without);
		free(with);
	}
	free(bare);
}

static void make_plain(const struct padded *padded)
{
	int64_t len = msgp_strip_pads(padded, NULL);
	uint8_t *plain;

	FUZZ_ASSERT(len <= (int64_t)padded->len_bytes);
	if (len < 0)
		return;
	plain = malloc(len ? (size_t)len : 1);
	FUZZ_ASSERT(msgp_strip_pads(padded, plain) == len);
	if (len == padded->len_bytes)
		FUZZ_ASSERT(!len || !memcmp(plain, padded->body, (size_t)len));
	if (len && (padded->is_call || padded->call_info))
		there_and_back(padded->hdr, padded->call_info, plain, (uint32_t)len);
	free(plain);
}

static void look(struct call_info *call_info, const uint8_t *call, uint32_t len)
{
	const struct xdr_sg_entry piece = {call, len};
	const struct xdr_sg pieces = {&piece, 1, len};

	nfs_call_walk_begin(call_info, UINT32_MAX);
	nfs_call_walk_continue(call_info, NULL, &pieces, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct call_info call_info;
	struct rpcrdma_header *hdr;
	struct padded padded;
	uint32_t call_len;
	bool known;

	if (size < 4)
		return 0;
	call_len = be32_get(data);
	data += 4;
	size -= 4;
	if (call_len > size)
		return 0;
	known = rpc_call_decode(data, call_len, &call_info.hdr) == RPC_OK;
	if (known)
		look(&call_info, data, call_len);
	data += call_len;
	size -= call_len;
	hdr = malloc(sizeof(*hdr));
	if (rpcrdma_header_decode(data, size, hdr) == RPCRDMA_OK && hdr->proc == RPCRDMA_MSGP) {
		padded = (struct padded){.hdr = hdr,
					 .body = data + hdr->body_offset,
					 .len_bytes = (uint32_t)size - hdr->body_offset};
		padded.is_call = true;
		make_plain(&padded);
		padded.is_call = false;
		make_plain(&padded);
		padded.call_info = known ? &call_info : NULL;
		make_plain(&padded);
	}
	free(hdr);
	return 0;
}
