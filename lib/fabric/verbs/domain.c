// SPDX-License-Identifier: BSD-3-Clause
/* The verbs fabric's protection domains, and the slabs that are registered in them. */
#include "fabric/verbs/domain.h"

#include <errno.h>
#include <stdlib.h>

struct slab_mr {
	struct slab_reg reg;
	struct ibv_mr *mr;
};

int verbs_domain_init(struct verbs_domain *domain, struct verbs_device *device)
{
	domain->device = device;
	slab_domain_init(&domain->slabs);
	errno = 0;
	domain->pd = ibv_alloc_pd(device->context);
	/* Not every library says why. */
	if (!domain->pd)
		return errno ? -errno : -ENOMEM;
	return 0;
}

void verbs_domain_fini(struct verbs_domain *domain)
{
	struct verbs_key *vk;

	if (!domain->pd)
		return;
	while ((vk = domain->free_windows)) {
		domain->free_windows = vk->next_free;
		ibv_dealloc_mw(vk->mw);
		free(vk);
	}
	pool_forget_domain(&domain->slabs);
	ibv_dealloc_pd(domain->pd);
	domain->pd = NULL;
}

static const struct in6_addr no_peer;

/* A link-local address is that of another host on another link. */
static uint32_t scope_of(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

	return addr->ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)
		       ? in6->sin6_scope_id
		       : 0;
}

static struct verbs_domain_list *bucket_of(struct verbs_device *device, const struct in6_addr *peer)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < sizeof(peer->s6_addr); i++)
		hash = hash * 31 + peer->s6_addr[i];
	return &device->domains[hash % VERBS_DOMAIN_BUCKETS];
}

static struct verbs_domain *find(struct verbs_device *device, const struct in6_addr *peer,
				 uint32_t scope_id)
{
	struct verbs_domain *domain;

	LIST_FOREACH(domain, bucket_of(device, peer), entry)
		if (!memcmp(&domain->peer, peer, sizeof(*peer)) && domain->scope_id == scope_id)
			return domain;
	return NULL;
}

static struct verbs_domain *domain_new(struct verbs_device *device, const struct in6_addr *peer,
				       uint32_t scope_id)
{
	struct verbs_domain *domain = calloc(1, sizeof(*domain));

	if (!domain) {
		errno = ENOMEM;
		return NULL;
	}
	if (verbs_domain_init(domain, device)) {
		free(domain);
		return NULL;
	}
	domain->peer = *peer;
	domain->scope_id = scope_id;
	LIST_INSERT_HEAD(bucket_of(device, peer), domain, entry);
	return domain;
}

int verbs_domain_get(struct verbs_ep *ep)
{
	struct verbs_device *device = ep->device;
	struct in6_addr peer = no_peer;
	uint32_t scope_id = 0;
	struct verbs_domain *domain = NULL;

	if (device->shared.pd) {
		ep->domain = &device->shared;
		return 0;
	}
	if (device->fabric->config.domain_of != VERBS_DOMAIN_CONNECTION &&
	    sockaddr_host((const struct sockaddr *)&ep->peer, &peer)) {
		scope_id = scope_of(&ep->peer);
		domain = find(device, &peer, scope_id);
	}
	if (!domain)
		domain = domain_new(device, &peer, scope_id);
	if (!domain)
		return errno ? -errno : -ENOMEM;
	domain->eps++;
	ep->domain = domain;
	return 0;
}

void verbs_domain_put(struct verbs_ep *ep)
{
	struct verbs_domain *domain = ep->domain;

	ep->domain = NULL;
	if (!domain || domain == &domain->device->shared || --domain->eps)
		return;
	LIST_REMOVE(domain, entry);
	verbs_domain_fini(domain);
	free(domain);
}

void verbs_expose(struct verbs_ep *ep, struct buf *buf, uint8_t *mem, uint32_t len_bytes)
{
	struct pool *pool = ep->ep.fabric->pool;

	if (!ep->owner)
		ep->owner = pool_owner_new(pool);
	verbs_ep_counters(ep)->exposed_bytes_cleared += buf_expose(buf, mem, len_bytes, ep->owner);
}

static void slab_mr_release(struct slab_reg *reg)
{
	struct slab_mr *smr = container_of(reg, struct slab_mr, reg);

	ibv_dereg_mr(smr->mr);
	free(smr);
}

/*
 * For local use only, and for windows. The device may write data to a slab in any order (relaxed ordering): a receive or a Read
 * that completes has all its data, and those of the peer's Writes before the Send, all the same. A completion is written
 * to memory that does not have it, and such a write passes no write before it, on the way through PCI Express. What is polled for, or
 * written by a peer behind other data without a completion, would not do; nothing is.
 */
static struct ibv_mr *slab_register(struct verbs_domain *domain, uint8_t *start, size_t len_bytes)
{
	struct verbs_device *device = domain->device;
	int access = IBV_ACCESS_LOCAL_WRITE | (device->windows ? IBV_ACCESS_MW_BIND : 0);
	struct ibv_mr *mr = NULL;

	if (!device->ordered) {
		mr = ibv_reg_mr(domain->pd, start, len_bytes, access | IBV_ACCESS_RELAXED_ORDERING);
		/* libibverbs leaves it out where the kernel does not know it; a driver may refuse it yet. */
		if (mr || (errno != EOPNOTSUPP && errno != EINVAL))
			return mr;
	}
	mr = ibv_reg_mr(domain->pd, start, len_bytes, access);
	device->ordered |= !!mr;
	return mr;
}

struct ibv_mr *verbs_slab_mr(struct verbs_domain *domain, struct buf *buf)
{
	struct slab_reg *reg = buf_slab_reg(buf, &domain->slabs);
	struct slab_mr *smr;
	uint8_t *start;
	size_t len_bytes;

	if (reg)
		return container_of(reg, struct slab_mr, reg)->mr;
	smr = calloc(1, sizeof(*smr));
	if (!smr)
		return NULL;
	buf_slab_memory(buf, &start, &len_bytes);
	smr->mr = slab_register(domain, start, len_bytes);
	if (!smr->mr) {
		free(smr);
		return NULL;
	}
	smr->reg.release = slab_mr_release;
	buf_slab_reg_add(buf, &domain->slabs, &smr->reg);
	domain->device->fabric->counters.slabs_registered++;
	return smr->mr;
}
