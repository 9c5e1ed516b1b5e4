// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/verbs/ep_connect.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "fabric/verbs/async_event.h"
#include "fabric/verbs/cq.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/ep_destroy.h"
#include "fabric/verbs/ep_keepalive.h"
#include "fabric/verbs/key.h"
#include "fabric/verbs/listener.h"
#include "fabric/verbs/pd.h"
#include "fabric/verbs/qp.h"
#include "fabric/verbs/recv_queue.h"
#include "fabric/verbs/send_queue.h"

#define MAX_KEY_BYTES (1u << 30)

static void post_receives(struct verbs_ep *ep);

static void setup_step(void *arg)
{
	struct verbs_ep *ep = arg;

	if (ep->state == VERBS_DESTROY_PENDING)
		verbs_ep_destroy(ep);
	else if ((ep->state == VERBS_OPENING || ep->state == VERBS_ACCEPTING) && !ep->offloaded)
		post_receives(ep);
}

static void set_setup_timer(struct verbs_ep *ep)
{
	uint64_t us = verbs_fabric_of(ep->ep.fabric)->config.setup_timeout_us;
	struct loop *loop = ep->ep.fabric->loop;

	ep->setup_until_us = us ? loop_now_us(loop) + us : 0;
	if (us)
		loop_timer_set(loop, ep->timer, us);
}

/* Returns the time limit of one resolve call, at most the rest of the set-up time. */
static int resolve_ms(const struct verbs_ep *ep)
{
	uint64_t now_us = loop_now_us(ep->ep.fabric->loop);
	uint64_t left_ms = VERBS_RESOLVE_MS;

	if (ep->setup_until_us)
		left_ms = ep->setup_until_us > now_us ? (ep->setup_until_us - now_us) / 1000 : 0;
	return left_ms ? (int)min_u32(left_ms, VERBS_RESOLVE_MS) : 1;
}

void verbs_ep_free(struct fabric_ep *fep)
{
	struct verbs_ep *ep = verbs_ep_of(fep);
	struct loop *loop = fep->fabric->loop;

	loop_task_cancel(loop, &ep->step_task);
	loop_timer_free(loop, ep->timer);
	verbs_keepalive_fini(ep);
	posted_recvs_fini(&ep->recvs_due);
	free(ep);
}

static struct verbs_ep *ep_new(struct fabric *fabric, const struct fabric_ep_events *events,
			       void *arg, enum verbs_ep_state state)
{
	struct verbs_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return NULL;
	ep->ep = (struct fabric_ep){
		.ops = fabric->ops, .fabric = fabric, .events = events, .arg = arg};
	ep->state = state;
	ep->async = (struct verbs_async_event){.fabric = verbs_fabric_of(fabric),
					       .deliver = verbs_async_ep_event};
	loop_task_init(&ep->step_task, setup_step, ep);
	loop_task_init(&ep->post_task, verbs_sq_task, ep);
	loop_task_init(&ep->early_task, verbs_poll_early, ep);
	loop_task_init(&ep->ending_task, verbs_ep_notify_ending, ep);
	ep->first_early = VERBS_NO_RECV;
	TAILQ_INIT(&ep->wait_sends);
	TAILQ_INIT(&ep->wait_reads);
	TAILQ_INIT(&ep->sends);
	TAILQ_INIT(&ep->reads);
	TAILQ_INIT(&ep->keys);
	posted_recvs_init(&ep->recvs_due);
	ep->timer = loop_timer_new(fabric->loop, verbs_ep_timer, ep);
	if (!ep->timer || verbs_keepalive_init(ep)) {
		verbs_ep_free(&ep->ep);
		return NULL;
	}
	return ep;
}

static int call_open_device(struct verbs_ep *ep)
{
	int err = verbs_device_open(ep->device);

	if (!err)
		verbs_port_learn(ep);
	return err;
}

/*
 * Opens the device, before any other use of it. It is known once an address is resolved or a
 * request has arrived.
 */
static int open_device(struct verbs_ep *ep, void (*back)(struct verbs_ep *ep, int result))
{
	int err = verbs_device_get(ep);

	if (!err)
		verbs_ep_command(ep, call_open_device, back);
	return err;
}

static int device_opened(struct verbs_ep *ep, int result)
{
	if (!result)
		result = verbs_device_opened(ep->device);
	if (!result)
		result = verbs_pd_get(ep);
	if (result)
		return result;
	ep->max_transfer_bytes = ep->port.max_msg_sz;
	verbs_windows_fill(ep->domain);
	return 0;
}

