// SPDX-License-Identifier: BSD-3-Clause
/* What memory_limit_mib makes possible. */
#include "daemon/config/config_memory.h"

#include "base/budget.h"
#include "leg/exchange.h"

#define MIB ((size_t)1024 * 1024)

size_t config_memory_own_bytes(void)
{
	return 2 * rpc_msg_cost_bytes(FACTS_UNBOUNDED_BYTES);
}

size_t config_memory_limit_bytes(const struct config *config)
{
	return config->memory_limit_mib * MIB;
}

size_t config_memory_least_mib(const struct config *config)
{
	return (config->nservices * config_memory_own_bytes() + MIB - 1) / MIB;
}

/* The largest RPC that is admitted for sure, whatever other services hold. */
static size_t largest_rpc_bytes(const struct config *config)
{
	return budget_largest_claim_bytes(config_memory_limit_bytes(config),
					  config_memory_own_bytes(), config->nservices);
}

uint32_t config_memory_largest_bytes(const struct config *config, uint32_t max_bytes)
{
	size_t most = largest_rpc_bytes(config);
	uint32_t fits = 0;

	if (2 * rpc_msg_cost_bytes(max_bytes) <= most)
		return max_bytes;
	/* Costs grow in steps: the largest that still fits, bit by bit. */
	for (uint32_t bit = 1u << 31; bit; bit >>= 1)
		if ((fits | bit) < max_bytes && 2 * rpc_msg_cost_bytes(fits | bit) <= most)
			fits |= bit;
	return fits;
}

static void print_service(const struct config *config, const struct service_config *service,
			  FILE *out)
{
	size_t rpc_bytes = 2 * rpc_msg_cost_bytes(service->message_bytes);
	size_t rest = config_memory_limit_bytes(config) -
		      (config->nservices - 1) * config_memory_own_bytes();

	fprintf(out,
		"%s: service %s: %zu RPCs fit that have a Call and a Reply of %.1f MiB, its largest; "
		"%zu of %.2f MiB\n",
		config->file, service->name, rest / rpc_bytes, (double)service->message_bytes / MIB,
		rest / config_memory_own_bytes(), (double)FACTS_UNBOUNDED_BYTES / MIB);
}

void config_memory_print(const struct config *config, FILE *out)
{
	if (!config->nservices)
		return;
	fprintf(out, "%s: memory: %u MiB, of which each of %zu services has %.1f MiB for itself\n",
		config->file, config->memory_limit_mib, config->nservices,
		(double)config_memory_own_bytes() / MIB);
	for (size_t i = 0; i < config->nservices; i++)
		print_service(config, &config->services[i], out);
}
