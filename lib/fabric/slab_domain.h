/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registrations of slabs in one protection domain, by slab.
 *
 * Many domains may register the same slab: one for each peer, where a device has no memory windows. A lookup touches
 * registrations of its own domain alone, so that its cost does not grow with the number of connections.
 *
 * For the pool (pool.h), which lists the registrations of each slab.
 */
#ifndef FABRIC_SLAB_DOMAIN_H
#define FABRIC_SLAB_DOMAIN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/hash_table.h"

struct slab;
struct slab_domain;

/* What a fabric keeps of a slab that it registered in a domain. */
struct slab_reg {
	void (*release)(struct slab_reg *reg); /* deregisters and frees; the pool calls it */
	/* The pool's. */
	struct slab_domain *domain;
	struct slab *slab;
	LIST_ENTRY(slab_reg) slab_entry; /* of all domains, in its slab */
	struct hash_node node;           /* in its domain */
};
LIST_HEAD(slab_regs, slab_reg);

struct slab_domain {
	struct hash_table table; /* of reg->node */
};

/** slab_domain_init - set up a domain without registrations; it must not be moved. */
void slab_domain_init(struct slab_domain *domain);
/** slab_domain_fini - free the memory of a domain, all of whose registrations are gone. */
void slab_domain_fini(struct slab_domain *domain);
/** slab_domain_find - return the registration of @slab, or NULL. */
struct slab_reg *slab_domain_find(const struct slab_domain *domain, const struct slab *slab);
/**
 * slab_domain_first - return a registration of the domain, or NULL if none is left
 * @at: 0 at first; those that remove each one that they get need no more steps than there are registrations and buckets
 */
struct slab_reg *slab_domain_first(const struct slab_domain *domain, size_t *at);
/** slab_domain_add - enter @reg, whose slab is set and has no other registration in @domain; never fails. */
void slab_domain_add(struct slab_domain *domain, struct slab_reg *reg);
/** slab_domain_remove - take @reg out of its domain. */
void slab_domain_remove(struct slab_reg *reg);

#endif