/* If a source is given, the first call binds it and can fail with errors of rdma_bind_addr(). */
static int resolve_addr(struct verbs_ep *ep)
{
	struct sockaddr_storage to = ep->peer, from = ep->params.source;

	return rdma_resolve_addr(ep->id, from.ss_family ? (struct sockaddr *)&from : NULL,
				 (struct sockaddr *)&to, resolve_ms(ep))
		       ? -errno
		       : 0;
}

static int resolve_route(struct verbs_ep *ep)
{
	return rdma_resolve_route(ep->id, resolve_ms(ep)) ? -errno : 0;
}

/* Without a set-up time limit nothing is retried. */
static bool resolve_retry(struct verbs_ep *ep, const struct rdma_cm_event *event)
{
	bool addr = event->event == RDMA_CM_EVENT_ADDR_ERROR;

	if (ep->state != VERBS_RESOLVING || event->status != -ETIMEDOUT)
		return false;
	if (loop_now_us(ep->ep.fabric->loop) >= ep->setup_until_us)
		return false;
	verbs_ep_counters(ep)->resolve_retries++;
	return !(addr ? resolve_addr(ep) : resolve_route(ep));
}

int verbs_connect(struct fabric *fabric, const struct sockaddr *addr,
		  const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		  void *arg, struct fabric_ep **out)
{
	struct verbs_ep *ep = ep_new(fabric, events, arg, VERBS_RESOLVING);
	int err;

	if (!ep)
		return -ENOMEM;
	ep->connector = true;
	ep->params = *params;
	verbs_copy_addr(&ep->peer, addr);
	err = verbs_recvs_first(ep);
	if (err)
		goto out_ep;
	if (rdma_create_id(verbs_fabric_of(fabric)->channel, &ep->id, ep, RDMA_PS_TCP)) {
		err = -errno;
		goto out_ep;
	}
	verbs_set_tos(&verbs_fabric_of(fabric)->config, ep->id);
	set_setup_timer(ep);
	err = resolve_addr(ep);
	if (err)
		goto out_id;
	*out = &ep->ep;
	return 0;

out_id:
	rdma_destroy_id(ep->id);
out_ep:
	verbs_ep_free(&ep->ep);
	return err ? err : -ENODEV;
}

static void no_resources_fail(struct verbs_ep *ep)
{
	verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES, "the device cannot take another connection");
}

static void adopted(struct verbs_ep *ep, int result)
{
	if (verbs_ep_thread_done(ep))
		return;
	if (device_opened(ep, result)) {
		no_resources_fail(ep);
		return;
	}
	verbs_ep_set(ep, VERBS_REQUESTED);
	ep->ep.events->requested(ep->ep.arg, ep->request, ep->request_bytes);
}

int verbs_adopt(struct fabric *fabric, struct fabric_incoming *fin,
		const struct fabric_ep_events *events, void *arg, struct fabric_ep **out)
{
	struct verbs_incoming *in = container_of(fin, struct verbs_incoming, in);
	struct verbs_ep *ep = ep_new(fabric, events, arg, VERBS_ADOPTED);

	if (!ep) {
		verbs_incoming_drop(fin, NULL, 0);
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
		verbs_ep_fail(ep, FABRIC_CLOSE_LOST, "the device is gone");
	} else {
		verbs_incoming_free(in);
		if (open_device(ep, adopted))
			no_resources_fail(ep);
	}
	*out = &ep->ep;
	return 0;
}

/* Fills in the parameters of connect or accept; device and peer limit ird and ord. */
static void conn_param_fill(struct verbs_ep *ep, struct rdma_conn_param *param)
{
	memset(param, 0, sizeof(*param));
	param->private_data = ep->params.private_data;
	param->private_data_len = (uint8_t)ep->params.private_data_bytes;
	param->responder_resources = (uint8_t)ep->ird;
	param->initiator_depth = (uint8_t)ep->ord;
	param->retry_count = 6;
	param->qp_num = ep->qp->qp_num;
	/* Retries of the peer's Sends; for our Sends see qp.c. */
	param->rnr_retry_count =
		(uint8_t)min_u32(verbs_fabric_of(ep->ep.fabric)->config.rnr_retry, 7);
}

