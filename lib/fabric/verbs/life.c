// SPDX-License-Identifier: BSD-3-Clause
/*
 * The life of a verbs endpoint; its states stand in states.h.
 *
 * Death is a task (bury.c): the queue pair is destroyed there, after which no buffer and no key of this
 * endpoint can be touched; then every work request is completed, every unbind answered, and closed() called.
 */
#include "fabric/verbs/life.h"

#include <stdarg.h>
#include <stdio.h>

#include "fabric/verbs/aside.h"

static struct loop *loop_of(const struct verbs_ep *ep)
{
	return ep->ep.fabric->loop;
}

void verbs_ep_set(struct verbs_ep *ep, enum verbs_ep_state state)
{
	ep->state = state_next(&verbs_ep_states, ep->state, state);
}

/* To be buried; while a thread uses the id, not yet. */
static void go(struct verbs_ep *ep)
{
	if (ep->aside) {
		verbs_ep_set(ep, VERBS_RETURNING);
		return;
	}
	verbs_ep_set(ep, VERBS_DYING);
	loop_defer(loop_of(ep), &ep->step_task);
}

/* The kernel's iWARP manager lets nobody disconnect or destroy what it is setting up. */
static void abandon(struct verbs_ep *ep)
{
	verbs_ep_set(ep, VERBS_ABANDONED);
	loop_timer_set(loop_of(ep), ep->timer, VERBS_ABANDON_US);
}

int verbs_ep_disconnect(struct verbs_ep *ep)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (ep->qp && !ep->id->qp)
		(void)ibv_modify_qp(ep->qp, &attr, IBV_QP_STATE);
	return rdma_disconnect(ep->id) ? -errno : 0;
}

void verbs_ep_part(struct verbs_ep *ep)
{
	if (ep->parting == VERBS_PART_REJECT)
		(void)rdma_reject(ep->id, ep->rejection, (uint8_t)ep->rejection_bytes);
	else if (ep->parting == VERBS_PART_DISCONNECT)
		(void)verbs_ep_disconnect(ep);
}

static void part(struct verbs_ep *ep, enum verbs_parting parting)
{
	loop_timer_clear(loop_of(ep), ep->timer);
	if (parting == VERBS_PART_ABANDON) {
		abandon(ep);
		return;
	}
	ep->parting = parting;
	go(ep);
}

void verbs_ep_die(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
{
	bool closing = ep->state == VERBS_DRAINING || ep->state == VERBS_DISCONNECTING;
	va_list args;

	if (verbs_state_over(ep->state))
		return;
	ep->why = closing ? FABRIC_CLOSE_LOCAL : why;
	va_start(args, fmt);
	vsnprintf(ep->detail, sizeof(ep->detail), fmt, args);
	va_end(args);
	/* Before it is buried, which takes as long as the device likes. */
	ep->is_ending = ep->opened && !ep->closed_here;
	if (ep->is_ending)
		loop_defer(loop_of(ep), &ep->ending_task);
	part(ep, verbs_parting(ep->state, ep->device && ep->device->iwarp));
}

void verbs_ep_lost_device(struct verbs_ep *ep, const char *what)
{
	if (verbs_state_over(ep->state))
		return;
	verbs_ep_counters(ep)->device_removals++;
	verbs_ep_die(ep, FABRIC_CLOSE_LOST, "%s", what);
}

void verbs_ep_unmade(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
{
	va_list args;

	if (verbs_state_over(ep->state))
		return;
	ep->why = why;
	va_start(args, fmt);
	vsnprintf(ep->detail, sizeof(ep->detail), fmt, args);
	va_end(args);
	part(ep, VERBS_PART_SILENTLY);
}

void verbs_ep_end_wait(struct verbs_ep *ep)
{
	loop_timer_clear(loop_of(ep), ep->timer);
	go(ep);
}

bool verbs_ep_returned(struct verbs_ep *ep)
{
	if (ep->state != VERBS_RETURNING)
		return false;
	go(ep);
	return true;
}

void verbs_ep_timer(void *arg)
{
	struct verbs_ep *ep = arg;

	switch (ep->state) {
	case VERBS_RESOLVING:
	case VERBS_OPENING:
	case VERBS_CONNECTING:
	case VERBS_ACCEPTED:
		verbs_ep_die(ep, FABRIC_CLOSE_TIMEOUT, "the peer does not answer");
		break;
	case VERBS_DRAINING:
	case VERBS_DISCONNECTING:
		verbs_ep_die(ep, FABRIC_CLOSE_LOCAL, "the peer did not take all that was sent");
		break;
	case VERBS_FLUSHED:
		verbs_ep_die(ep, FABRIC_CLOSE_LOST, "the queue pair failed");
		break;
	case VERBS_ABANDONED:
		ep->bury_aside = true;
		verbs_ep_end_wait(ep);
		break;
	default:
		break;
	}
}

void verbs_ep_heard(struct verbs_ep *ep)
{
	ep->heard = true;
	if (ep->state == VERBS_ACCEPTED && !ep->device->iwarp)
		(void)rdma_notify(ep->id, IBV_EVENT_COMM_EST);
}

void verbs_ep_established(struct verbs_ep *ep, const void *private_data, size_t len_bytes)
{
	if (ep->state != VERBS_CONNECTING && ep->state != VERBS_ACCEPTED)
		return;
	verbs_ep_set(ep, VERBS_OPEN);
	ep->opened = true;
	loop_timer_clear(loop_of(ep), ep->timer);
	verbs_copy_addr(&ep->local, rdma_get_local_addr(ep->id));
	verbs_ep_counters(ep)->connections_opened++;
	ep->ep.events->established(ep->ep.arg, private_data, len_bytes);
	/* Messages may have come before this event. */
	loop_defer(loop_of(ep), &ep->early_task);
}

void verbs_ep_flushed(struct verbs_ep *ep)
{
	if (ep->state != VERBS_OPEN)
		return;
	verbs_ep_set(ep, VERBS_FLUSHED);
	loop_timer_set(loop_of(ep), ep->timer, VERBS_FLUSH_US);
}

void verbs_hear_end(struct fabric_ep *base)
{
	struct verbs_ep *ep = container_of(base, struct verbs_ep, ep);

	if (!verbs_state_over(ep->state))
		loop_defer(loop_of(ep), &verbs_fabric_of(base->fabric)->channel_task);
	if (ep->state == VERBS_FLUSHED)
		verbs_ep_timer(ep);
}

void verbs_ep_drain(struct verbs_ep *ep)
{
	verbs_ep_set(ep, VERBS_DRAINING);
	loop_timer_set(loop_of(ep), ep->timer, VERBS_CLOSE_DRAIN_US);
}

static void disconnected(struct verbs_ep *ep, int result)
{
	if (!verbs_ep_returned(ep) && result)
		verbs_ep_die(ep, FABRIC_CLOSE_LOCAL, "closed here");
}

void verbs_ep_drained(struct verbs_ep *ep)
{
	if (ep->state != VERBS_DRAINING || !TAILQ_EMPTY(&ep->sends) ||
	    !TAILQ_EMPTY(&ep->wait_sends))
		return;
	/* What a thread does for it comes to an end first, and then this is called again. */
	if (ep->aside)
		return;
	verbs_ep_set(ep, VERBS_DISCONNECTING);
	verbs_ep_command(ep, verbs_ep_disconnect, disconnected);
}
