// SPDX-License-Identifier: BSD-3-Clause
/* Completion queues: slots and entries are the loop's, the queue itself is created and destroyed on the device's thread. */
#include "fabric/verbs/cq.h"

#include <errno.h>
#include <stdlib.h>

#include "base/least.h"
#include "fabric/verbs/async.h"
#include "fabric/verbs/command.h"
#include "fabric/verbs/life.h"

#define FEW_SLOTS 16u

static struct loop *loop_of(const struct verbs_cq *cq)
{
	return cq->device->fabric->fabric.loop;
}

static unsigned need_of(const struct verbs_ep *ep)
{
	return ep->sq_depth + ep->rq_depth;
}

bool verbs_cq_may_share(uint32_t vendor_id)
{
	static const uint32_t vendors[] = {
		VERBS_RXE_VENDOR, VERBS_SIW_VENDOR, 0x02c9, /* mlx5, mlx4 */
		0x8086,                                     /* irdma */
		0x14e4,                                     /* bnxt_re */
	};

	for (unsigned i = 0; i < ARRAY_SIZE(vendors); i++)
		if (vendors[i] == vendor_id)
			return true;
	return false;
}

/* ---- slots ---- */

static int add_slots(struct verbs_cq *cq)
{
	unsigned n = cq->nslots ? 2 * cq->nslots : FEW_SLOTS;
	struct verbs_slot *slots;

	if (n > 1u << VERBS_SLOT_BITS)
		return -ENOSPC;
	slots = realloc(cq->slots, n * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (unsigned i = cq->nslots; i < n; i++)
		slots[i] = (struct verbs_slot){.next = i + 1 < n ? i + 1 : VERBS_NO_SLOT};
	cq->free_slot = cq->nslots;
	cq->slots = slots;
	cq->nslots = n;
	return 0;
}

static int take_slot(struct verbs_cq *cq, struct verbs_ep *ep)
{
	struct verbs_slot *slot;
	int err = cq->free_slot == VERBS_NO_SLOT ? add_slots(cq) : 0;

	if (err)
		return err;
	ep->slot = cq->free_slot;
	slot = &cq->slots[ep->slot];
	cq->free_slot = slot->next;
	slot->ep = ep;
	slot->cqes = need_of(ep);
	cq->used += slot->cqes;
	ep->cqes = cq->used;
	ep->wr_base = verbs_wr_base(ep->slot, slot->generation);
	return 0;
}

/* Behind those that have left before. */
static void leave_slot(struct verbs_cq *cq, unsigned at)
{
	struct verbs_slot *slot = &cq->slots[at];

	slot->ep = NULL;
	slot->gone = cq->gone + (cq->cq ? cq->cqes : 0);
	slot->next = VERBS_NO_SLOT;
	if (cq->first_leaving == VERBS_NO_SLOT)
		cq->first_leaving = at;
	else
		cq->slots[cq->last_leaving].next = at;
	cq->last_leaving = at;
}

void verbs_cq_free_left(struct verbs_cq *cq)
{
	while (cq->first_leaving != VERBS_NO_SLOT) {
		unsigned at = cq->first_leaving;
		struct verbs_slot *slot = &cq->slots[at];

		if (slot->gone > cq->gone)
			return;
		cq->first_leaving = slot->next;
		cq->used -= slot->cqes;
		slot->generation = (slot->generation + 1) % (1u << VERBS_GENERATION_BITS);
		slot->next = cq->free_slot;
		cq->free_slot = at;
	}
}

/* ---- the end of a queue ---- */

void verbs_cq_fail(struct verbs_cq *cq, enum fabric_close why, const char *text)
{
	cq->failed = true;
	for (unsigned i = 0; i < cq->nslots; i++)
		if (cq->slots[i].ep)
			verbs_ep_die(cq->slots[i].ep, why, "%s", text);
}

static void fail(void *arg)
{
	verbs_cq_fail(arg, FABRIC_CLOSE_LOST, "the completion queue failed");
}

static void destroy(struct verbs_command *command)
{
	struct verbs_cq *cq = container_of(command, struct verbs_cq, command);

	if (!cq->made)
		return;
	verbs_async_hold();
	pthread_mutex_lock(&cq->device->cq_lock);
	ibv_destroy_cq(cq->made);
	pthread_mutex_unlock(&cq->device->cq_lock);
	verbs_async_release();
}

static void destroyed(struct verbs_command *command)
{
	struct verbs_cq *cq = container_of(command, struct verbs_cq, command);
	struct verbs_device *device = cq->device;

	/* See verbs_channel_ready(). */
	if (device->channel_watch.loop && !device->removed)
		verbs_watch_set(&device->channel_watch, true);
	free(cq->slots);
	free(cq);
}

static void put(struct verbs_cq *cq)
{
	if (--cq->eps)
		return;
	LIST_REMOVE(cq, entry);
	loop_task_cancel(loop_of(cq), &cq->poll_task);
	verbs_async_forget_cq(cq);
	loop_task_cancel(loop_of(cq), &cq->fail_task);
	/* Those that still come are acknowledged at once. */
	if (cq->cq)
		ibv_ack_cq_events(cq->cq, cq->unacked);
	verbs_command_post(cq->device, &cq->command, destroy, destroyed);
}

/* ---- joining ---- */

static unsigned all_cqes(const struct verbs_device *device)
{
	const struct verbs_cq *cq;
	unsigned total = 0;

	LIST_FOREACH(cq, &device->cqs, entry)
		total += cq->cqes;
	return total;
}

static struct verbs_cq *cq_new(struct verbs_device *device, unsigned need)
{
	struct verbs_cq *cq = calloc(1, sizeof(*cq));

	if (!cq)
		return NULL;
	cq->device = device;
	cq->own = !device->shares_cqs;
	cq->cqes = cq->own ? need
			   : least(most(verbs_cq_next(all_cqes(device)), need),
				   (unsigned)device->attr.max_cqe);
	cq->free_slot = cq->first_leaving = cq->last_leaving = VERBS_NO_SLOT;
	loop_task_init(&cq->poll_task, device->poll, cq);
	loop_task_init(&cq->fail_task, fail, cq);
	LIST_INSERT_HEAD(&device->cqs, cq, entry);
	return cq;
}

static struct verbs_cq *find(const struct verbs_device *device, unsigned need)
{
	struct verbs_cq *cq;

	LIST_FOREACH(cq, &device->cqs, entry)
		if (!cq->own && !cq->failed && cq->cqes >= cq->used + need)
			return cq;
	return NULL;
}

int verbs_cq_join(struct verbs_ep *ep)
{
	unsigned need = need_of(ep);
	struct verbs_cq *cq = find(ep->device, need);
	int err;

	if (!cq)
		cq = cq_new(ep->device, need);
	if (!cq)
		return -ENOMEM;
	cq->eps++;
	err = take_slot(cq, ep);
	if (err)
		put(cq);
	else
		ep->cq = cq;
	return err;
}

/* Workers are spread over the completion vectors that the device has. */
static int vector_of(const struct verbs_device *device)
{
	int vectors = device->context->num_comp_vectors;

	return vectors > 0 ? (int)(device->fabric->config.vector % (unsigned)vectors) : 0;
}

/* While it is not created nobody but this thread has `made` and `made_cqes`, and nobody changes `cqes`. */
int verbs_cq_create(struct verbs_ep *ep)
{
	struct verbs_cq *cq = ep->cq;
	struct verbs_device *device = ep->device;
	unsigned need = need_of(ep), cqes = cq->made ? cq->made_cqes : cq->cqes;

	while (!cq->made) {
		errno = 0;
		cq->made = ibv_create_cq(device->context, (int)cqes, cq, device->channel,
					 vector_of(device));
		if (!cq->made && cqes == need)
			return errno ? -errno : -ENOMEM; /* not every library says why */
		cq->made_cqes = cqes;
		cqes = most(cqes / 2, need);
	}
	ep->made_cq = cq->made;
	ep->made_cqes = cq->made_cqes;
	ep->cq_short = ep->cqes > cq->made_cqes;
	return ep->cq_short ? -ENOSPC : 0;
}

void verbs_cq_created(struct verbs_ep *ep)
{
	struct verbs_cq *cq = ep->cq;

	if (cq->cq || !ep->made_cq)
		return;
	cq->cq = ep->made_cq;
	cq->cqes = ep->made_cqes;
	/* Polls what completed before the first event was asked for, and asks. */
	loop_defer(loop_of(cq), &cq->poll_task);
}

void verbs_cq_forget(struct verbs_ep *ep)
{
	if (ep->cq)
		ep->cq->slots[ep->slot].ep = NULL;
}

void verbs_cq_leave(struct verbs_ep *ep)
{
	struct verbs_cq *cq = ep->cq;

	ep->cq = NULL;
	if (!cq)
		return;
	leave_slot(cq, ep->slot);
	/* Nobody may come to poll a queue on which nothing happens. */
	if (cq->cq)
		loop_defer(loop_of(cq), &cq->poll_task);
	else
		verbs_cq_free_left(cq);
	put(cq);
}