static int call_connect(struct verbs_ep *ep)
{
	return rdma_connect(ep->id, &ep->conn_param) ? -errno : 0;
}

/* Over iWARP the connect finds that a port is in use: siw binds its TCP socket there. */
static enum fabric_close setup_error(const struct verbs_ep *ep, int error)
{
	const struct sockaddr_in *source = (const struct sockaddr_in *)&ep->params.source;

	if ((error == -EADDRINUSE || error == -EADDRNOTAVAIL) && source->sin_port)
		return FABRIC_CLOSE_PORT;
	return error == -ECONNREFUSED ? FABRIC_CLOSE_REFUSED : FABRIC_CLOSE_LOST;
}

static int call_establish(struct verbs_ep *ep)
{
	int err = verbs_qp_ready(ep);

	if (!err && rdma_establish(ep->id))
		err = -errno;
	return err;
}

static void connected(struct verbs_ep *ep, const struct rdma_conn_param *conn)
{
	/* The acceptor's values, swapped to our side by librdmacm; they only lower ours. */
	ep->ord = min_u32(ep->ord, conn->initiator_depth);
	ep->ird = min_u32(ep->ird, conn->responder_resources ? conn->responder_resources : ep->ird);
	verbs_ep_established(ep, conn->private_data, conn->private_data_len);
}

static void establish_called(struct verbs_ep *ep, int result)
{
	if (verbs_ep_thread_done(ep))
		return;
	if (result)
		verbs_ep_fail(ep, FABRIC_CLOSE_LOST, "rdma_establish: %s", strerror(-result));
	else
		connected(ep, &ep->answer);
}

/* The connect call has returned; events may have arrived before. */
static void connect_called(struct verbs_ep *ep, int result)
{
	if (verbs_ep_thread_done(ep))
		return;
	if (!result && ep->answered)
		verbs_ep_command(ep, call_establish, establish_called);
	else if (!result)
		verbs_ep_drained(ep);
	else if (ep->state == VERBS_CM_ABORT)
		verbs_ep_cm_done(ep);
	else
		verbs_ep_cm_gone(ep, setup_error(ep, result), "rdma_connect: %s",
				 strerror(-result));
}

/* Linux servers reject a client that accepts no Reads, so it always offers at least one. */
static void start_connect(struct verbs_ep *ep)
{
	const struct ibv_device_attr *attr = &ep->device->attr;
	unsigned max_ird = min_u32((unsigned)attr->max_qp_rd_atom, UINT8_MAX);

	ep->ird = min_u32(ep->params.ird ? ep->params.ird : 1, max_ird);
	ep->ord = min_u32(ep->params.ord, min_u32((unsigned)attr->max_qp_init_rd_atom, UINT8_MAX));
	conn_param_fill(ep, &ep->conn_param);
	verbs_ep_set(ep, VERBS_CONNECTING);
	/*
	 * On RoCE, irdma and bnxt_re (Linux 6.1) wait in rdma_connect() for their adapter to create
	 * an address handle.
	 */
	if (ep->device->iwarp)
		verbs_ep_offload(ep, call_connect, connect_called);
	else
		verbs_ep_command(ep, call_connect, connect_called);
}

static int call_accept(struct verbs_ep *ep)
{
	int err = verbs_qp_ready(ep);

	if (!err && rdma_accept(ep->id, &ep->conn_param))
		err = -errno;
	return err;
}

/*
 * The peer may consider the connection established: it must not be rejected, and over iWARP its
 * set-up must end first.
 */
static void accepted_end_set(struct verbs_ep *ep)
{
	ep->cm_end = ep->device->iwarp ? VERBS_CM_END_SILENT : VERBS_CM_END_DISCONNECT;
	ep->destroy_offloaded = ep->device->iwarp;
}

static void accept_called(struct verbs_ep *ep, int result)
{
	if (ep->state == VERBS_THREAD_WAIT && !result)
		accepted_end_set(ep);
	if (verbs_ep_thread_done(ep))
		return;
	if (result) {
		/* Over iWARP: the client has reset the connection meanwhile. */
		ep->ep.close_errno = -result;
		verbs_ep_fail(ep, FABRIC_CLOSE_LOST, "rdma_accept: %s", strerror(-result));
		return;
	}
	verbs_ep_set(ep, VERBS_ACCEPTED);
	set_setup_timer(ep);
	/* An acceptor can receive its peer's first Send before the ESTABLISHED event. */
	if (ep->recv_seen || ep->first_early != VERBS_NO_RECV)
		verbs_ep_received(ep);
	if (ep->confirmed || ep->first_early != VERBS_NO_RECV)
		verbs_ep_established(ep, NULL, 0);
}

