// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes the assembly of Calls: any header that decodes gives a plan that covers its message, or
 * none.
 */
#include <string.h>

#include "rpcrdma/read_plan.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT_BYTES 65536u

static uint8_t placed[LIMIT_BYTES];

/* Each byte of the message has exactly one source. */
static void place(uint32_t to, uint32_t len, uint32_t total)
{
	FUZZ_ASSERT(to <= total && len <= total - to);
	for (uint32_t i = to; i < to + len; i++)
		FUZZ_ASSERT(!placed[i]++);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpcrdma_header hdr;
	struct read_plan plan;

	if (rpcrdma_header_decode(data, size, &hdr) != RPCRDMA_OK ||
	    (hdr.proc != RPCRDMA_MSG && hdr.proc != RPCRDMA_NOMSG))
		return 0;
	if (read_plan_make(&hdr, (uint32_t)(size - hdr.body_offset), LIMIT_BYTES, &plan) !=
	    READ_PLAN_OK)
		return 0;
	FUZZ_ASSERT(plan.total_bytes <= LIMIT_BYTES);
	memset(placed, 0, plan.total_bytes);
	for (unsigned i = 0; i < plan.ncopies; i++) {
		const struct plan_copy *copy = &plan.copies[i];

		place(copy->to, copy->len_bytes, plan.total_bytes);
		FUZZ_ASSERT(copy->from == PLAN_ZEROS ||
			    copy->from + copy->len_bytes <= size - hdr.body_offset);
	}
	for (unsigned i = 0; i < plan.nplan_reads; i++)
		place(plan.plan_reads[i].to, plan.plan_reads[i].len_bytes, plan.total_bytes);
	for (uint32_t i = 0; i < plan.total_bytes; i++)
		FUZZ_ASSERT(placed[i]);
	FUZZ_ASSERT(plan.nchunks <= hdr.nreads);
	for (unsigned i = 0; i < plan.nchunks; i++) {
		const struct plan_chunk *chunk = &plan.chunks[i];

		FUZZ_ASSERT(chunk->position > (i ? chunk[-1].position : 0));
		FUZZ_ASSERT(chunk->position <= plan.total_bytes &&
			    chunk->len_bytes <= plan.total_bytes - chunk->position);
	}
	return 0;
}
