// SPDX-License-Identifier: BSD-3-Clause
/* The memory of a probe. */
#include "daemon/health/probe_memory.h"

#include <errno.h>
#include <string.h>

#include "daemon/config/config_memory.h"
#include "nfs/nfs.h"
#include "rpc/call_verdict.h"

#define BUDGET_BYTES ((size_t)64 << 20) /* nothing is set aside for it */

int probe_memory_init(struct probe_memory *memory, struct loop *loop, void (*wake)(void *arg),
		      void *arg)
{
	int rc = budget_init(&memory->budget, BUDGET_BYTES, 0, 1, 1);

	if (rc)
		return rc;
	memory->has_budget = true;
	rc = budget_account_init(&memory->account, budget_part(&memory->budget, 0), loop, wake,
				 arg);
	budget_holder_init(&memory->holder, &memory->account, NULL);
	memory->pool = pool_new(config_memory_buffer_max_bytes(), 0);
	return rc || !memory->pool ? -ENOMEM : 0;
}

void probe_memory_fini(struct probe_memory *memory)
{
	budget_holder_fini(&memory->holder);
	budget_account_fini(&memory->account);
	if (memory->has_budget)
		budget_fini(&memory->budget);
	pool_free(memory->pool);
}

struct exchange *probe_memory_call(struct probe_memory *memory, const struct service_config *keys,
				   const uint8_t *call, uint32_t len_bytes, uint64_t now_us)
{
	const struct reply_room room = config_memory_reply_room(keys);
	struct exchange *x = exchange_new(NULL);

	if (!x || rpc_msg_get(memory->pool, len_bytes, &x->call))
		goto out_put;
	memcpy(x->call.data, call, len_bytes);
	if (call_judge(call, len_bytes, len_bytes, NULL, 0, &x->facts.hdr) != CALL_PASSES)
		goto out_put;
	nfs_facts_whole(&x->facts, keys->message_bytes, NULL, x->call.data, len_bytes);
	x->reply_max_bytes = x->facts.ceiling_bytes;
	x->start_us = now_us;
	if (budget_claim(&memory->holder, &x->claim,
			 exchange_cost_bytes(rpc_msg_cost_bytes(len_bytes), x->reply_max_bytes,
					     &x->facts, &room)))
		return x;
out_put:
	exchange_put(x);
	return NULL;
}
