// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/upstream/connect_plan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sockaddr.h"
#include "rpcrdma/dialect.h"

#define MAX_FABRICS 2u /* elements of one address */

/* Appends the elements of one address: one per fabric, or one for TCP. */
static void add_address(struct connect_plan *plan, const struct connect_attempt *common,
			const struct sockaddr_storage *addr, struct fabric *const *fabrics,
			unsigned nfabrics)
{
	for (unsigned i = 0; i < nfabrics; i++) {
		struct connect_attempt *attempt = &plan->list[plan->count++];

		*attempt = *common;
		attempt->addr = *addr;
		sockaddr_unmap(&attempt->addr);
		attempt->fabric = fabrics[i];
		attempt->has_fallback = i + 1 < nfabrics;
	}
}

int connect_plan_init(struct connect_plan *plan, const struct connect_attempt *common,
		      struct fabric *iwarp, struct fabric *verbs, uint32_t highest_version,
		      const struct sockaddr_storage *addrs, size_t naddrs)
{
	enum transport transport = common->server->uri.transport;
	struct fabric *fabrics[MAX_FABRICS];
	unsigned nfabrics = 0;

	if (transport == TRANSPORT_TCP)
		fabrics[nfabrics++] = NULL;
	if ((transport == TRANSPORT_RDMA || transport == TRANSPORT_VERBS) && verbs)
		fabrics[nfabrics++] = verbs;
	if (transport == TRANSPORT_RDMA || transport == TRANSPORT_IWARP)
		fabrics[nfabrics++] = iwarp;
	if (!naddrs)
		return -EDESTADDRREQ;
	if (!nfabrics)
		return -ENODEV;
	plan->list = calloc(naddrs * nfabrics, sizeof(*plan->list));
	if (!plan->list)
		return -ENOMEM;
	plan->highest_version = highest_version;
	for (size_t i = 0; i < naddrs; i++)
		add_address(plan, common, &addrs[i], fabrics, nfabrics);
	return 0;
}

void connect_plan_fini(struct connect_plan *plan)
{
	free(plan->list);
	*plan = (struct connect_plan){0};
}

void connect_plan_clear_port(struct connect_plan *plan)
{
	for (unsigned i = plan->next; i < plan->count; i++)
		if (!plan->list[i].source_only)
			plan->list[i].source_port = 0;
}

static uint32_t lowest_version(void)
{
	return dialect(DIALECT_RFC8166)->version;
}

static bool speaks_lowest_only(const struct connect_attempt *attempt, uint64_t now_us)
{
	return version_cache_is_one_only(&attempt->server->versions,
					 (const struct sockaddr *)&attempt->addr, now_us);
}

static uint32_t version_of(const struct connect_plan *plan, const struct connect_attempt *attempt,
			   uint64_t now_us)
{
	if (!attempt->fabric)
		return 0;
	if (plan->highest_version <= lowest_version() || speaks_lowest_only(attempt, now_us))
		return lowest_version();
	return plan->highest_version;
}

static const struct connect_attempt *next_version_one(struct connect_plan *plan)
{
	struct connect_attempt *attempt = &plan->list[plan->next - 1];

	plan->retry_version_one = false;
	attempt->rpcrdma_version = lowest_version();
	return attempt;
}

const struct connect_attempt *connect_plan_next(struct connect_plan *plan,
						const struct fabric *avoided, uint64_t now_us)
{
	if (plan->retry_version_one)
		return next_version_one(plan);
	while (plan->next < plan->count) {
		struct connect_attempt *attempt = &plan->list[plan->next++];

		if (avoided && attempt->fabric == avoided && attempt->has_fallback)
			continue;
		attempt->rpcrdma_version = version_of(plan, attempt, now_us);
		return attempt;
	}
	return NULL;
}

bool connect_plan_retry_version_one(struct connect_plan *plan, uint64_t now_us)
{
	const struct connect_attempt *last = connect_plan_last(plan);

	plan->retry_version_one =
		last->rpcrdma_version > lowest_version() && speaks_lowest_only(last, now_us);
	return plan->retry_version_one;
}

const struct connect_attempt *connect_plan_last(const struct connect_plan *plan)
{
	return plan->next ? &plan->list[plan->next - 1] : NULL;
}

bool connect_plan_has_next(const struct connect_plan *plan)
{
	return plan->retry_version_one || plan->next < plan->count;
}

uint64_t connect_plan_attempt_timeout_us(const struct connect_plan *plan, uint64_t left_us)
{
	const struct connect_attempt *now = &plan->list[plan->next - 1];
	unsigned addresses = 0;
	uint64_t share_us;

	/* The last element of each address has no has_fallback. */
	for (unsigned i = plan->next - 1; i < plan->count; i++)
		addresses += !plan->list[i].has_fallback;
	share_us = left_us / addresses;
	if (now->has_fallback)
		share_us /= 2;
	if (now->fabric && share_us < ATTEMPT_MIN_US)
		share_us = ATTEMPT_MIN_US;
	return share_us;
}

enum leg_close connect_plan_close_reason(int rc)
{
	switch (-rc) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		return LEG_CLOSE_RESOURCES;
	case EACCES:
	case EADDRINUSE:
	case EADDRNOTAVAIL:
		return LEG_CLOSE_NO_SOURCE_PORT;
	default:
		return LEG_CLOSE_UNREACHABLE;
	}
}
