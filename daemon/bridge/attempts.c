// SPDX-License-Identifier: BSD-3-Clause
/* The attempts to reach a server: making the list, and going through it. */
#include "daemon/bridge/attempts.h"

#include <errno.h>
#include <stdlib.h>

#include "rpcrdma/dialect.h"

#define MAX_WAYS 2u /* to one address */

/* Appends the ways to one address: a fabric each, or TCP. */
static void add_address(struct attempts *attempts, const struct sockaddr_storage *addr,
			struct fabric *const *fabrics, unsigned nways, uint16_t source_port,
			bool source_above)
{
	for (unsigned i = 0; i < nways; i++)
		attempts->list[attempts->count++] = (struct attempt){
			.addr = *addr,
			.fabric = fabrics[i],
			.rpcrdma_version = fabrics[i] ? dialect(DIALECT_RFC8166)->version : 0,
			.source_port = source_port,
			.source_above = source_above,
			.has_other = i + 1 < nways,
		};
}

int attempts_init(struct attempts *attempts, enum transport transport,
		  const struct sockaddr_storage *addrs, size_t naddrs, struct fabric *iwarp,
		  struct fabric *verbs, uint16_t source_port, bool source_above)
{
	struct fabric *fabrics[MAX_WAYS];
	unsigned nways = 0;

	if (transport == TRANSPORT_TCP)
		fabrics[nways++] = NULL;
	if ((transport == TRANSPORT_RDMA || transport == TRANSPORT_VERBS) && verbs)
		fabrics[nways++] = verbs;
	if (transport == TRANSPORT_RDMA || transport == TRANSPORT_IWARP)
		fabrics[nways++] = iwarp;
	if (!naddrs)
		return -EDESTADDRREQ;
	if (!nways)
		return -ENODEV;
	*attempts = (struct attempts){.list = calloc(naddrs * nways, sizeof(struct attempt))};
	if (!attempts->list)
		return -ENOMEM;
	for (size_t i = 0; i < naddrs; i++)
		add_address(attempts, &addrs[i], fabrics, nways, source_port, source_above);
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
		attempts->list[i].source_port = 0;
}

const struct attempt *attempts_next(struct attempts *attempts, const struct fabric *avoided)
{
	while (attempts->next < attempts->count) {
		const struct attempt *attempt = &attempts->list[attempts->next++];

		if (!avoided || attempt->fabric != avoided || !attempt->has_other)
			return attempt;
	}
	return NULL;
}

const struct attempt *attempts_last(const struct attempts *attempts)
{
	return attempts->next ? &attempts->list[attempts->next - 1] : NULL;
}

bool attempts_left(const struct attempts *attempts)
{
	return attempts->next < attempts->count;
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
