// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/verbs/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/verbs/async_event.h"
#include "fabric/verbs/ep_connect.h"
#include "fabric/verbs/ep_keepalive.h"
#include "fabric/verbs/key.h"
#include "fabric/verbs/listener.h"
#include "fabric/verbs/pd.h"
#include "fabric/verbs/recv_queue.h"
#include "fabric/verbs/send_queue.h"

COUNTER_TABLE(verbs_counters, VERBS_COUNTERS);

#define CM_EVENTS 256u /* in one call, when checking for a disconnect */

/* Returns false if there is no event. */
static bool next_event(struct verbs_fabric *fabric)
{
	struct rdma_cm_event *event, copy;
	uint8_t private_data[FABRIC_MAX_PRIVATE_DATA];
	struct verbs_ep *ep;

	if (rdma_get_cm_event(fabric->channel, &event))
		return false;
	/* Acknowledged before it is handled: rdma_destroy_id() waits for acknowledgements. */
	copy = *event;
	copy.param.conn.private_data_len =
		(uint8_t)verbs_copy_private_data(private_data, &event->param.conn);
	copy.param.conn.private_data = private_data;
	ep = event->id->context;
	rdma_ack_cm_event(event);
	if (ep)
		verbs_ep_cm_event(ep, &copy);
	return true;
}

/* One event per iteration: each can start much work. */
static void cm_ready(void *arg)
{
	(void)next_event(arg);
}

/* Endpoints are freed in later tasks, so a second event still finds a valid endpoint. */
static void cm_read_all(void *arg)
{
	struct verbs_fabric *fabric = arg;

	for (unsigned i = 0; i < CM_EVENTS && next_event(fabric); i++)
		;
}

void verbs_process_init(void)
{
	(void)setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 0);
}

/* Returns true if more windows are to be freed. */
static bool age_windows(struct verbs_fabric *fabric, uint64_t now_us)
{
	bool period_over = now_us - fabric->windows_period_us >= BUF_POOL_PERIOD_US, more = false;
	struct verbs_device *device;

	if (period_over)
		fabric->windows_period_us = now_us;
	LIST_FOREACH(device, &fabric->devices, entry)
		more |= verbs_pds_age(device, period_over);
	return more;
}

static void age(void *arg)
{
	struct verbs_fabric *fabric = arg;
	struct loop *loop = fabric->fabric.loop;
	bool more = buf_pool_age(fabric->fabric.pool, loop_now_us(loop));

	more |= age_windows(fabric, loop_now_us(loop));
	loop_timer_set(loop, fabric->age_timer, more ? BUF_POOL_PAUSE_US : BUF_POOL_PERIOD_US);
}

static void close_channel(struct verbs_fabric *fabric)
{
	loop_task_cancel(fabric->fabric.loop, &fabric->channel_task);
	verbs_fd_watch_fini(&fabric->channel_watch);
	rdma_destroy_event_channel(fabric->channel);
}

/* Returns false if the channel cannot be opened. */
static bool open_channel(struct verbs_fabric *fabric)
{
	loop_task_init(&fabric->channel_task, cm_read_all, fabric);
	fabric->channel = rdma_create_event_channel();
	if (!fabric->channel)
		return false;
	if (!fcntl(fabric->channel->fd, F_SETFL, O_NONBLOCK) &&
	    !verbs_fd_watch_init(&fabric->channel_watch, fabric->fabric.loop, fabric->channel->fd,
				 cm_ready, fabric))
		return true;
	rdma_destroy_event_channel(fabric->channel);
	return false;
}

struct fabric *verbs_fabric_new(struct loop *loop, struct buf_pool *pool,
				const struct verbs_config *config)
{
	struct verbs_fabric *fabric = calloc(1, sizeof(*fabric));

	if (!fabric)
		return NULL;
	fabric->fabric = (struct fabric){
		.ops = &verbs_fabric_ops,
		.loop = loop,
		.pool = pool,
		.counters = &fabric->counters,
	};
	fabric->config = *config;
	LIST_INIT(&fabric->devices);
	if (!open_channel(fabric))
		goto out_free;
	if (verbs_done_queue_init(&fabric->back, loop))
		goto out_channel;
	pthread_mutex_init(&fabric->offload_lock, NULL);
	if (verbs_async_init(fabric))
		goto out_aside;
	if (verbs_await_init(fabric))
		goto out_async;
	if (verbs_lazy_init(fabric))
		goto out_await;
	fabric->age_timer = loop_timer_new(loop, age, fabric);
	if (!fabric->age_timer)
		goto out_lazy;
	buf_pool_keep_peak(pool, true);
	age(fabric);
	verbs_fd_watch_set(&fabric->channel_watch, true);
	return &fabric->fabric;

out_lazy:
	verbs_lazy_fini(fabric);
out_await:
	verbs_await_fini(fabric);
out_async:
	verbs_async_fini(fabric);
out_aside:
	verbs_offload_fini(fabric);
	verbs_done_queue_fini(&fabric->back);
out_channel:
	close_channel(fabric);
out_free:
	free(fabric);
	return NULL;
}

static void verbs_free(struct fabric *f)
{
	struct verbs_fabric *fabric = verbs_fabric_of(f);

	assert(LIST_EMPTY(&fabric->devices) && !fabric->back.out);
	verbs_offload_fini(fabric);
	verbs_done_queue_fini(&fabric->back);
	verbs_await_fini(fabric);
	verbs_async_fini(fabric);
	verbs_lazy_fini(fabric);
	loop_timer_free(f->loop, fabric->age_timer);
	buf_pool_keep_peak(f->pool, false);
	close_channel(fabric);
	free(fabric);
}

const struct fabric_ops verbs_fabric_ops = {
	.name = "verbs",
	.counters_table = verbs_counters_table,
	.listen = verbs_listen,
	.listener_pause = verbs_listener_pause,
	.listener_addr = verbs_listener_addr,
	.listener_free = verbs_listener_free,
	.accepted_conn_drop = verbs_incoming_drop,
	.free = verbs_free,
	.connect = verbs_connect,
	.adopt = verbs_adopt,
	.accept = verbs_accept,
	.reject = verbs_reject,
	.ep_info = verbs_ep_info,
	.ep_describe = verbs_ep_describe,
	.recv_post = verbs_recv_post,
	.recv_resize = verbs_recv_resize,
	.post = verbs_post,
	.key_bind = verbs_key_bind,
	.key_unbind = verbs_key_unbind,
	.key_await = verbs_key_await,
	.keepalive = verbs_keepalive,
	.close = verbs_close,
	.abort = verbs_abort,
	.check_disconnect = verbs_check_disconnect,
	.ep_free = verbs_ep_free,
};
