// SPDX-License-Identifier: BSD-3-Clause
/* What becomes of a verbs endpoint: the connection manager's events, closing, and what is told of it. */
#include "fabric/verbs/ep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric/verbs/async.h"
#include "fabric/verbs/late.h"
#include "fabric/verbs/life.h"
#include "fabric/verbs/probe.h"
#include "fabric/verbs/queue.h"
#include "fabric/verbs/setup.h"

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

/* No address, no route or no answer. A connector has nothing under way then. */
static void on_error(struct verbs_ep *ep, const struct rdma_cm_event *event)
{
	const char *reason = event->status < 0 ? strerror(-event->status) : "no reason given";
	const char *what = rdma_event_str(event->event);
	enum fabric_close why = event->status == -ETIMEDOUT ? FABRIC_CLOSE_TIMEOUT
							    : verbs_setup_error(ep, event->status);

	ep->ep.close_errno = event->status < 0 ? -event->status : 0;
	if (ep->state == VERBS_CONNECTING)
		verbs_ep_unmade(ep, why, "%s: %s", what, reason);
	else
		verbs_ep_die(ep, why, "%s: %s", what, reason);
}

static void on_rejected(struct verbs_ep *ep, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	if (conn->private_data && ep->ep.events->rejected)
		ep->ep.events->rejected(ep->ep.arg, conn->private_data, conn->private_data_len);
	verbs_ep_unmade(ep, FABRIC_CLOSE_REFUSED, "rejected, status %d", event->status);
}

/* Of these two a set-up has not come to an end. */
static bool ends_setup(const struct rdma_cm_event *event)
{
	return event->event != RDMA_CM_EVENT_DEVICE_REMOVAL &&
	       event->event != RDMA_CM_EVENT_ADDR_CHANGE;
}

void verbs_ep_cm_event(struct verbs_ep *ep, const struct rdma_cm_event *event)
{
	/* An endpoint that is dying holds its device, too. */
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && ep->device)
		verbs_async_removed(ep->device);
	if (ep->state == VERBS_ABANDONED && ends_setup(event))
		verbs_ep_end_wait(ep);
	if (verbs_state_over(ep->state))
		return;
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		verbs_setup_addr(ep);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (!ep->aside)
			verbs_setup_route(ep);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		if (ep->state == VERBS_CONNECTING && !ep->aside)
			verbs_setup_response(ep, &event->param.conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		verbs_setup_connected(ep, &event->param.conn);
		break;
	case RDMA_CM_EVENT_REJECTED:
		on_rejected(ep, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		if (!verbs_setup_retry(ep, event))
			on_error(ep, event);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		on_error(ep, event);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		on_disconnected(ep);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		verbs_ep_lost_device(ep, "the device was removed");
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
	if (verbs_state_up(ep->state)) {
		verbs_ep_drain(ep);
		verbs_late_flush(ep);
		verbs_queue_run(ep);
		verbs_ep_drained(ep);
	} else if (!verbs_state_polls(ep->state)) {
		verbs_ep_die(ep, FABRIC_CLOSE_LOCAL, "closed here");
	}
}

/* The id, and with it the port, is gone once the endpoint is buried. */
void verbs_abort(struct fabric_ep *fep)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	ep->closed_here = true;
	verbs_ep_die(ep, FABRIC_CLOSE_LOCAL, "closed here");
}

/* What its device is, while that is known and in use. */
static const struct verbs_device *device_of(const struct verbs_ep *ep)
{
	return ep->device && ep->device->opened && ep->state < VERBS_BURYING ? ep->device : NULL;
}

void verbs_ep_info(const struct fabric_ep *fep, struct fabric_ep_info *info)
{
	const struct verbs_ep *ep = verbs_ep_of(fep);
	const struct verbs_device *device = device_of(ep);

	memset(info, 0, sizeof(*info));
	info->fabric = "verbs";
	info->local = ep->local;
	info->peer = ep->peer;
	info->ird = ep->ird;
	info->ord = ep->ord;
	info->max_sge = ep->max_sge;
	info->max_transfer_bytes = ep->max_transfer_bytes;
	info->max_key_bytes = VERBS_MAX_KEY_BYTES;
	info->watch = verbs_probe_tells(ep) ? FABRIC_WATCH_PROBE : FABRIC_WATCH_NONE;
	if (device) {
		info->sends_invalidate = device->sends_inv;
		info->per_rpc_keys = device->windows;
		if (device->attr.max_mr_size < info->max_key_bytes)
			info->max_key_bytes = (uint32_t)device->attr.max_mr_size;
	}
}

void verbs_ep_describe(const struct fabric_ep *fep, char text[FABRIC_TEXT_BYTES])
{
	const struct verbs_ep *ep = verbs_ep_of(fep);
	const struct verbs_device *device = device_of(ep);

	if (device)
		snprintf(text, FABRIC_TEXT_BYTES, "device %s%s, %s, Reads: %u from it, %u to it",
			 device->context->device->name, device->iwarp ? " (iWARP)" : "",
			 device->windows ? "memory windows" : "no memory windows", ep->ird,
			 ep->ord);
}
