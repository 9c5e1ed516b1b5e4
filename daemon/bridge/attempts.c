// SPDX-License-Identifier: BSD-3-Clause
/* The attempts to reach a server: making the list, and going through it. */
#include "daemon/bridge/attempts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sockaddr.h"
#include "rpcrdma/dialect.h"

#define MAX_WAYS 2u /* to one address */

/* Appends the ways to one address: a fabric each, or TCP. */
static void add_address(struct attempts *attempts, const struct attempts_config *config,
			const struct sockaddr_storage *addr, struct fabric *const *fabrics,
			unsigned nways)
{
	struct sockaddr_storage at = *addr;

	sockaddr_unmap(&at);
	for (unsigned i = 0; i < nways; i++)
		attempts->list[attempts->count++] = (struct attempt){
			.target = config->target,
			.client = config->client,
			.addr = at,
			.fabric = fabrics[i],
			.sources = config->sources,
			.source_port = config->source_port,
			.source_above = config->source_above,
			.source_only = config->source_only,
			.privileged = config->privileged,
			.held = config->held,
			.has_other = i + 1 < nways,
		};
}

int attempts_init(struct attempts *attempts, const struct attempts_config *config,
		  const struct sockaddr_storage *addrs, size_t naddrs)
{
	enum transport transport = config->target->uri->transport;
	struct fabric *fabrics[MAX_WAYS];
	unsigned nways = 0;

	if (transport == TRANSPORT_TCP)
		fabrics[nways++] = NULL;
	if ((transport == TRANSPORT_RDMA || transport == TRANSPORT_VERBS) && config->verbs)
		fabrics[nways++] = config->verbs;
	if (transport == TRANSPORT_RDMA || transport == TRANSPORT_IWARP)
		fabrics[nways++] = config->iwarp;
	if (!naddrs)
		return -EDESTADDRREQ;
	if (!nways)
		return -ENODEV;
	*attempts = (struct attempts){
		.list = calloc(naddrs * nways, sizeof(struct attempt)),
		.highest_version = config->highest_version,
		.versions = &config->target->versions,
	};
	if (!attempts->list)
		return -ENOMEM;
	for (size_t i = 0; i < naddrs; i++)
		add_address(attempts, config, &addrs[i], fabrics, nways);
	return 0;
}

void attempts_fini(struct attempts *attempts)
{
	free(attempts->list);
	*attempts = (struct attempts){0};
}

void attempts_forget_port(struct attempts *attempts)
{
	for (unsigned i = attempts->next; i < attempts->count; i++)
		if (!attempts->list[i].source_only)
			attempts->list[i].source_port = 0;
}

static uint32_t lowest_version(void)
{
	return dialect(DIALECT_RFC8166)->version;
}

static bool speaks_lowest_only(const struct attempts *attempts, const struct attempt *attempt,
			       uint64_t now_us)
{
	return version_cache_says_one(attempts->versions, (const struct sockaddr *)&attempt->addr,
				      now_us);
}

static uint32_t version_of(const struct attempts *attempts, const struct attempt *attempt,
			   uint64_t now_us)
{
	if (!attempt->fabric)
		return 0;
	if (attempts->highest_version <= lowest_version() ||
	    speaks_lowest_only(attempts, attempt, now_us))
		return lowest_version();
	return attempts->highest_version;
}

static const struct attempt *second_turn(struct attempts *attempts)
{
	struct attempt *attempt = &attempts->list[attempts->next - 1];

	attempts->again = false;
	attempt->rpcrdma_version = lowest_version();
	return attempt;
}

const struct attempt *attempts_next(struct attempts *attempts, const struct fabric *avoided,
				    uint64_t now_us)
{
	if (attempts->again)
		return second_turn(attempts);
	while (attempts->next < attempts->count) {
		struct attempt *attempt = &attempts->list[attempts->next++];

		if (avoided && attempt->fabric == avoided && attempt->has_other)
			continue;
		attempt->rpcrdma_version = version_of(attempts, attempt, now_us);
		return attempt;
	}
	return NULL;
}

bool attempts_again(struct attempts *attempts, uint64_t now_us)
{
	const struct attempt *last = attempts_last(attempts);

	attempts->again = last->rpcrdma_version > lowest_version() &&
			  speaks_lowest_only(attempts, last, now_us);
	return attempts->again;
}

const struct attempt *attempts_last(const struct attempts *attempts)
{
	return attempts->next ? &attempts->list[attempts->next - 1] : NULL;
}

bool attempts_left(const struct attempts *attempts)
{
	return attempts->again || attempts->next < attempts->count;
}

uint64_t attempts_share_us(const struct attempts *attempts, uint64_t left_us)
{
	const struct attempt *now = &attempts->list[attempts->next - 1];
	unsigned addresses = 0;
	uint64_t share_us;

	/* Each address has one last way. */
	for (unsigned i = attempts->next - 1; i < attempts->count; i++)
		addresses += !attempts->list[i].has_other;
	share_us = left_us / addresses;
	if (now->has_other)
		share_us /= 2;
	if (now->fabric && share_us < ATTEMPT_MIN_US)
		share_us = ATTEMPT_MIN_US;
	return share_us;
}

enum leg_close attempts_why(int rc)
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
