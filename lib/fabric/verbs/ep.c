// SPDX-License-Identifier: BSD-3-Clause
/*
 * The life of a verbs endpoint.
 *
 *	connecting   RESOLVING -> CONNECTING -> OPEN
 *	accepting    REQUESTED -> ACCEPTED -> OPEN
 *	closing      OPEN -> DRAINING -> DISCONNECTING -> DYING -> CLOSED
 *	failing      any -> DYING -> CLOSED; CONNECTING or ACCEPTED over iWARP -> ABANDONED -> DYING first
 *
 * Death is a task: the queue pair is destroyed there, after which no buffer and no key of this endpoint
 * can be touched; then every work request is completed, every unbind answered, and closed() called.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/verbs/verbs_priv.h"

static void bury(struct verbs_ep *ep);

static struct loop *loop_of(const struct verbs_ep *ep)
{
	return ep->ep.fabric->loop;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static void step(void *arg)
{
	struct verbs_ep *ep = arg;

	if (ep->state == VERBS_DYING) {
		bury(ep);
	} else if (ep->tell_requested && ep->state == VERBS_REQUESTED) {
		ep->tell_requested = false;
		ep->ep.events->requested(ep->ep.arg, ep->request, ep->request_bytes);
	}
}

/* The connection manager is through with the set-up, or is not waited for any longer. */
static void abandon_ends(struct verbs_ep *ep)
{
	loop_timer_clear(loop_of(ep), ep->timer);
	ep->state = VERBS_DYING;
	if (!ep->aside)
		loop_defer(loop_of(ep), &ep->step_task);
}

static void on_timer(void *arg)
{
	struct verbs_ep *ep = arg;

	switch (ep->state) {
	case VERBS_RESOLVING:
	case VERBS_CONNECTING:
	case VERBS_ACCEPTED:
		verbs_ep_die(ep, FABRIC_CLOSE_TIMEOUT, "the peer does not answer");
		break;
	case VERBS_DRAINING:
	case VERBS_DISCONNECTING:
		verbs_ep_die(ep, FABRIC_CLOSE_LOCAL, "the peer did not take all that was sent");
		break;
	case VERBS_OPEN:
		verbs_ep_die(ep, FABRIC_CLOSE_LOST, "the queue pair failed");
		break;
	case VERBS_ABANDONED:
		ep->bury_aside = true;
		abandon_ends(ep);
		break;
	default:
		break;
	}
}

static void set_setup_timer(struct verbs_ep *ep)
{
	uint64_t us = verbs_fabric_of(ep->ep.fabric)->config.setup_timeout_us;

	if (us)
		loop_timer_set(loop_of(ep), ep->timer, us);
}

static struct verbs_ep *ep_new(struct fabric *fabric, const struct fabric_ep_events *events,
			       void *arg, enum verbs_state state)
{
	struct verbs_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return NULL;
	ep->ep = (struct fabric_ep){&verbs_fabric_ops, fabric, events, arg};
	ep->state = state;
	ep->timer = loop_timer_new(fabric->loop, on_timer, ep);
	if (!ep->timer) {
		free(ep);
		return NULL;
	}
	loop_task_init(&ep->step_task, step, ep);
	loop_task_init(&ep->post_task, verbs_queue_run, ep);
	loop_task_init(&ep->poll_task, verbs_poll, ep);
	TAILQ_INIT(&ep->wait_sends);
	TAILQ_INIT(&ep->wait_reads);
	TAILQ_INIT(&ep->sends);
	TAILQ_INIT(&ep->reads);
	TAILQ_INIT(&ep->keys);
	return ep;
}

/* The device is known once an address is resolved or a request is in. */
static int ep_device(struct verbs_ep *ep)
{
	ep->device = verbs_device_get(verbs_fabric_of(ep->ep.fabric), ep->id->verbs);
	if (!ep->device)
		return -ENOMEM;
	ep->domain = &ep->device->shared;
	if (!ep->domain->pd) {
		ep->domain = &ep->own;
		return verbs_domain_init(&ep->own, ep->device);
	}
	return 0;
}

