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
	domain->pd = ibv_alloc_pd(device->context);
	return domain->pd ? 0 : -errno;
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
	pool_forget_domain(domain->device->fabric->fabric.pool, domain);
	ibv_dealloc_pd(domain->pd);
	domain->pd = NULL;
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

struct ibv_mr *verbs_slab_mr(struct verbs_domain *domain, struct buf *buf)
{
	struct slab_reg *reg = buf_slab_reg(buf, domain);
	int access = IBV_ACCESS_LOCAL_WRITE;
	struct slab_mr *smr;
	uint8_t *start;
	size_t len_bytes;

	if (reg)
		return container_of(reg, struct slab_mr, reg)->mr;
	smr = calloc(1, sizeof(*smr));
	if (!smr)
		return NULL;
	if (domain->device->windows)
		access |= IBV_ACCESS_MW_BIND;
	buf_slab_memory(buf, &start, &len_bytes);
	smr->mr = ibv_reg_mr(domain->pd, start, len_bytes, access);
	if (!smr->mr) {
		free(smr);
		return NULL;
	}
	smr->reg.domain = domain;
	smr->reg.release = slab_mr_release;
	buf_slab_reg_add(buf, &smr->reg);
	domain->device->fabric->counters.slabs_registered++;
	return smr->mr;
}
