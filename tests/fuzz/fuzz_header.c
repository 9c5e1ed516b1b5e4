// SPDX-License-Identifier: BSD-3-Clause
/* Fuzzes Sends: a header that decodes keeps its promises and survives encoding. */
#include <string.h>

#include "rpc/xdr.h"
#include "rpcrdma/header.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/header_same.h"

static struct rpcrdma_header first, second;

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

/* The types that have a verdict of their own. */
static void check_refused(enum rpcrdma_verdict verdict)
{
	bool two = first.vers == RPCRDMA_VERSION_TWO;

	FUZZ_ASSERT(first.nreads + first.nwrites + first.nsegments == 0 && !first.has_reply_chunk);
	FUZZ_ASSERT((verdict == RPCRDMA_RESERVED) ==
		    (two && (first.proc == RPCRDMA_MSGP || first.proc == RPCRDMA_DONE)));
	FUZZ_ASSERT(verdict != RPCRDMA_BAD_OPTION || (two && first.proc == RPCRDMA_OPTIONAL));
	FUZZ_ASSERT(verdict != RPCRDMA_BAD_LISTS || first.proc <= RPCRDMA_MSGP);
}

static void check_operation(const uint8_t *data, size_t size)
{
	FUZZ_ASSERT(first.vers == RPCRDMA_VERSION_TWO);
	FUZZ_ASSERT(first.optinfo >= data && first.optinfo_bytes <= size);
	FUZZ_ASSERT((size_t)(first.optinfo - data) <= size - first.optinfo_bytes);
}

/* In version one what follows an unknown error is not kept; everything else is, but pads. */
static void check_bytes(const uint8_t *data, const uint8_t *encoded, size_t len)
{
	size_t pad = (size_t)(xdr_padded_bytes(first.optinfo_bytes) - first.optinfo_bytes);

	if (first.proc == RPCRDMA_ERROR && first.error != RPCRDMA_ERR_VERS &&
	    first.error != RPCRDMA_ERR_CHUNK && first.vers == RPCRDMA_VERSION_ONE)
		return;
	FUZZ_ASSERT(len == first.body_offset);
	FUZZ_ASSERT(!memcmp(encoded, data, len - pad));
}

static void check_encoded(const uint8_t *data)
{
	size_t len = rpcrdma_header_bytes(&first);
	uint8_t *encoded = malloc(len);

	FUZZ_ASSERT(encoded && len);
	FUZZ_ASSERT(rpcrdma_header_encode(&first, encoded, len) == len);
	check_bytes(data, encoded, len);
	FUZZ_ASSERT(rpcrdma_header_decode(encoded, len, &second) == RPCRDMA_OK);
	FUZZ_ASSERT(first.body_offset == second.body_offset);
	FUZZ_ASSERT(!header_difference(&first, &second));
	FUZZ_ASSERT(rpcrdma_header_encode(&first, encoded, len - 1) == 0);
	free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum rpcrdma_verdict verdict = rpcrdma_header_decode(data, size, &first);

	if (verdict == RPCRDMA_SHORT)
		return 0;
	FUZZ_ASSERT(size >= RPCRDMA_FIXED_BYTES);
	if (verdict != RPCRDMA_OK) {
		check_refused(verdict);
		return 0;
	}
	FUZZ_ASSERT(first.body_offset <= size);
	check_lists(&first);
	if (first.proc == RPCRDMA_OPTIONAL)
		check_operation(data, size);
	check_encoded(data);
	return 0;
}