int verbs_connect(struct fabric *fabric, const struct sockaddr *addr,
		  const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		  void *arg, struct fabric_ep **out)
{
	struct verbs_ep *ep = ep_new(fabric, events, arg, VERBS_RESOLVING);
	struct sockaddr_storage to;
	int err;

	if (!ep)
		return -ENOMEM;
	ep->params = *params;
	verbs_copy_addr(&ep->peer, addr);
	to = ep->peer;
	if (rdma_create_id(verbs_fabric_of(fabric)->channel, &ep->id, ep, RDMA_PS_TCP)) {
		err = -errno;
		goto out_ep;
	}
	if (rdma_resolve_addr(ep->id, NULL, (struct sockaddr *)&to, VERBS_RESOLVE_MS)) {
		err = -errno;
		goto out_id;
	}
	set_setup_timer(ep);
	*out = &ep->ep;
	return 0;

out_id:
	rdma_destroy_id(ep->id);
out_ep:
	loop_timer_free(fabric->loop, ep->timer);
	free(ep);
	return err ? err : -ENODEV;
}

int verbs_adopt(struct fabric *fabric, struct fabric_incoming *fin,
		const struct fabric_ep_events *events, void *arg, struct fabric_ep **out)
{
	struct verbs_incoming *in = container_of(fin, struct verbs_incoming, in);
	struct verbs_ep *ep = ep_new(fabric, events, arg, VERBS_REQUESTED);

	if (!ep) {
		verbs_incoming_drop(fin);
		return -ENOMEM;
	}
	ep->id = in->id;
	ep->local = fin->local;
	ep->peer = fin->peer;
	ep->ird = in->peer_ord;
	ep->ord = in->peer_ird;
	memcpy(ep->request, in->private_data, in->private_data_bytes);
	ep->request_bytes = in->private_data_bytes;
	ep->id->context = ep;
	if (rdma_migrate_id(ep->id, verbs_fabric_of(fabric)->channel)) {
		/* The id is still on the listener's channel, which must outlive it. */
		ep->adopted = in;
		verbs_ep_die(ep, FABRIC_CLOSE_LOST, "the device is gone");
	} else {
		verbs_incoming_free(in);
		if (ep_device(ep)) {
			verbs_ep_die(ep, FABRIC_CLOSE_RESOURCES,
				     "the device cannot serve one more");
		} else {
			ep->tell_requested = true;
			loop_defer(fabric->loop, &ep->step_task);
		}
	}
	*out = &ep->ep;
	return 0;
}

/* What both ends tell each other; @params.ird and .ord as far as the device and the peer go. */
static void conn_param_fill(struct verbs_ep *ep, struct rdma_conn_param *param)
{
	memset(param, 0, sizeof(*param));
	param->private_data = ep->params.private_data;
	param->private_data_len = (uint8_t)ep->params.private_data_bytes;
	param->responder_resources = (uint8_t)ep->ird;
	param->initiator_depth = (uint8_t)ep->ord;
	param->retry_count = 6;
	param->rnr_retry_count =
		(uint8_t)least(verbs_fabric_of(ep->ep.fabric)->config.rnr_retry, 7);
}

static int call_connect(struct verbs_ep *ep)
{
	return rdma_connect(ep->id, &ep->conn_param) ? -errno : 0;
}

/* Its events may have been here before. */
static void connect_called(struct verbs_ep *ep, int result)
{
	if (ep->state == VERBS_DYING) {
		loop_defer(loop_of(ep), &ep->step_task);
	} else if (result && ep->state == VERBS_ABANDONED) {
		abandon_ends(ep);
	} else if (result) {
		ep->state = VERBS_RESOLVING; /* nothing is under way */
		verbs_ep_die(ep, result == -ECONNREFUSED ? FABRIC_CLOSE_REFUSED : FABRIC_CLOSE_LOST,
			     "rdma_connect: %s", strerror(-result));
	}
}

