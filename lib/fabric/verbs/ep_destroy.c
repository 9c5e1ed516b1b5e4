// SPDX-License-Identifier: BSD-3-Clause
/*
 * Destroys in this order: keys, queue pair, work requests, domain, device, id.
 *
 * done() and unbound() are called from here. The endpoint accepts no work then, but they may do
 * everything else: unbind any key, which finishes immediately now, and put buffers.
 */
#include "fabric/verbs/ep_destroy.h"

#include "fabric/verbs/async_event.h"
#include "fabric/verbs/cq.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/key.h"
#include "fabric/verbs/listener.h"
#include "fabric/verbs/pd.h"
#include "fabric/verbs/qp.h"
#include "fabric/verbs/recv_queue.h"
#include "fabric/verbs/send_queue.h"

static int call_cm_finish(struct verbs_ep *ep)
{
	verbs_ep_cm_finish(ep);
	verbs_qp_destroy(ep);
	return 0;
}

static int call_nothing(struct verbs_ep *ep)
{
	return 0;
}

static int call_close_device(struct verbs_ep *ep)
{
	if (ep->last)
		verbs_device_close(ep->device);
	return 0;
}

static int call_destroy_id(struct verbs_ep *ep)
{
	rdma_destroy_id(ep->id);
	return 0;
}

/* In this order, because the id keeps the device's context open. */
static int call_close_both(struct verbs_ep *ep)
{
	(void)call_close_device(ep);
	return call_destroy_id(ep);
}

static void device_drop(struct verbs_ep *ep)
{
	if (ep->last)
		verbs_device_free(ep->device);
	ep->last = false;
	ep->device = NULL;
}

static void id_destroyed(struct verbs_ep *ep, int result)
{
	struct loop *loop = ep->ep.fabric->loop;

	device_drop(ep);
	ep->id = NULL;
	loop_task_cancel(loop, &ep->post_task);
	loop_task_cancel(loop, &ep->early_task);
	loop_task_cancel(loop, &ep->ending_task);
	loop_timer_clear(loop, ep->timer);
	if (ep->adopted)
		verbs_incoming_free(ep->adopted);
	ep->adopted = NULL;
	verbs_ep_set(ep, VERBS_CLOSED);
	ep->ep.events->closed(ep->ep.arg, ep->why, ep->detail);
}

static void device_closed(struct verbs_ep *ep, int result)
{
	device_drop(ep);
	verbs_ep_offload(ep, call_destroy_id, id_destroyed);
}

static void qp_destroyed(struct verbs_ep *ep, int result)
{
	verbs_cq_leave(ep);
	verbs_sq_flush(ep);
	verbs_keys_destroy(ep);
	verbs_recvs_fini(ep);
	if (ep->domain)
		verbs_slab_wait_cancel(ep);
	verbs_pd_put(ep);
	if (!ep->device) {
		verbs_ep_offload(ep, call_destroy_id, id_destroyed);
		return;
	}
	ep->last = verbs_device_put(ep);
	if (ep->destroy_offloaded)
		verbs_ep_command(ep, call_close_device, device_closed);
	else
		verbs_ep_command(ep, call_close_both, id_destroyed);
}

/* After this command, all earlier commands of the device's thread for it have completed. */
static void qp_destroyed_offload(struct verbs_ep *ep, int result)
{
	if (ep->device)
		verbs_ep_command(ep, call_nothing, qp_destroyed);
	else
		qp_destroyed(ep, result);
}

void verbs_ep_notify_ending(void *arg)
{
	struct verbs_ep *ep = arg;

	if (ep->state < VERBS_DESTROYING && !verbs_poll_last(ep)) {
		loop_defer(ep->ep.fabric->loop, &ep->ending_task);
		return;
	}
	ep->is_ending = false;
	ep->cq_polled = 0; /* verbs_ep_destroy() polls again */
	/* The owner may have closed it meanwhile. */
	if (ep->ep.events->ending && !ep->closed_here)
		ep->ep.events->ending(ep->ep.arg, ep->why, ep->detail);
}

void verbs_ep_destroy(struct verbs_ep *ep)
{
	/* Only one of the two tasks polls per iteration. */
	if (ep->is_ending || !verbs_poll_last(ep)) {
		loop_defer(ep->ep.fabric->loop, &ep->step_task);
		return;
	}
	verbs_ep_set(ep, VERBS_DESTROYING);
	verbs_await_remove(ep);
	verbs_lazy_remove(ep);
	verbs_cq_detach(ep);
	verbs_keys_release(ep);
	verbs_async_detach(&ep->async, ep->qp ? &ep->qp->qp_context : NULL);
	if (ep->device && !ep->destroy_offloaded)
		verbs_ep_command(ep, call_cm_finish, qp_destroyed);
	else
		verbs_ep_offload(ep, call_cm_finish, qp_destroyed_offload);
}
