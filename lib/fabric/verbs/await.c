// SPDX-License-Identifier: BSD-3-Clause
/*
 * A key that comes back wakes all who wait on this worker, in a task. Other workers are asked for windows that they keep and do
 * not use (async.c). Windows may also be other processes', that this one hears nothing of, so a timer wakes those who wait, too.
 *
 * An endpoint that found too few keys gives back those that it had. These must not wake it, or it would take them again, find
 * too few again, and so on: it counts them.
 */
#include "fabric/verbs/await.h"

#include <errno.h>

#include "fabric/verbs/async.h"

static void wake(void *arg)
{
	struct verbs_fabric *fabric = arg;
	struct verbs_await *await = &fabric->await;
	struct verbs_ep *last = TAILQ_LAST(&await->eps, verbs_ep_waiters), *ep;
	bool more = last;

	loop_timer_clear(fabric->fabric.loop, await->timer);
	/* Those that wait again do so behind the last. */
	while (more && (ep = TAILQ_FIRST(&await->eps))) {
		more = ep != last;
		verbs_await_forget(ep);
		if (verbs_state_up(ep->state))
			ep->ep.events->key_free(ep->ep.arg);
	}
}

int verbs_await_init(struct verbs_fabric *fabric)
{
	struct verbs_await *await = &fabric->await;

	TAILQ_INIT(&await->eps);
	loop_task_init(&await->task, wake, fabric);
	await->timer = loop_timer_new(fabric->fabric.loop, wake, fabric);
	return await->timer ? 0 : -ENOMEM;
}

void verbs_await_fini(struct verbs_fabric *fabric)
{
	loop_task_cancel(fabric->fabric.loop, &fabric->await.task);
	loop_timer_free(fabric->fabric.loop, fabric->await.timer);
}

/*
 * A key that this worker has lent comes back when a server answers, however long that takes: wait for it without a limit. A memory
 * window may also be another worker's or process's: wait for it for VERBS_KEY_WAIT_US. A region may never be had, since locked memory
 * has a limit: do not wait.
 */
static bool may_wait(struct verbs_device *device)
{
	uint64_t now_us = loop_now_us(device->fabric->fabric.loop);

	if (device->keys_out > device->keys_unused) {
		device->keyless = false;
		return true;
	}
	if (!device->windows)
		return false;
	if (!device->keyless)
		device->keyless_since_us = now_us;
	device->keyless = true;
	return now_us - device->keyless_since_us < VERBS_KEY_WAIT_US;
}

bool verbs_key_await(struct fabric_ep *fep, unsigned own)
{
	struct verbs_ep *ep = verbs_ep_of(fep);
	struct verbs_fabric *fabric = verbs_fabric_of(fep->fabric);

	if (!verbs_state_up(ep->state))
		return false;
	ep->own_keys += own;
	ep->device->keys_unused += own;
	if (!may_wait(ep->device))
		return false;
	if (!ep->awaits_key)
		TAILQ_INSERT_TAIL(&fabric->await.eps, ep, await_entry);
	ep->awaits_key = true;
	loop_timer_set(fabric->fabric.loop, fabric->await.timer, VERBS_KEY_RETRY_US);
	/* While some are being allocated that tells whether others have to be asked for theirs: windows_allocated(). */
	if (ep->device->windows && ep->domain->batch.vain && !ep->domain->batch.wanted)
		verbs_async_want_window(ep->device);
	return true;
}

void verbs_await_came_back(struct verbs_ep *ep)
{
	if (ep->own_keys) {
		ep->own_keys--;
		ep->device->keys_unused--;
		return;
	}
	/* It was of use. */
	ep->device->keyless = false;
	verbs_await_wake(verbs_fabric_of(ep->ep.fabric));
}

void verbs_await_wake(struct verbs_fabric *fabric)
{
	if (!TAILQ_EMPTY(&fabric->await.eps))
		loop_defer(fabric->fabric.loop, &fabric->await.task);
}

void verbs_await_forget(struct verbs_ep *ep)
{
	if (ep->awaits_key)
		TAILQ_REMOVE(&verbs_fabric_of(ep->ep.fabric)->await.eps, ep, await_entry);
	ep->awaits_key = false;
}
