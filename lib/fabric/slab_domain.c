// SPDX-License-Identifier: BSD-3-Clause
/*
 * The registrations of slabs in one protection domain.
 *
 * Buckets are doubled when there are more registrations than buckets. Without memory for that the chains get longer, and
 * the next registration tries again.
 */
#include "fabric/slab_domain.h"

#include <assert.h>
#include <stdlib.h>

void slab_domain_init(struct slab_domain *domain)
{
	*domain = (struct slab_domain){.buckets = domain->few, .nbuckets = SLAB_DOMAIN_FEW};
}

void slab_domain_fini(struct slab_domain *domain)
{
	assert(!domain->nregs);
	if (domain->buckets != domain->few)
		free(domain->buckets);
	slab_domain_init(domain);
}

/* Slabs are allocated, so that the lowest bits of an address say nothing; the multiplier is 2^64 by the golden ratio. */
static struct slab_regs *bucket(const struct slab_domain *domain, const struct slab *slab)
{
	uint64_t hash = (uint64_t)(uintptr_t)slab * 0x9e3779b97f4a7c15u;

	return &domain->buckets[(hash >> 32) & (domain->nbuckets - 1)];
}

struct slab_reg *slab_domain_find(const struct slab_domain *domain, const struct slab *slab)
{
	struct slab_reg *reg;

	LIST_FOREACH(reg, bucket(domain, slab), domain_entry)
		if (reg->slab == slab)
			return reg;
	return NULL;
}

struct slab_reg *slab_domain_first(const struct slab_domain *domain, unsigned *at)
{
	while (*at < domain->nbuckets && LIST_EMPTY(&domain->buckets[*at]))
		(*at)++;
	return *at < domain->nbuckets ? LIST_FIRST(&domain->buckets[*at]) : NULL;
}

static void grow(struct slab_domain *domain)
{
	struct slab_regs *before = domain->buckets;
	unsigned nbefore = domain->nbuckets;
	struct slab_regs *after = calloc(2 * (size_t)nbefore, sizeof(*after));
	struct slab_reg *reg;

	if (!after)
		return;
	domain->buckets = after;
	domain->nbuckets = 2 * nbefore;
	for (unsigned i = 0; i < nbefore; i++) {
		while ((reg = LIST_FIRST(&before[i]))) {
			LIST_REMOVE(reg, domain_entry);
			LIST_INSERT_HEAD(bucket(domain, reg->slab), reg, domain_entry);
		}
	}
	if (before != domain->few)
		free(before);
}

void slab_domain_add(struct slab_domain *domain, struct slab_reg *reg)
{
	if (domain->nregs >= domain->nbuckets)
		grow(domain);
	reg->domain = domain;
	LIST_INSERT_HEAD(bucket(domain, reg->slab), reg, domain_entry);
	domain->nregs++;
}

void slab_domain_remove(struct slab_reg *reg)
{
	LIST_REMOVE(reg, domain_entry);
	reg->domain->nregs--;
	reg->domain = NULL;
}
