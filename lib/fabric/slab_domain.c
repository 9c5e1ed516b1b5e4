// SPDX-License-Identifier: BSD-3-Clause
/* The registrations of slabs in one protection domain: a hash table, which many have no more than a few entries of. */
#include "fabric/slab_domain.h"

#include <assert.h>

void slab_domain_init(struct slab_domain *domain)
{
	hash_table_init(&domain->table);
}

void slab_domain_fini(struct slab_domain *domain)
{
	assert(!domain->table.count);
	hash_table_fini(&domain->table);
	slab_domain_init(domain);
}

static uint64_t hash_of(const struct slab *slab)
{
	return hash_number((uintptr_t)slab);
}

static struct slab_reg *reg_of(struct hash_node *node)
{
	return node ? container_of(node, struct slab_reg, node) : NULL;
}

struct slab_reg *slab_domain_find(const struct slab_domain *domain, const struct slab *slab)
{
	return reg_of(hash_table_first(&domain->table, hash_of(slab)));
}

struct slab_reg *slab_domain_first(const struct slab_domain *domain, size_t *at)
{
	return reg_of(hash_table_any(&domain->table, at));
}

void slab_domain_add(struct slab_domain *domain, struct slab_reg *reg)
{
	reg->domain = domain;
	hash_table_add(&domain->table, &reg->node, hash_of(reg->slab));
}

void slab_domain_remove(struct slab_reg *reg)
{
	hash_table_remove(&reg->domain->table, &reg->node);
	reg->domain = NULL;
}
