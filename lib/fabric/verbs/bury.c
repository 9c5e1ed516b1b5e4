// SPDX-License-Identifier: BSD-3-Clause
/*
 * The end of a verbs endpoint: keys, queue pair, work requests, domain, device, id, in this order.
 *
 * done() and unbound() are called from here. They find an endpoint that takes nothing more, and may do what
 * they always may: unbind any key, which is answered at once now, and put buffers.
 */
#include "fabric/verbs/bury.h"

#include "fabric/verbs/aside.h"
#include "fabric/verbs/async.h"
#include "fabric/verbs/await.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/domain.h"
#include "fabric/verbs/key.h"
#include "fabric/verbs/life.h"
#include "fabric/verbs/listen.h"
#include "fabric/verbs/poll.h"
#include "fabric/verbs/qp.h"
#include "fabric/verbs/queue.h"

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
	struct loop *loop = ep->ep.fabric->loop;

	ep->id = NULL;
	loop_task_cancel(loop, &ep->post_task);
	loop_task_cancel(loop, &ep->poll_task);
	loop_timer_clear(loop, ep->timer);
	if (ep->adopted)
		verbs_incoming_free(ep->adopted);
	ep->adopted = NULL;
	verbs_ep_set(ep, VERBS_CLOSED);
	ep->ep.events->closed(ep->ep.arg, ep->why, ep->detail);
}

static void qp_destroyed(struct verbs_ep *ep, int result)
{
	verbs_qp_close(ep);
	verbs_queue_flush(ep);
	verbs_keys_bury(ep);
	verbs_domain_put(ep);
	if (ep->device)
		verbs_device_put(ep->device);
	ep->device = NULL;
	if (ep->bury_aside)
		verbs_aside(ep, call_destroy_id, id_destroyed);
	else
		id_destroyed(ep, call_destroy_id(ep));
}

void verbs_ep_bury(struct verbs_ep *ep)
{
	verbs_ep_set(ep, VERBS_BURYING);
	verbs_await_forget(ep);
	if (ep->cq)
		verbs_poll_last(ep);
	verbs_keys_release(ep);
	verbs_async_forget(ep);
	if (ep->bury_aside)
		verbs_aside(ep, call_destroy_qp, qp_destroyed);
	else
		qp_destroyed(ep, call_destroy_qp(ep));
}
