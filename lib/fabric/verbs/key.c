// SPDX-License-Identifier: BSD-3-Clause
/*
 * Keys are memory windows if the device has them, else regions.
 *
 * A window is bound and invalidated by work requests, in order with the Sends around them; an
 * unbind has finished when the invalidation completed. A region is registered and deregistered by
 * system calls. When the connection ends, both are released first: a queue pair with a bound window
 * must not be destroyed (rxe waits for the window).
 *
 * A returned key wakes all endpoints of this worker that wait for one, in a task. Other workers are
 * asked for windows that they keep unused (async_event.c). Other processes can hold windows too,
 * and do not report when they free them, so a timer also wakes the waiting endpoints.
 *
 * An endpoint that got too few keys returns those that it had. They must not wake it, or it would
 * get them again, still have too few, and so on: it counts them.
 */
#include "fabric/verbs/key.h"

#include <errno.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "fabric/verbs/async_event.h"
#include "fabric/verbs/pd.h"
#include "fabric/verbs/send_queue.h"

static void set_state(struct verbs_key *vk, enum verbs_key_state state)
{
	vk->state = state_next(&verbs_key_states, vk->state, state);
}

static struct verbs_key *key_of(struct verbs_command *command)
{
	return container_of(command, struct verbs_key, command);
}

/* Frees the window and the region at the device. */
static void key_release_run(struct verbs_command *command)
{
	struct verbs_key *vk = key_of(command);

	if (vk->mw)
		ibv_dealloc_mw(vk->mw);
	if (vk->mr)
		ibv_dereg_mr(vk->mr);
	vk->mw = NULL;
	vk->mr = NULL;
}

/* Notifies another worker that waits for the freed window. */
static void window_freed_report(struct verbs_device *device)
{
	if (!device->window_owed)
		return;
	device->window_owed = false;
	verbs_async_window_freed(device);
}

static void key_release_done(struct verbs_command *command)
{
	struct verbs_key *vk = key_of(command);
	struct verbs_device *device = vk->domain->device;

	free(vk);
	window_freed_report(device);
}

/* Registrations for a single RPC are made and released on this thread, see verbs_ep.h. */
static void region_release(struct verbs_key *vk)
{
	if (vk->mr)
		ibv_dereg_mr(vk->mr);
	vk->mr = NULL;
}

/* Returns an unbound window to the free ones. */
static void window_put(struct verbs_key *vk)
{
	region_release(vk);
	vk->next_free = vk->domain->free_windows;
	vk->domain->free_windows = vk;
	vk->domain->nfree_windows++;
}

/* ---- endpoints that wait for a key ---- */

static void await_wake(void *arg)
{
	struct verbs_fabric *fabric = arg;
	struct verbs_await *await = &fabric->await;
	struct verbs_ep *last = TAILQ_LAST(&await->eps, verbs_ep_waiters), *ep;
	bool more = last;

	loop_timer_clear(fabric->fabric.loop, await->timer);
	/* Endpoints that wait again queue after the last one. */
	while (more && (ep = TAILQ_FIRST(&await->eps))) {
		more = ep != last;
		verbs_await_remove(ep);
		if (verbs_state_up(ep->state))
			ep->ep.events->key_free(ep->ep.arg);
	}
}

int verbs_await_init(struct verbs_fabric *fabric)
{
	struct verbs_await *await = &fabric->await;

	TAILQ_INIT(&await->eps);
	loop_task_init(&await->task, await_wake, fabric);
	await->timer = loop_timer_new(fabric->fabric.loop, await_wake, fabric);
	return await->timer ? 0 : -ENOMEM;
}

void verbs_await_fini(struct verbs_fabric *fabric)
{
	loop_task_cancel(fabric->fabric.loop, &fabric->await.task);
	loop_timer_free(fabric->fabric.loop, fabric->await.timer);
}

