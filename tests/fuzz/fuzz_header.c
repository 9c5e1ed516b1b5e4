// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as a Send: what decodes keeps its promises and survives encoding. */
#include <string.h>

#include "rpcrdma/header.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/header_same.h"

static struct rpcrdma_header first, second;
static uint8_t encoded[16384];

static void check_chunk(const struct rpcrdma_header *hdr, const struct rpcrdma_chunk *chunk)
{
	uint64_t sum = 0;

	FUZZ_ASSERT(chunk->first <= hdr->nsegments);
	FUZZ_ASSERT(chunk->count <= hdr->nsegments - chunk->first);
	for (unsigned i = 0; i < chunk->count; i++) {
		const struct rpcrdma_segment *seg = &hdr->segments[chunk->first + i];

		sum += seg->len_bytes;
		FUZZ_ASSERT(seg->offset + seg->len_bytes >= seg->offset);
	}
	FUZZ_ASSERT(sum == chunk->len_bytes);
}

static void check_lists(const struct rpcrdma_header *hdr)
{
	FUZZ_ASSERT(hdr->nreads <= RPCRDMA_MAX_SEGMENTS);
	FUZZ_ASSERT(hdr->nsegments <= RPCRDMA_MAX_SEGMENTS);
	FUZZ_ASSERT(hdr->nwrites <= RPCRDMA_MAX_CHUNKS);
	for (unsigned i = 0; i < hdr->nreads; i++)
		FUZZ_ASSERT(hdr->reads[i].position % 4 == 0);
	for (unsigned i = 0; i < hdr->nwrites; i++)
		check_chunk(hdr, &hdr->writes[i]);
	if (hdr->has_reply_chunk)
		check_chunk(hdr, &hdr->reply_chunk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum rpcrdma_verdict verdict = rpcrdma_header_decode(data, size, &first);
	size_t len;

	if (verdict != RPCRDMA_OK) {
		FUZZ_ASSERT(verdict == RPCRDMA_SHORT || size >= RPCRDMA_FIXED_BYTES);
		return 0;
	}
	FUZZ_ASSERT(first.body_offset <= size);
	check_lists(&first);

	len = rpcrdma_header_encode(&first, encoded, sizeof(encoded));
	FUZZ_ASSERT(len == rpcrdma_header_bytes(&first));
	/* What follows an unknown error is not kept, everything else is. */
	if (first.proc != RPCRDMA_ERROR || first.error == RPCRDMA_ERR_VERS ||
	    first.error == RPCRDMA_ERR_CHUNK) {
		FUZZ_ASSERT(len == first.body_offset);
		FUZZ_ASSERT(!memcmp(encoded, data, len));
	}
	FUZZ_ASSERT(rpcrdma_header_encode(&first, encoded, len - 1) == 0);
	FUZZ_ASSERT(rpcrdma_header_decode(encoded, len, &second) == RPCRDMA_OK);
	FUZZ_ASSERT(first.body_offset == second.body_offset);
	FUZZ_ASSERT(!header_difference(&first, &second));
	return 0;
}