/* Posts the initial receives before connecting: the peer can send as soon as it is connected. */
static void post_receives(struct verbs_ep *ep)
{
	int err = verbs_recvs_fill(ep);

	if (err == -EINPROGRESS)
		return;
	if (err)
		verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES, "no queue pair: %s", strerror(-err));
	else if (ep->connector)
		start_connect(ep);
	else
		verbs_ep_command(ep, call_accept, accept_called);
}

static void queues_created(struct verbs_ep *ep, int result)
{
	int err = verbs_qp_created(ep);

	if (verbs_ep_thread_done(ep))
		return;
	if (err == -EAGAIN) {
		verbs_ep_command(ep, verbs_qp_create, queues_created);
		return;
	}
	if (err)
		result = err;
	if (result) {
		verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES, "no queue pair: %s", strerror(-result));
		return;
	}
	if (!ep->connector)
		conn_param_fill(ep, &ep->conn_param);
	post_receives(ep);
}

/* Creates the queues; post_receives() follows. */
static void open_queues(struct verbs_ep *ep, enum verbs_ep_state state)
{
	int err = verbs_qp_plan(ep);

	if (err) {
		verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES, "no queue pair: %s", strerror(-err));
		return;
	}
	verbs_ep_set(ep, state);
	verbs_ep_command(ep, verbs_qp_create, queues_created);
}

static void on_route(struct verbs_ep *ep)
{
	/* The device is known, and the request has not been sent yet. */
	if (ep->ep.events->resolved)
		ep->ep.events->resolved(ep->ep.arg, &ep->params);
	if (ep->state == VERBS_RESOLVING)
		open_queues(ep, VERBS_OPENING);
}

static void addr_resolved(struct verbs_ep *ep, int result)
{
	int err;

	if (verbs_ep_thread_done(ep))
		return;
	err = device_opened(ep, result);
	if (err) {
		verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES, "device not usable: %s", strerror(-err));
		return;
	}
	err = resolve_route(ep);
	if (err)
		verbs_ep_fail(ep, FABRIC_CLOSE_LOST, "rdma_resolve_route: %s", strerror(-err));
}

static void on_addr(struct verbs_ep *ep)
{
	int err = open_device(ep, addr_resolved);

	if (err)
		verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES, "device not usable: %s", strerror(-err));
}

int verbs_accept(struct fabric_ep *fep, const struct fabric_ep_params *params)
{
	struct verbs_ep *ep = verbs_ep_of(fep);
	const struct ibv_device_attr *attr;

	if (ep->state != VERBS_REQUESTED)
		return -ENOTCONN;
	ep->params = *params;
	attr = &ep->device->attr;
	ep->ird = min_u32(min_u32(ep->ird, params->ird), (unsigned)attr->max_qp_rd_atom);
	ep->ord = min_u32(min_u32(ep->ord, params->ord), (unsigned)attr->max_qp_init_rd_atom);
	if (verbs_recvs_first(ep))
		verbs_ep_fail(ep, FABRIC_CLOSE_RESOURCES, "no memory for a receive");
	else
		open_queues(ep, VERBS_ACCEPTING);
	return 0;
}

void verbs_reject(struct fabric_ep *fep, const void *private_data, size_t len_bytes)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	if (ep->state != VERBS_REQUESTED)
		return;
	if (len_bytes)
		memcpy(ep->rejection, private_data, len_bytes);
	ep->rejection_bytes = len_bytes;
	verbs_ep_fail(ep, FABRIC_CLOSE_LOCAL, "rejected");
}

/*
 * The peer has accepted. The event owns the private data, so it is copied to where an acceptor
 * keeps the request. (Over iWARP ESTABLISHED comes instead.)
 */
static void on_response(struct verbs_ep *ep, const struct rdma_conn_param *conn)
{
	ep->answered = true;
	ep->answer = *conn;
	if (conn->private_data_len)
		memcpy(ep->request, conn->private_data, conn->private_data_len);
	ep->answer.private_data = ep->request;
	if (!ep->offloaded)
		verbs_ep_command(ep, call_establish, establish_called);
}

