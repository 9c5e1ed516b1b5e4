// SPDX-License-Identifier: BSD-3-Clause
/* Fuzzes Calls: the maximum Reply size respects the limit, and payloads lie inside the Call. */
#include <string.h>

#include "nfs/nfs.h"
#include "tests/fuzz/fuzz.h"

#define LIMIT (64u * 1024 * 1024 + 65536)

static void look(struct call_facts *facts, const uint8_t *data, uint32_t len, uint32_t limit,
		 const struct nfs_sessions *sessions, const struct nfs_sink *sink)
{
	const struct rpc_piece piece = {data, len};
	const struct rpc_pieces pieces = {&piece, 1, len};

	nfs_facts_begin(facts, limit);
	nfs_facts_go_on(facts, sessions, &pieces, sink);
	FUZZ_ASSERT(facts->stage == FACTS_WHOLE);
	FUZZ_ASSERT(facts->walk.steps <= FACTS_MAX_OPS &&
		    facts->walk.elements <= FACTS_MAX_ELEMENTS);
	FUZZ_ASSERT(facts->limit_bytes <= limit && facts->ceiling_bytes <= facts->limit_bytes);
}

struct heard {
	const struct call_facts *facts;
	uint32_t len, end;
	bool over; /* the last one was longer than what was left */
	unsigned payloads;
};

/* In order, separate, and inside, except for the end of the last one. */
static void hear(void *arg, const struct nfs_opaque *opaque)
{
	struct heard *heard = arg;

	FUZZ_ASSERT(!heard->over);
	FUZZ_ASSERT(opaque->offset_bytes >= heard->end + 4 && opaque->offset_bytes <= heard->len);
	FUZZ_ASSERT(opaque->offset_bytes % 4 == 0);
	heard->over = opaque->len_bytes > heard->len - opaque->offset_bytes;
	heard->end = heard->over ? heard->len : opaque->offset_bytes + opaque->len_bytes;
	if (opaque->is_payload)
		heard->payloads++;
}

static void check_items(const struct call_facts *facts, const struct heard *heard)
{
	FUZZ_ASSERT(!heard->over || facts->trail != FACTS_FOLLOWED || !facts->narg_payloads);
	FUZZ_ASSERT(facts->trail != FACTS_FOLLOWED || facts->narg_payloads == heard->payloads);
	FUZZ_ASSERT(facts->arg.offset_bytes <= heard->len);
	FUZZ_ASSERT(facts->arg.len_bytes <= heard->len - facts->arg.offset_bytes);
	FUZZ_ASSERT(!facts->arg_is_data || facts->narg_payloads);
	FUZZ_ASSERT(facts->trail == FACTS_FOLLOWED ||
		    (facts->narg_payloads == 0 && facts->nresult_payloads == 0));
	FUZZ_ASSERT(facts->reply_ops <= FACTS_MAX_OPS && facts->reply_ops <= facts->nops);
	FUZZ_ASSERT(facts->results == FACTS_RESULTS_NONE || facts->hdr.prog == 100003);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs_sessions sessions = {.count = NFS_MAX_SESSIONS};
	struct heard heard = {.len = (uint32_t)size};
	const struct nfs_sink sink = {hear, &heard};
	struct call_facts facts;
	uint32_t ceiling;

	if (rpc_call_decode(data, size, &facts.hdr) != RPC_OK)
		return 0;
	look(&facts, data, heard.len, LIMIT, &sessions, NULL);
	look(&facts, data, heard.len, 100, NULL, NULL);
	FUZZ_ASSERT(facts.ceiling_bytes == 100);
	look(&facts, data, heard.len, LIMIT, NULL, NULL);
	ceiling = facts.ceiling_bytes;
	FUZZ_ASSERT(ceiling >= 424);
	/* What cannot be read for its end gets what is allowed without a proof, or what it got before. */
	if (heard.len > facts.hdr.args_offset) {
		look(&facts, data, heard.len - 1, LIMIT, NULL, NULL);
		FUZZ_ASSERT(facts.ceiling_bytes >= FACTS_UNBOUNDED_BYTES ||
			    facts.ceiling_bytes == ceiling);
	}
	look(&facts, data, heard.len, LIMIT, NULL, &sink);
	FUZZ_ASSERT(facts.ceiling_bytes == ceiling);
	check_items(&facts, &heard);
	return 0;
}
