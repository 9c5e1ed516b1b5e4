// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/verbs/pd.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/minmax.h"

STATE_TABLE(verbs_key_states, VERBS_KEY_STATES);

struct slab_mr {
	struct slab_reg reg;
	struct verbs_command command;
	struct verbs_pd *domain;
	struct ibv_mr *mr; /* NULL: being registered, or the registration failed */
	struct buf *buf;   /* keeps the slab during the registration; else NULL */
	int error;
	uint8_t *start;
	size_t len_bytes;
};

struct verbs_pd *verbs_pd_new(struct verbs_device *device)
{
	struct verbs_pd *domain = calloc(1, sizeof(*domain));

	if (!domain)
		return NULL;
	domain->device = device;
	slab_domain_init(&domain->slabs);
	TAILQ_INIT(&domain->awaits_slab);
	return domain;
}

struct ibv_pd *verbs_pd_alloc(struct verbs_pd *domain)
{
	errno = 0;
	if (!domain->pd)
		domain->pd = ibv_alloc_pd(domain->device->context);
	/* Not every library sets errno. */
	if (!domain->pd && !errno)
		errno = ENOMEM;
	return domain->pd;
}

static void pd_free(struct verbs_command *command)
{
	struct verbs_pd *domain = container_of(command, struct verbs_pd, command);

	if (domain->pd)
		ibv_dealloc_pd(domain->pd);
}

static void pd_freed(struct verbs_command *command)
{
	free(container_of(command, struct verbs_pd, command));
}

static void window_free(struct verbs_command *command)
{
	ibv_dealloc_mw(container_of(command, struct verbs_key, command)->mw);
}

static void window_freed(struct verbs_command *command)
{
	free(container_of(command, struct verbs_key, command));
}

/* Frees at most @n unused windows. Returns true if there were any. */
static bool free_windows(struct verbs_pd *domain, unsigned n)
{
	bool any = n && domain->free_windows;
	struct verbs_key *vk;

	for (; n && (vk = domain->free_windows); n--) {
		domain->free_windows = vk->next_free;
		domain->nfree_windows--;
		verbs_command_post(&domain->device->commands, &vk->command, window_free,
				   window_freed);
	}
	domain->idle_windows = min_u32(domain->idle_windows, domain->nfree_windows);
	return any;
}

static bool pd_age(struct verbs_pd *domain, bool period_over)
{
	unsigned spare = verbs_pd_spare_windows(domain), n;

	if (period_over) {
		domain->surplus_windows = max_u32(domain->idle_windows, spare) - spare;
		domain->idle_windows = domain->nfree_windows;
	}
	n = min_u32(domain->surplus_windows, VERBS_WINDOWS_AGED);
	domain->surplus_windows -= n;
	(void)free_windows(domain, n);
	return domain->surplus_windows > 0;
}

bool verbs_pds_age(struct verbs_device *device, bool period_over)
{
	bool more = pd_age(device->shared, period_over);
	struct verbs_pd *domain;

	for (unsigned i = 0; i < VERBS_PD_BUCKETS; i++)
		LIST_FOREACH(domain, &device->domains[i], entry)
			more |= pd_age(domain, period_over);
	return more;
}

bool verbs_pds_free_windows(struct verbs_device *device)
{
	bool any = free_windows(device->shared, UINT_MAX);
	struct verbs_pd *domain;

	for (unsigned i = 0; i < VERBS_PD_BUCKETS; i++)
		LIST_FOREACH(domain, &device->domains[i], entry)
			any |= free_windows(domain, UINT_MAX);
	return any;
}

void verbs_pd_fini(struct verbs_pd *domain)
{
	(void)free_windows(domain, UINT_MAX);
	slab_domain_fini(&domain->slabs);
	verbs_command_post(&domain->device->commands, &domain->command, pd_free, pd_freed);
}

static const struct in6_addr no_peer;

/* The same link-local address on another link is another host. */
static uint32_t scope_of(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

	return addr->ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)
		       ? in6->sin6_scope_id
		       : 0;
}