/*
 * Returns true if waiting makes sense. A key in use on this worker returns when a server answers,
 * however long that takes: no limit. A memory window can also be in use by another worker or
 * process: wait up to VERBS_KEY_WAIT_US. A region may never become available, because locked memory
 * has a limit: do not wait.
 */
static bool key_may_come(struct verbs_device *device)
{
	uint64_t now_us = loop_now_us(device->fabric->fabric.loop);

	if (device->keys_exposed > device->keys_returning) {
		device->out_of_keys = false;
		return true;
	}
	if (!device->windows)
		return false;
	if (!device->out_of_keys)
		device->out_of_keys_since_us = now_us;
	device->out_of_keys = true;
	return now_us - device->out_of_keys_since_us < VERBS_KEY_WAIT_US;
}

bool verbs_key_await(struct fabric_ep *fep, unsigned own)
{
	struct verbs_ep *ep = verbs_ep_of(fep);
	struct verbs_fabric *fabric = verbs_fabric_of(fep->fabric);

	if (!verbs_state_up(ep->state))
		return false;
	ep->own_keys += own;
	ep->device->keys_returning += own;
	if (!key_may_come(ep->device))
		return false;
	if (!ep->awaits_key)
		TAILQ_INSERT_TAIL(&fabric->await.eps, ep, await_entry);
	ep->awaits_key = true;
	loop_timer_set(fabric->fabric.loop, fabric->await.timer, VERBS_KEY_RETRY_US);
	/* During an allocation windows_allocated() decides whether to request others. */
	if (ep->device->windows && ep->domain->batch.none_left && !ep->domain->batch.wanted)
		verbs_async_request_window(ep->device);
	return true;
}

/* Makes each waiting endpoint try again: the device has more keys. */
static void await_wake_all(struct verbs_fabric *fabric)
{
	if (!TAILQ_EMPTY(&fabric->await.eps))
		loop_defer(fabric->fabric.loop, &fabric->await.task);
}

/* Handles a key returned by @ep: waiting endpoints try again. */
static void key_returned(struct verbs_ep *ep)
{
	if (ep->own_keys) {
		ep->own_keys--;
		ep->device->keys_returning--;
		return;
	}
	/* The key had been in use. */
	ep->device->out_of_keys = false;
	await_wake_all(verbs_fabric_of(ep->ep.fabric));
}

void verbs_await_remove(struct verbs_ep *ep)
{
	if (ep->awaits_key)
		TAILQ_REMOVE(&verbs_fabric_of(ep->ep.fabric)->await.eps, ep, await_entry);
	ep->awaits_key = false;
}

/* ---- keys ---- */

/* Recycles a key without an owner; a window known to be unbound can be reused. */
static void key_recycle(struct verbs_ep *ep, struct verbs_key *vk, bool again)
{
	set_state(vk, VERBS_KEY_FREE);
	ep->device->keys_exposed--;
	if (again && vk->mw && !ep->device->window_owed) {
		window_put(vk);
	} else if (vk->mw) {
		if (ep->device->window_owed)
			verbs_async_yield(ep->device);
		verbs_command_post(&vk->domain->device->commands, &vk->command, key_release_run,
				   key_release_done);
	} else {
		region_release(vk);
		free(vk);
	}
	key_returned(ep);
}

/* Detaches the key from its owner, when the peer can no longer reach the memory. */
static struct fabric_key *key_detach(struct verbs_ep *ep, struct verbs_key *vk)
{
	struct fabric_key *key = vk->key;

	TAILQ_REMOVE(&ep->keys, key, entry);
	vk->key = NULL;
	key->priv = NULL;
	return key;
}

/* A failed bind ends the connection, and the key with it. */
static void bind_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct verbs_key *vk = container_of(wr, struct verbs_key, bind);

	switch (vk->state) {
	case VERBS_KEY_BINDING:
		set_state(vk, VERBS_KEY_EXPOSED);
		break;
	case VERBS_KEY_INVALIDATED_EARLY:
		set_state(vk, VERBS_KEY_INVALIDATED);
		break;
	case VERBS_KEY_ORPHANED:
		key_recycle(vk->ep, vk, status == FABRIC_OK);
		break;
	default:
		break;
	}
}

