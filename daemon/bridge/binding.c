// SPDX-License-Identifier: BSD-3-Clause
/* Lays the NFS upper-layer binding (lib/nfs) into the hands of a bridge's legs. */
#include "daemon/bridge/binding.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PAYLOADS 64u /* as many as the write list of a header may have chunks */

static uint32_t reply_ceiling(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			      uint32_t len_bytes, uint32_t limit_bytes)
{
	const struct binding *binding = arg;

	limit_bytes = nfs_sessions_limit(&binding->sessions, hdr, msg, len_bytes, limit_bytes);
	return nfs_reply_ceiling(hdr, msg, len_bytes, limit_bytes);
}

static void *call_note(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
		       uint32_t len_bytes)
{
	struct nfs_note note, *kept;

	if (!nfs_note_call(&note, hdr, msg, len_bytes))
		return NULL;
	kept = malloc(sizeof(*kept));
	if (kept)
		*kept = note;
	return kept;
}

static void note_free(void *arg, void *note)
{
	free(note);
}

static int reply_payloads(void *arg, const void *note, const uint8_t *reply, uint32_t len_bytes,
			  struct rdma_payload *payloads, unsigned max)
{
	struct nfs_payload found[MAX_PAYLOADS];
	int count = nfs_reply_payloads(note, reply, len_bytes, found,
				       max < MAX_PAYLOADS ? max : MAX_PAYLOADS);

	for (int i = 0; i < count; i++)
		payloads[i] = (struct rdma_payload){found[i].offset_bytes, found[i].len_bytes};
	return count;
}

static int call_payloads(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			 uint32_t len_bytes, struct rdma_payload *payloads, unsigned max)
{
	struct nfs_payload found[MAX_PAYLOADS];
	int count = nfs_call_payloads(hdr, msg, len_bytes, found,
				      max < MAX_PAYLOADS ? max : MAX_PAYLOADS);

	for (int i = 0; i < count; i++)
		payloads[i] = (struct rdma_payload){found[i].offset_bytes, found[i].len_bytes};
	return count;
}

static bool call_writes(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			uint32_t len_bytes)
{
	return nfs_call_writes(hdr, msg, len_bytes);
}

static int result_bounds(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			 uint32_t len_bytes, uint32_t *bounds_bytes, unsigned max)
{
	return nfs_result_bounds(hdr, msg, len_bytes, bounds_bytes, max);
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
	if (x->fault == EXCHANGE_OK && x->call.data && x->reply.data)
		nfs_sessions_learn(&binding->sessions, &x->hdr, x->call.data, x->call.len_bytes,
				   x->reply.data, x->reply.len_bytes);
}