static struct verbs_pd_list *bucket_of(struct verbs_device *device, const struct in6_addr *peer)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < sizeof(peer->s6_addr); i++)
		hash = hash * 31 + peer->s6_addr[i];
	return &device->domains[hash % VERBS_PD_BUCKETS];
}

static struct verbs_pd *pd_find(struct verbs_device *device, const struct in6_addr *peer,
				uint32_t scope_id)
{
	struct verbs_pd *domain;

	LIST_FOREACH(domain, bucket_of(device, peer), entry)
		if (!memcmp(&domain->peer, peer, sizeof(*peer)) && domain->scope_id == scope_id)
			return domain;
	return NULL;
}

static struct verbs_pd *domain_new(struct verbs_device *device, const struct in6_addr *peer,
				   uint32_t scope_id)
{
	struct verbs_pd *domain = verbs_pd_new(device);

	if (!domain)
		return NULL;
	domain->peer = *peer;
	domain->scope_id = scope_id;
	LIST_INSERT_HEAD(bucket_of(device, peer), domain, entry);
	return domain;
}

int verbs_pd_get(struct verbs_ep *ep)
{
	struct verbs_device *device = ep->device;
	struct in6_addr peer = no_peer;
	uint32_t scope_id = 0;
	struct verbs_pd *domain = NULL;

	if (device->shares) {
		ep->domain = device->shared;
		ep->domain->eps++;
		return 0;
	}
	if (device->fabric->config.pd_scope != VERBS_PD_CONNECTION &&
	    sockaddr_host((const struct sockaddr *)&ep->peer, &peer)) {
		scope_id = scope_of(&ep->peer);
		domain = pd_find(device, &peer, scope_id);
	}
	if (!domain)
		domain = domain_new(device, &peer, scope_id);
	if (!domain)
		return -ENOMEM;
	domain->eps++;
	ep->domain = domain;
	return 0;
}

void verbs_pd_put(struct verbs_ep *ep)
{
	struct verbs_pd *domain = ep->domain;

	ep->domain = NULL;
	if (!domain || --domain->eps || domain == domain->device->shared)
		return;
	LIST_REMOVE(domain, entry);
	verbs_pd_fini(domain);
}

void verbs_expose(struct verbs_ep *ep, struct buf *buf, uint8_t *mem, uint32_t len_bytes)
{
	struct buf_pool *pool = ep->ep.fabric->pool;

	if (!ep->owner)
		ep->owner = buf_pool_owner_new(pool);
	verbs_ep_counters(ep)->exposed_bytes_cleared += buf_expose(buf, mem, len_bytes, ep->owner);
}

/* ---- slabs ---- */

/*
 * Registers a slab for local use, and for windows. The device may write data to a slab in any order
 * (relaxed ordering). A completed receive or Read still has all its data, including that of the
 * peer's Writes before the Send: the completion is written to memory without relaxed ordering, and
 * such a write passes no earlier write on PCI Express. Data that is polled for, or written by a
 * peer after other data without a completion, would not be safe; we use neither.
 */
static struct ibv_mr *slab_register(struct verbs_pd *domain, uint8_t *start, size_t len_bytes)
{
	struct verbs_device *device = domain->device;
	int access = IBV_ACCESS_LOCAL_WRITE | (device->windows ? IBV_ACCESS_MW_BIND : 0);
	struct ibv_pd *pd = verbs_pd_alloc(domain);
	struct ibv_mr *mr = NULL;

	if (!pd)
		return NULL;
	if (!device->ordered) {
		mr = ibv_reg_mr(pd, start, len_bytes, access | IBV_ACCESS_RELAXED_ORDERING);
		/* libibverbs omits the flag for old kernels; a driver can still refuse it. */
		if (mr || (errno != EOPNOTSUPP && errno != EINVAL))
			return mr;
	}
	mr = ibv_reg_mr(pd, start, len_bytes, access);
	device->ordered |= !!mr;
	return mr;
}

static struct slab_mr *slab_mr_of(struct verbs_command *command)
{
	return container_of(command, struct slab_mr, command);
}