static void inv_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct verbs_key *vk = container_of(wr, struct verbs_key, inv);
	struct fabric_key *key;

	if (status != FABRIC_OK || vk->releasing)
		return; /* the connection ends: see verbs_keys_destroy() */
	key = key_detach(vk->ep, vk);
	key_recycle(vk->ep, vk, true);
	buf_put(key->buf);
	key->unbound(key);
}

static struct verbs_key *window_new(struct verbs_pd *domain, struct ibv_pd *pd)
{
	struct verbs_key *vk = calloc(1, sizeof(*vk));

	if (!vk)
		return NULL;
	vk->mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
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
	return vk;
}

static struct verbs_pd *domain_of(struct verbs_command *command)
{
	return container_of(command, struct verbs_pd, batch.command);
}

static void windows_alloc(struct verbs_command *command)
{
	struct verbs_pd *domain = domain_of(command);
	struct verbs_window_batch *batch = &domain->batch;
	struct ibv_pd *pd = verbs_pd_alloc(domain);
	struct verbs_key *vk;

	for (unsigned n = 0; pd && n < batch->wanted && (vk = window_new(domain, pd)); n++) {
		vk->next_free = batch->windows;
		batch->windows = vk;
	}
}

static void windows_allocated(struct verbs_command *command)
{
	struct verbs_pd *domain = domain_of(command);
	struct verbs_fabric *fabric = domain->device->fabric;
	struct verbs_window_batch *batch = &domain->batch;
	struct verbs_key *vk;

	batch->none_left = !batch->windows;

	while ((vk = batch->windows)) {
		batch->windows = vk->next_free;
		window_put(vk);
	}
	batch->wanted = 0;
	if (!batch->none_left)
		await_wake_all(fabric);
	else if (!TAILQ_EMPTY(&fabric->await.eps))
		verbs_async_request_window(domain->device);
}

void verbs_windows_fill(struct verbs_pd *domain)
{
	unsigned spare = verbs_pd_spare_windows(domain);

	if (!domain->device->windows || domain->batch.wanted || domain->nfree_windows >= spare / 2)
		return;
	if (loop_now_us(domain->device->fabric->fabric.loop) < domain->device->yield_until_us)
		return;
	domain->batch.wanted = spare - domain->nfree_windows;
	verbs_command_post(&domain->device->commands, &domain->batch.command, windows_alloc,
			   windows_allocated);
}

/* Returns a free window, or NULL; then some are allocated, for endpoints that wait. */
static struct verbs_key *window_get(struct verbs_pd *domain)
{
	struct verbs_key *vk = domain->free_windows;

	if (vk) {
		domain->free_windows = vk->next_free;
		domain->nfree_windows--;
		domain->idle_windows = min_u32(domain->idle_windows, domain->nfree_windows);
		/*
		 * Each bind gets a new key, so that the previous key is invalid; the device expects
		 * the previous key in the bind.
		 */
		vk->mw->rkey = vk->window_rkey;
	}
	verbs_windows_fill(domain);
	return vk;
}

static struct verbs_key *window_expose(struct verbs_ep *ep, struct fabric_key *key)
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
	set_state(vk, VERBS_KEY_BINDING);
	verbs_sq_add(ep, &vk->bind);
	verbs_ep_counters(ep)->windows_bound++;
	return vk;
}

static struct verbs_key *region_expose(struct verbs_ep *ep, struct fabric_key *key)
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
	set_state(vk, VERBS_KEY_EXPOSED);
	verbs_ep_counters(ep)->regions_lent++;
	return vk;
}