/*
 * Linux servers refuse who offers to answer no Reads, so at least one is always offered.
 */
static void start_connect(struct verbs_ep *ep)
{
	const struct ibv_device_attr *attr = &ep->device->attr;
	unsigned max_ird = least((unsigned)attr->max_qp_rd_atom, UINT8_MAX);

	ep->ird = least(ep->params.ird ? ep->params.ird : 1, max_ird);
	ep->ord = least(ep->params.ord, least((unsigned)attr->max_qp_init_rd_atom, UINT8_MAX));
	conn_param_fill(ep, &ep->conn_param);
	ep->state = VERBS_CONNECTING;
	if (ep->device->iwarp)
		verbs_aside(ep, call_connect, connect_called);
	else
		connect_called(ep, call_connect(ep));
}

static void on_route(struct verbs_ep *ep)
{
	int err;

	/* The device is known now, and the request not sent yet. */
	if (ep->ep.events->resolved)
		ep->ep.events->resolved(ep->ep.arg, &ep->params);
	if (ep->state != VERBS_RESOLVING)
		return;
	err = verbs_qp_open(ep);
	if (err)
		verbs_ep_die(ep, FABRIC_CLOSE_RESOURCES, "no queue pair: %s", strerror(-err));
	else
		start_connect(ep);
}

static void on_addr(struct verbs_ep *ep)
{
	int err = ep_device(ep);

	if (err)
		verbs_ep_die(ep, FABRIC_CLOSE_RESOURCES, "no use of the device: %s",
			     strerror(-err));
	else if (rdma_resolve_route(ep->id, VERBS_RESOLVE_MS))
		verbs_ep_die(ep, FABRIC_CLOSE_LOST, "rdma_resolve_route: %s", strerror(errno));
}

int verbs_accept(struct fabric_ep *fep, const struct fabric_ep_params *params)
{
	struct verbs_ep *ep = verbs_ep_of(fep);
	const struct ibv_device_attr *attr;
	int err;

	if (ep->state != VERBS_REQUESTED)
		return -ENOTCONN;
	ep->params = *params;
	attr = &ep->device->attr;
	ep->ird = least(least(ep->ird, params->ird), (unsigned)attr->max_qp_rd_atom);
	ep->ord = least(least(ep->ord, params->ord), (unsigned)attr->max_qp_init_rd_atom);
	err = verbs_qp_open(ep);
	if (err) {
		verbs_ep_die(ep, FABRIC_CLOSE_RESOURCES, "no queue pair: %s", strerror(-err));
		return 0;
	}
	conn_param_fill(ep, &ep->conn_param);
	ep->state = VERBS_ACCEPTED;
	if (rdma_accept(ep->id, &ep->conn_param)) {
		ep->state = VERBS_REQUESTED; /* nothing is under way */
		verbs_ep_die(ep, FABRIC_CLOSE_LOST, "rdma_accept: %s", strerror(errno));
	} else {
		set_setup_timer(ep);
	}
	return 0;
}

void verbs_reject(struct fabric_ep *fep)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	if (ep->state != VERBS_REQUESTED)
		return;
	verbs_ep_die(ep, FABRIC_CLOSE_LOCAL, "rejected");
}

void verbs_ep_established(struct verbs_ep *ep, const void *private_data, size_t len_bytes)
{
	if (ep->state != VERBS_CONNECTING && ep->state != VERBS_ACCEPTED)
		return;
	ep->state = VERBS_OPEN;
	ep->opened = true;
	loop_timer_clear(loop_of(ep), ep->timer);
	verbs_copy_addr(&ep->local, rdma_get_local_addr(ep->id));
	verbs_ep_counters(ep)->connections_opened++;
	ep->ep.events->established(ep->ep.arg, private_data, len_bytes);
	/* Messages may have come before this event. */
	loop_defer(loop_of(ep), &ep->poll_task);
}

