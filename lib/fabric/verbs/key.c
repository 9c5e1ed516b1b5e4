// SPDX-License-Identifier: BSD-3-Clause
/*
 * Keys lent to the peer of a verbs endpoint: memory windows where the device has them, else regions.
 *
 * A window is bound and invalidated by work requests, in order with the Sends around them; taking it back
 * is over when the invalidation completed. A region is registered and deregistered by system calls.
 * When the connection ends both are released first: a queue pair with a bound window on it may not be
 * destroyed (rxe waits for the window).
 */
#include <errno.h>
#include <stdlib.h>

#include "fabric/verbs/verbs_priv.h"

static void release(struct verbs_key *vk)
{
	if (vk->mw)
		ibv_dealloc_mw(vk->mw);
	if (vk->mr)
		ibv_dereg_mr(vk->mr);
	vk->mw = NULL;
	vk->mr = NULL;
	vk->released = true;
}

void verbs_window_free(struct verbs_key *vk)
{
	release(vk);
	free(vk);
}

/* An unbound window goes back to those that are free. */
static void window_put(struct verbs_key *vk)
{
	if (vk->mr)
		ibv_dereg_mr(vk->mr);
	vk->mr = NULL;
	vk->next_free = vk->domain->free_windows;
	vk->domain->free_windows = vk;
}

/*
 * A bind that fails ends the connection, and with it the key. A window that the peer invalidated can have
 * been given back before this: it was kept until its work request is free again.
 */
static void bind_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct verbs_key *vk = container_of(wr, struct verbs_key, bind);

	vk->binding = false;
	if (vk->key)
		return;
	if (status == FABRIC_OK)
		window_put(vk);
	else
		verbs_window_free(vk);
}

/* The peer cannot reach the memory any more: the owner may have it back. */
static void let_go(struct verbs_key *vk)
{
	struct fabric_key *key = vk->key;

	vk->key = NULL;
	key->priv = NULL;
	buf_put(key->buf);
	if (vk->unbinding) {
		vk->unbinding = false;
		key->unbound(key);
	}
}

static void inv_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct verbs_key *vk = container_of(wr, struct verbs_key, inv);
	struct verbs_ep *ep = verbs_ep_of(vk->key->ep);

	if (status != FABRIC_OK)
		return; /* the connection ends: verbs_keys_bury() */
	TAILQ_REMOVE(&ep->keys, vk->key, entry);
	window_put(vk);
	let_go(vk);
}

static struct verbs_key *window_get(struct verbs_domain *domain)
{
	struct verbs_key *vk = domain->free_windows;

	if (vk) {
		domain->free_windows = vk->next_free;
	} else {
		vk = calloc(1, sizeof(*vk));
		if (!vk)
			return NULL;
		vk->mw = ibv_alloc_mw(domain->pd, IBV_MW_TYPE_2);
		if (!vk->mw) {
			free(vk);
			return NULL;
		}
		vk->domain = domain;
		vk->window_rkey = vk->mw->rkey;
		vk->bind.op = VERBS_BIND;
		vk->bind.done = bind_done;
		vk->inv.op = VERBS_INV;
		vk->inv.done = inv_done;
	}
	/*
	 * Each binding has a key of its own, so that the last one's cannot be used again; the device wants to
	 * see that one while it binds the next.
	 */
	vk->mw->rkey = vk->window_rkey;
	vk->invalidated = false;
	return vk;
}

static struct verbs_key *window_lend(struct verbs_ep *ep, struct fabric_key *key)
{
	struct verbs_key *vk = window_get(ep->domain);

	if (!vk)
		return NULL;
	if (ep->device->rxe) {
		vk->mr = ibv_reg_mr(ep->domain->pd, key->mem, key->len_bytes,
				    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
		if (!vk->mr) {
			window_put(vk);
			return NULL;
		}
	}
	vk->window_rkey = ibv_inc_rkey(vk->window_rkey);
	key->rkey = vk->window_rkey;
	vk->binding = true;
	verbs_queue(ep, &vk->bind);
	verbs_ep_counters(ep)->windows_bound++;
	return vk;
}

static struct verbs_key *region_lend(struct verbs_ep *ep, struct fabric_key *key)
{
	struct verbs_key *vk = calloc(1, sizeof(*vk));
	int access = IBV_ACCESS_LOCAL_WRITE;

	if (!vk)
		return NULL;
	if (key->rights & FABRIC_REMOTE_READ)
		access |= IBV_ACCESS_REMOTE_READ;
	if (key->rights & FABRIC_REMOTE_WRITE)
		access |= IBV_ACCESS_REMOTE_WRITE;
	vk->domain = ep->domain;
	vk->mr = ibv_reg_mr(ep->domain->pd, key->mem, key->len_bytes, access);
	if (!vk->mr) {
		free(vk);
		return NULL;
	}
	key->rkey = vk->mr->rkey;
	verbs_ep_counters(ep)->regions_lent++;
	return vk;
}

int verbs_key_bind(struct fabric_ep *fep, struct fabric_key *key)
{
	struct verbs_ep *ep = verbs_ep_of(fep);
	struct verbs_key *vk;

	if (ep->state != VERBS_OPEN)
		return -ENOTCONN;
	vk = ep->device->windows ? window_lend(ep, key) : region_lend(ep, key);
	if (!vk)
		return -ENOMEM;
	key->addr = (uintptr_t)key->mem;
	key->ep = fep;
	key->priv = vk;
	buf_ref(key->buf);
	vk->key = key;
	TAILQ_INSERT_TAIL(&ep->keys, key, entry);
	return 0;
}

bool verbs_key_unbind(struct fabric_key *key)
{
	struct verbs_ep *ep = verbs_ep_of(key->ep);
	struct verbs_key *vk = key->priv;

	if (!vk)
		return true; /* buried with the connection */
	if (vk->released || !vk->mw) {
		TAILQ_REMOVE(&ep->keys, key, entry);
		release(vk);
		let_go(vk);
		free(vk);
		return true;
	}
	if (vk->invalidated) {
		TAILQ_REMOVE(&ep->keys, key, entry);
		if (!vk->binding)
			window_put(vk);
		let_go(vk);
		return true;
	}
	vk->unbinding = true;
	/* On a connection that is going down, the end of its queue pair does it: verbs_keys_bury(). */
	if (ep->state == VERBS_OPEN || ep->state == VERBS_DRAINING)
		verbs_queue(ep, &vk->inv);
	return false;
}

void verbs_key_invalidated(struct verbs_ep *ep, uint32_t rkey)
{
	struct fabric_key *key;

	verbs_ep_counters(ep)->peer_invalidations++;
	TAILQ_FOREACH(key, &ep->keys, entry) {
		struct verbs_key *vk = key->priv;

		if (key->rkey == rkey && !vk->unbinding) {
			vk->invalidated = true;
			return;
		}
	}
}

void verbs_keys_release(struct verbs_ep *ep)
{
	struct fabric_key *key;

	TAILQ_FOREACH(key, &ep->keys, entry)
		release(key->priv);
}

void verbs_keys_bury(struct verbs_ep *ep)
{
	struct fabric_key *key;

	while ((key = TAILQ_FIRST(&ep->keys))) {
		struct verbs_key *vk = key->priv;

		TAILQ_REMOVE(&ep->keys, key, entry);
		let_go(vk);
		free(vk);
	}
}