/* A device does not report what the peer writes: unwritten bytes must not be another's data. */
static void write_expose(struct verbs_ep *ep, struct fabric_key *key)
{
	coverage_init(&key->written, key->len_bytes);
	if (key->rights == FABRIC_REMOTE_WRITE)
		verbs_expose(ep, key->buf, key->mem, key->len_bytes);
}

int verbs_key_bind(struct fabric_ep *fep, struct fabric_key *key)
{
	struct verbs_ep *ep = verbs_ep_of(fep);
	struct verbs_key *vk;

	if (!verbs_state_up(ep->state))
		return -ENOTCONN;
	/* A device answers a Read immediately, with the current content. */
	if ((key->rights & FABRIC_REMOTE_READ) && key->ready_bytes != key->len_bytes)
		return -EINVAL;
	write_expose(ep, key);
	vk = ep->device->windows ? window_expose(ep, key) : region_expose(ep, key);
	if (!vk)
		return -EAGAIN;
	vk->ep = ep;
	ep->device->keys_exposed++;
	key->addr = (uintptr_t)key->mem;
	key->ep = fep;
	key->priv = vk;
	buf_ref(key->buf);
	vk->key = key;
	TAILQ_INSERT_TAIL(&ep->keys, key, entry);
	return 0;
}

/*
 * A window whose bind is still queued stays with it. So it does if the connection ended first and
 * the done() of another work request calls this function.
 */
bool verbs_key_unbind(struct fabric_key *key)
{
	struct verbs_ep *ep = verbs_ep_of(key->ep);
	struct verbs_key *vk = key->priv;

	if (!vk)
		return true; /* destroyed with the connection */
	/* Another thread is freeing it: see verbs_keys_destroy(). */
	if (vk->releasing) {
		set_state(vk, VERBS_KEY_UNBINDING);
		return false;
	}
	if (vk->mw && (vk->state == VERBS_KEY_BINDING || vk->state == VERBS_KEY_EXPOSED)) {
		set_state(vk, VERBS_KEY_UNBINDING);
		/* On a closing connection verbs_keys_destroy() does it, with the queue pair. */
		if (verbs_state_sends(ep->state))
			verbs_sq_add(ep, &vk->inv);
		return false;
	}
	key_detach(ep, vk);
	if (vk->state == VERBS_KEY_BINDING || vk->state == VERBS_KEY_INVALIDATED_EARLY)
		set_state(vk, VERBS_KEY_ORPHANED);
	else
		key_recycle(ep, vk, true);
	buf_put(key->buf);
	return true;
}

void verbs_key_invalidated(struct verbs_ep *ep, uint32_t rkey)
{
	struct fabric_key *key;
	struct verbs_key *vk;

	verbs_ep_counters(ep)->peer_invalidations++;
	TAILQ_FOREACH(key, &ep->keys, entry) {
		vk = key->priv;
		if (key->rkey != rkey)
			continue;
		if (vk->state == VERBS_KEY_BINDING)
			set_state(vk, VERBS_KEY_INVALIDATED_EARLY);
		else if (vk->state == VERBS_KEY_EXPOSED)
			set_state(vk, VERBS_KEY_INVALIDATED);
		return;
	}
}

/* verbs_keys_destroy() frees the key. */
static void release_nop(struct verbs_command *command)
{
}

void verbs_keys_release(struct verbs_ep *ep)
{
	struct fabric_key *key;

	TAILQ_FOREACH(key, &ep->keys, entry) {
		struct verbs_key *vk = key->priv;

		vk->releasing = true;
		verbs_command_post(&vk->domain->device->commands, &vk->command, key_release_run,
				   release_nop);
	}
}

void verbs_keys_destroy(struct verbs_ep *ep)
{
	struct fabric_key *key;

	while ((key = TAILQ_FIRST(&ep->keys))) {
		struct verbs_key *vk = key->priv;
		bool due = vk->state == VERBS_KEY_UNBINDING;

		key_detach(ep, vk);
		key_recycle(ep, vk, false);
		buf_put(key->buf);
		if (due)
			key->unbound(key);
	}
}
