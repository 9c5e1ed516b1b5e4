// SPDX-License-Identifier: BSD-3-Clause
/* Sends that are not signalled: a timer of the worker looks at the endpoints that have some (queue.c sets it). */
#include "fabric/verbs/late.h"

#include <errno.h>

#include "fabric/verbs/queue.h"

static void tick(void *arg)
{
	struct verbs_fabric *fabric = arg;
	struct verbs_late *late = &fabric->late;
	struct verbs_ep *ep, *next;

	late->timer_set = false;
	for (ep = TAILQ_FIRST(&late->eps); ep; ep = next) {
		next = TAILQ_NEXT(ep, late_entry);
		if (ep->unsignalled && ep->was_late)
			verbs_late_flush(ep);
		if (!ep->unsignalled || ep->was_late)
			verbs_late_forget(ep);
		ep->was_late = true;
	}
	if (!TAILQ_EMPTY(&late->eps))
		verbs_late_set_timer(fabric);
}

int verbs_late_init(struct verbs_fabric *fabric)
{
	TAILQ_INIT(&fabric->late.eps);
	fabric->late.timer = loop_timer_new(fabric->fabric.loop, tick, fabric);
	return fabric->late.timer ? 0 : -ENOMEM;
}

void verbs_late_fini(struct verbs_fabric *fabric)
{
	loop_timer_free(fabric->fabric.loop, fabric->late.timer);
}

/* On a connection that is closing, more may have been posted behind it before. */
static void flushed(struct fabric_wr *wr, enum fabric_status status)
{
	struct verbs_ep *ep = container_of(wr, struct verbs_ep, flush);

	ep->flushing = false;
	if (ep->state == VERBS_DRAINING)
		verbs_late_flush(ep);
}

void verbs_late_flush(struct verbs_ep *ep)
{
	if (ep->flushing || !ep->unsignalled || !verbs_state_sends(ep->state))
		return;
	ep->flushing = true;
	ep->flush = (struct fabric_wr){.op = FABRIC_WRITE, .done = flushed};
	verbs_queue(ep, &ep->flush);
}

void verbs_late_forget(struct verbs_ep *ep)
{
	if (ep->is_late)
		TAILQ_REMOVE(&verbs_fabric_of(ep->ep.fabric)->late.eps, ep, late_entry);
	ep->is_late = false;
}