static void on_established(struct verbs_ep *ep, const struct rdma_conn_param *conn)
{
	if (ep->state == VERBS_CONNECTING)
		connected(ep, conn);
	else if (ep->state == VERBS_ACCEPTING)
		ep->confirmed = true;
	else
		verbs_ep_established(ep, NULL, 0);
}

/* ---- events of the connection manager ---- */

static void on_disconnected(struct verbs_ep *ep)
{
	switch (ep->state) {
	case VERBS_DRAINING:
	case VERBS_DISCONNECTING:
		verbs_ep_fail(ep, FABRIC_CLOSE_LOCAL, "closed here");
		break;
	default:
		verbs_ep_fail(ep, FABRIC_CLOSE_PEER, "the peer disconnected");
	}
}

/* An address, a route or an answer failed. A connector has no set-up pending then. */
static void on_error(struct verbs_ep *ep, const struct rdma_cm_event *event)
{
	const char *reason = event->status < 0 ? strerror(-event->status) : "no reason given";
	const char *what = rdma_event_str(event->event);
	enum fabric_close why =
		event->status == -ETIMEDOUT ? FABRIC_CLOSE_TIMEOUT : setup_error(ep, event->status);

	ep->ep.close_errno = event->status < 0 ? -event->status : 0;
	if (ep->state == VERBS_CONNECTING)
		verbs_ep_cm_gone(ep, why, "%s: %s", what, reason);
	else
		verbs_ep_fail(ep, why, "%s: %s", what, reason);
}

static void on_rejected(struct verbs_ep *ep, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	if (conn->private_data && ep->ep.events->rejected)
		ep->ep.events->rejected(ep->ep.arg, conn->private_data, conn->private_data_len);
	verbs_ep_cm_gone(ep, FABRIC_CLOSE_REFUSED, "rejected, status %d", event->status);
}

/* Returns true if @event ends a set-up. */
static bool ends_setup(const struct rdma_cm_event *event)
{
	return event->event != RDMA_CM_EVENT_DEVICE_REMOVAL &&
	       event->event != RDMA_CM_EVENT_ADDR_CHANGE;
}

void verbs_ep_cm_event(struct verbs_ep *ep, const struct rdma_cm_event *event)
{
	/* A failing endpoint also uses its device. */
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && ep->device)
		verbs_async_removed(ep->device);
	if (ep->state == VERBS_CM_ABORT && ends_setup(event))
		verbs_ep_cm_done(ep);
	if (verbs_state_over(ep->state))
		return;
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		on_addr(ep);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (!ep->offloaded)
			on_route(ep);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		if (ep->state == VERBS_CONNECTING && !ep->answered)
			on_response(ep, &event->param.conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		on_established(ep, &event->param.conn);
		break;
	case RDMA_CM_EVENT_REJECTED:
		on_rejected(ep, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		if (!resolve_retry(ep, event))
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
		verbs_ep_device_lost(ep, "the device was removed");
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		/* The path of the connection is gone; the peer will reconnect. */
		verbs_ep_counters(ep)->address_changes++;
		verbs_ep_fail(ep, FABRIC_CLOSE_LOST, "the address moved to another device");
		break;
	default:
		break;
	}
}

/* ---- closing ---- */

void verbs_close(struct fabric_ep *fep)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	ep->closed_here = true;
	if (verbs_state_up(ep->state)) {
		verbs_ep_drain(ep);
		verbs_lazy_flush(ep);
		verbs_sq_run(ep);
		verbs_ep_drained(ep);
	} else if (!verbs_state_polls(ep->state)) {
		verbs_ep_fail(ep, FABRIC_CLOSE_LOCAL, "closed here");
	}
}

/* The id, and with it the port, is freed when the endpoint is destroyed. */
void verbs_abort(struct fabric_ep *fep)
{
	struct verbs_ep *ep = verbs_ep_of(fep);

	ep->closed_here = true;
	verbs_ep_fail(ep, FABRIC_CLOSE_LOCAL, "closed here");
}

/* Returns the device while it is open and in use, else NULL. */
static const struct verbs_device *device_of(const struct verbs_ep *ep)
{
	return ep->device && ep->device->opened && ep->state < VERBS_DESTROYING ? ep->device : NULL;
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
	info->max_key_bytes = MAX_KEY_BYTES;
	info->watch = verbs_keepalive_works(ep) ? FABRIC_KEEPALIVE_PROBE : FABRIC_KEEPALIVE_NONE;
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