static void on_connected(struct verbs_ep *ep, const struct rdma_conn_param *conn)
{
	if (ep->state == VERBS_CONNECTING) {
		/* What the acceptor answers, already turned round to our side; it can only lower ours. */
		ep->ord = least(ep->ord, conn->initiator_depth);
		ep->ird = least(ep->ird,
				conn->responder_resources ? conn->responder_resources : ep->ird);
		verbs_ep_established(ep, conn->private_data, conn->private_data_len);
	} else {
		verbs_ep_established(ep, NULL, 0);
	}
}

static void on_disconnected(struct verbs_ep *ep)
{
	switch (ep->state) {
	case VERBS_DRAINING:
	case VERBS_DISCONNECTING:
		verbs_ep_die(ep, FABRIC_CLOSE_LOCAL, "closed here");
		break;
	default:
		verbs_ep_die(ep, FABRIC_CLOSE_PEER, "the peer disconnected");
	}
}

void verbs_ep_cm_event(struct verbs_ep *ep, const struct rdma_cm_event *event)
{
	if (ep->state == VERBS_DYING || ep->state == VERBS_CLOSED)
		return;
	if (ep->state == VERBS_ABANDONED) {
		/* Of these two the set-up has not come to an end. */
		if (event->event != RDMA_CM_EVENT_DEVICE_REMOVAL &&
		    event->event != RDMA_CM_EVENT_ADDR_CHANGE)
			abandon_ends(ep);
		return;
	}
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		on_addr(ep);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		on_route(ep);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		on_connected(ep, &event->param.conn);
		break;
	case RDMA_CM_EVENT_REJECTED:
		ep->state = VERBS_RESOLVING; /* nothing is under way any more */
		verbs_ep_die(ep, FABRIC_CLOSE_REFUSED, "rejected, status %d", event->status);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		if (ep->state == VERBS_CONNECTING)
			ep->state = VERBS_RESOLVING;
		verbs_ep_die(ep,
			     event->status == -ETIMEDOUT      ? FABRIC_CLOSE_TIMEOUT
			     : event->status == -ECONNREFUSED ? FABRIC_CLOSE_REFUSED
							      : FABRIC_CLOSE_LOST,
			     "%s: %s", rdma_event_str(event->event),
			     event->status < 0 ? strerror(-event->status) : "no reason given");
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		on_disconnected(ep);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		verbs_ep_counters(ep)->device_removals++;
		if (ep->device)
			verbs_device_removed(ep->device);
		verbs_ep_die(ep, FABRIC_CLOSE_LOST, "the device was removed");
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		/* The path that the connection was made on is gone; the peer will make another. */
		verbs_ep_counters(ep)->address_changes++;
		verbs_ep_die(ep, FABRIC_CLOSE_LOST, "the address moved to another device");
		break;
	default:
		break;
	}
}

void verbs_close(struct fabric_ep *fep)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	ep->closed_here = true;
	switch (ep->state) {
	case VERBS_OPEN:
		ep->state = VERBS_DRAINING;
		loop_timer_set(loop_of(ep), ep->timer, VERBS_CLOSE_DRAIN_US);
		verbs_queue_run(ep);
		verbs_ep_drained(ep);
		break;
	case VERBS_RESOLVING:
	case VERBS_CONNECTING:
	case VERBS_REQUESTED:
	case VERBS_ACCEPTED:
		verbs_ep_die(ep, FABRIC_CLOSE_LOCAL, "closed here");
		break;
	default:
		break;
	}
}

void verbs_ep_flushed(struct verbs_ep *ep)
{
	if (ep->state != VERBS_OPEN || ep->flushed)
		return;
	ep->flushed = true;
	loop_timer_set(loop_of(ep), ep->timer, VERBS_FLUSH_US);
}

void verbs_ep_drained(struct verbs_ep *ep)
{
	if (ep->state != VERBS_DRAINING || !TAILQ_EMPTY(&ep->sends) ||
	    !TAILQ_EMPTY(&ep->wait_sends))
		return;
	ep->state = VERBS_DISCONNECTING;
	if (rdma_disconnect(ep->id))
		verbs_ep_die(ep, FABRIC_CLOSE_LOCAL, "closed here");
}

