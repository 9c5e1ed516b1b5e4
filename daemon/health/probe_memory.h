/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a probe (probe.h), apart from that of all clients; and the Calls that it is for. */
#ifndef DAEMON_HEALTH_PROBE_MEMORY_H
#define DAEMON_HEALTH_PROBE_MEMORY_H

#include <stdint.h>

#include "base/account.h"
#include "base/budget.h"
#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/config/config.h"
#include "fabric/pool.h"
#include "leg/exchange.h"

struct probe_memory {
	struct pool *pool;
	struct budget budget;
	struct budget_account account;
	struct budget_holder holder;
	bool has_budget;
};

/**
 * probe_memory_init - set up the memory of one probe; @memory is all zero before
 * @wake: called with @arg from any thread when budget_account_woken() is due
 *
 * Returns 0 or a negative errno. probe_memory_fini() is due either way.
 */
int probe_memory_init(struct probe_memory *memory, struct loop *loop, void (*wake)(void *arg),
		      void *arg) MUST_CHECK;
/** probe_memory_fini - free it; accepts one that is all zero. */
void probe_memory_fini(struct probe_memory *memory);
/**
 * probe_memory_call - make an exchange of a Call
 * @keys:             of the service: how long messages may be
 * @call, @len_bytes: a whole RPC message, copied
 *
 * Returns the exchange, which is the caller's, or NULL: without memory, or if @call is no Call.
 */
struct exchange *probe_memory_call(struct probe_memory *memory, const struct service_config *keys,
				   const uint8_t *call, uint32_t len_bytes, uint64_t now_us);

#endif