static void slab_reg_run(struct verbs_command *command)
{
	struct slab_mr *smr = slab_mr_of(command);

	errno = 0;
	smr->mr = slab_register(smr->domain, smr->start, smr->len_bytes);
	smr->error = smr->mr ? 0 : errno ? -errno : -ENOMEM;
}

/* Wakes the endpoints that wait for this slab; they find it, or the error. */
static void wake_waiting(struct verbs_pd *domain, const struct slab_mr *smr)
{
	struct verbs_ep *ep, *next;

	for (ep = TAILQ_FIRST(&domain->awaits_slab); ep; ep = next) {
		next = TAILQ_NEXT(ep, slab_entry);
		if (ep->awaited_slab != smr)
			continue;
		verbs_slab_wait_cancel(ep);
		ep->slab_error = smr->error;
		loop_defer(ep->ep.fabric->loop,
			   verbs_state_sends(ep->state) ? &ep->post_task : &ep->step_task);
	}
}

static void slab_reg_done(struct verbs_command *command)
{
	struct slab_mr *smr = slab_mr_of(command);
	struct verbs_pd *domain = smr->domain;
	struct buf *buf = smr->buf;

	if (smr->mr)
		domain->device->fabric->counters.slabs_registered++;
	smr->buf = NULL;
	wake_waiting(domain, smr);
	/* This can be the last buffer of its slab, which is then freed, and @smr with it. */
	buf_put(buf);
}

static void slab_dereg_run(struct verbs_command *command)
{
	ibv_dereg_mr(slab_mr_of(command)->mr);
}

static void slab_dereg_done(struct verbs_command *command)
{
	free(slab_mr_of(command));
}

/*
 * The device can use the memory until its thread executes this: the kernel keeps the pages until
 * then, even if the pool unmaps them.
 */
static void slab_mr_release(struct slab_reg *reg)
{
	struct slab_mr *smr = container_of(reg, struct slab_mr, reg);

	if (smr->mr)
		verbs_command_post(&smr->domain->device->commands, &smr->command, slab_dereg_run,
				   slab_dereg_done);
	else
		free(smr);
}

static struct slab_mr *slab_mr_new(struct verbs_pd *domain, struct buf *buf)
{
	struct slab_mr *smr = calloc(1, sizeof(*smr));

	if (!smr)
		return NULL;
	smr->domain = domain;
	smr->reg.release = slab_mr_release;
	buf_slab_memory(buf, &smr->start, &smr->len_bytes);
	buf_slab_reg_add(buf, &domain->slabs, &smr->reg);
	return smr;
}

void verbs_slab_wait_cancel(struct verbs_ep *ep)
{
	if (ep->awaited_slab)
		TAILQ_REMOVE(&ep->domain->awaits_slab, ep, slab_entry);
	ep->awaited_slab = NULL;
}

/* Returns NULL, with errno set. */
NOT_INLINE static struct ibv_mr *await_slab(struct verbs_ep *ep, struct buf *buf,
					    struct slab_mr *smr)
{
	struct verbs_pd *domain = ep->domain;

	errno = -ep->slab_error;
	if (ep->slab_error)
		return NULL;
	if (!smr)
		smr = slab_mr_new(domain, buf);
	errno = smr ? EINPROGRESS : ENOMEM;
	if (!smr)
		return NULL;
	if (!smr->buf) {
		smr->buf = buf_ref(buf);
		verbs_command_post(&domain->device->commands, &smr->command, slab_reg_run,
				   slab_reg_done);
	}
	if (!ep->awaited_slab)
		TAILQ_INSERT_TAIL(&domain->awaits_slab, ep, slab_entry);
	ep->awaited_slab = smr;
	return NULL;
}

struct ibv_mr *verbs_slab_mr(struct verbs_ep *ep, struct buf *buf)
{
	struct slab_reg *reg = buf_slab_reg(buf, &ep->domain->slabs);
	struct slab_mr *smr = reg ? container_of(reg, struct slab_mr, reg) : NULL;

	/* During the registration the device's thread owns smr->mr. */
	if (smr && !smr->buf && smr->mr)
		return smr->mr;
	return await_slab(ep, buf, smr);
}