void verbs_ep_die(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
{
	enum verbs_state was = ep->state;
	va_list args;

	if (was == VERBS_ABANDONED || was == VERBS_DYING || was == VERBS_CLOSED)
		return;
	ep->why = was == VERBS_DRAINING || was == VERBS_DISCONNECTING ? FABRIC_CLOSE_LOCAL : why;
	va_start(args, fmt);
	vsnprintf(ep->detail, sizeof(ep->detail), fmt, args);
	va_end(args);
	loop_timer_clear(loop_of(ep), ep->timer);
	if ((was == VERBS_CONNECTING || was == VERBS_ACCEPTED) && ep->device->iwarp) {
		/* The kernel's iWARP manager lets nobody disconnect or destroy what it is setting up. */
		ep->state = VERBS_ABANDONED;
		loop_timer_set(loop_of(ep), ep->timer, VERBS_ABANDON_US);
		return;
	}
	if (was == VERBS_REQUESTED)
		(void)rdma_reject(ep->id, NULL, 0);
	else if (was >= VERBS_ACCEPTED)
		(void)rdma_disconnect(ep->id);
	ep->state = VERBS_DYING;
	if (!ep->aside)
		loop_defer(loop_of(ep), &ep->step_task);
}

static int call_destroy_qp(struct verbs_ep *ep)
{
	verbs_qp_destroy(ep);
	return 0;
}

static int call_destroy_id(struct verbs_ep *ep)
{
	rdma_destroy_id(ep->id);
	return 0;
}

static void id_destroyed(struct verbs_ep *ep, int result)
{
	struct loop *loop = loop_of(ep);

	ep->id = NULL;
	loop_task_cancel(loop, &ep->post_task);
	loop_task_cancel(loop, &ep->poll_task);
	loop_timer_clear(loop, ep->timer);
	if (ep->adopted)
		verbs_incoming_free(ep->adopted);
	ep->adopted = NULL;
	ep->state = VERBS_CLOSED;
	ep->ep.events->closed(ep->ep.arg, ep->why, ep->detail);
}

static void qp_destroyed(struct verbs_ep *ep, int result)
{
	verbs_qp_close(ep);
	verbs_queue_flush(ep);
	verbs_keys_bury(ep);
	verbs_domain_fini(&ep->own);
	if (ep->device)
		verbs_device_put(ep->device);
	ep->device = NULL;
	if (ep->bury_aside)
		verbs_aside(ep, call_destroy_id, id_destroyed);
	else
		id_destroyed(ep, call_destroy_id(ep));
}

static void bury(struct verbs_ep *ep)
{
	if (ep->cq)
		verbs_poll_last(ep);
	verbs_keys_release(ep);
	if (ep->bury_aside)
		verbs_aside(ep, call_destroy_qp, qp_destroyed);
	else
		qp_destroyed(ep, call_destroy_qp(ep));
}

void verbs_ep_free(struct fabric_ep *fep)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	loop_task_cancel(loop_of(ep), &ep->step_task);
	loop_timer_free(loop_of(ep), ep->timer);
	free(ep);
}

void verbs_ep_info(const struct fabric_ep *fep, struct fabric_ep_info *info)
{
	const struct verbs_ep *ep = verbs_ep_of(fep);

	memset(info, 0, sizeof(*info));
	info->fabric = "verbs";
	info->local = ep->local;
	info->peer = ep->peer;
	info->ird = ep->ird;
	info->ord = ep->ord;
	info->max_sge = ep->max_sge;
	info->max_key_bytes = VERBS_MAX_KEY_BYTES;
	if (ep->device) {
		info->per_rpc_keys = ep->device->windows;
		if (ep->device->attr.max_mr_size < info->max_key_bytes)
			info->max_key_bytes = (uint32_t)ep->device->attr.max_mr_size;
	}
}
