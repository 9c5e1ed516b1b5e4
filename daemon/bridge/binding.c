// SPDX-License-Identifier: BSD-3-Clause
/* Lays the NFS upper-layer binding (lib/nfs) into the hands of a bridge's legs. */
#include "daemon/bridge/binding.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PAYLOADS 64u /* as many as the write list of a header may have chunks */

/* All that can be known of a whole Call. */
static void look(const struct nfs_sessions *sessions, const struct rpc_call_hdr *hdr,
		 const uint8_t *msg, uint32_t len_bytes, uint32_t limit_bytes,
		 struct call_facts *facts)
{
	const struct rpc_piece piece = {msg, len_bytes};
	const struct rpc_pieces pieces = {&piece, 1, len_bytes};

	facts->hdr = *hdr;
	nfs_facts_begin(facts, limit_bytes);
	nfs_facts_go_on(facts, sessions, &pieces, NULL);
}

static uint32_t reply_ceiling(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			      uint32_t len_bytes, uint32_t limit_bytes)
{
	const struct binding *binding = arg;
	struct call_facts facts;

	look(&binding->sessions, hdr, msg, len_bytes, limit_bytes, &facts);
	return facts.ceiling_bytes;
}

static void *call_note(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
		       uint32_t len_bytes)
{
	struct call_facts facts, *kept;

	look(NULL, hdr, msg, len_bytes, UINT32_MAX, &facts);
	if (facts.results == FACTS_RESULTS_NONE)
		return NULL;
	kept = malloc(sizeof(*kept));
	if (kept)
		*kept = facts;
	return kept;
}

static void note_free(void *arg, void *note)
{
	free(note);
}

static int reply_payloads(void *arg, const void *note, const uint8_t *reply, uint32_t len_bytes,
			  struct rdma_payload *payloads, unsigned max)
{
	struct rpc_payload found[MAX_PAYLOADS];
	int count = nfs_reply_payloads(note, reply, len_bytes, found,
				       max < MAX_PAYLOADS ? max : MAX_PAYLOADS);

	for (int i = 0; i < count; i++)
		payloads[i] = (struct rdma_payload){found[i].offset_bytes, found[i].len_bytes};
	return count;
}

/* Tells of the first alone, and how many there are: the requester moves one. */
static int call_payloads(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			 uint32_t len_bytes, struct rdma_payload *payloads, unsigned max)
{
	struct call_facts facts;

	look(NULL, hdr, msg, len_bytes, UINT32_MAX, &facts);
	if (facts.narg_payloads && max)
		payloads[0] = (struct rdma_payload){facts.arg.offset_bytes, facts.arg.len_bytes};
	return (int)(facts.narg_payloads < max ? facts.narg_payloads : max);
}

static bool call_writes(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			uint32_t len_bytes)
{
	struct call_facts facts;

	look(NULL, hdr, msg, len_bytes, UINT32_MAX, &facts);
	return facts.arg_is_data;
}

/* As above, of the bounds. */
static int result_bounds(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			 uint32_t len_bytes, uint32_t *bounds_bytes, unsigned max)
{
	struct call_facts facts;

	look(NULL, hdr, msg, len_bytes, UINT32_MAX, &facts);
	if (facts.nresult_payloads && max)
		bounds_bytes[0] = facts.bounds_bytes[0];
	return (int)(facts.nresult_payloads < max ? facts.nresult_payloads : max);
}

void binding_init(struct binding *binding)
{
	*binding = (struct binding){
		.leg = {.reply_ceiling = reply_ceiling, .arg = binding},
		.rdma = {.call_note = call_note,
			 .note_free = note_free,
			 .reply_payloads = reply_payloads,
			 .call_payloads = call_payloads,
			 .call_writes = call_writes,
			 .result_bounds = result_bounds,
			 .arg = binding},
	};
}

void binding_learn(struct binding *binding, const struct exchange *x)
{
	struct call_facts facts;

	if (x->fault != EXCHANGE_OK || !x->call.data || !x->reply.data)
		return;
	look(NULL, &x->hdr, x->call.data, x->call.len_bytes, UINT32_MAX, &facts);
	nfs_sessions_learn(&binding->sessions, &facts, x->reply.data, x->reply.len_bytes);
}
