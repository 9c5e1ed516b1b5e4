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
static void there_and_back(const struct rpcrdma_header *hdr, const struct call_facts *facts,
			   const uint8_t *msg, uint32_t len)
{
	struct fabric_sge piece = {NULL, (uint8_t *)msg, len}, pieces[MAX_PIECES];
	const struct msgp_goal goal = {
		.align = hdr->align,
		.thresh_bytes = hdr->thresh,
		.header_bytes = hdr->body_offset,
		.msg = msg,
		.len_bytes = len,
		.facts = facts,
		.pieces = &piece,
		.npieces = 1,
	};
	struct rpcrdma_header *bare = malloc(sizeof(*bare));
	struct padded padded = {.hdr = bare, .is_call = !facts, .facts = facts};
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
	n = msgp_insert(&goal, pieces, MAX_PIECES);
	FUZZ_ASSERT(n <= MAX_PIECES);
	if (n) {
		with = join(pieces, n, &padded.len_bytes);
		padded.body = with;
		FUZZ_ASSERT(msgp_remove(&padded, NULL) == len);
		without = malloc(len);
		FUZZ_ASSERT(msgp_remove(&padded, without) == len);
		FUZZ_ASSERT(!memcmp(without, msg, len));
		free(without);
		free(with);
	}
	free(bare);
}

static void make_plain(const struct padded *padded)
{
	int64_t len = msgp_remove(padded, NULL);
	uint8_t *plain;

	FUZZ_ASSERT(len <= (int64_t)padded->len_bytes);
	if (len < 0)
		return;
	plain = malloc(len ? (size_t)len : 1);
	FUZZ_ASSERT(msgp_remove(padded, plain) == len);
	if (len == padded->len_bytes)
		FUZZ_ASSERT(!len || !memcmp(plain, padded->body, (size_t)len));
	if (len && (padded->is_call || padded->facts))
		there_and_back(padded->hdr, padded->facts, plain, (uint32_t)len);
	free(plain);
}

static void look(struct call_facts *facts, const uint8_t *call, uint32_t len)
{
	const struct rpc_piece piece = {call, len};
	const struct rpc_pieces pieces = {&piece, 1, len};

	nfs_facts_begin(facts, UINT32_MAX);
	nfs_facts_go_on(facts, NULL, &pieces, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct call_facts facts;
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
	known = rpc_call_decode(data, call_len, &facts.hdr) == RPC_OK;
	if (known)
		look(&facts, data, call_len);
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
		padded.facts = known ? &facts : NULL;
		make_plain(&padded);
	}
	free(hdr);
	return 0;
}
