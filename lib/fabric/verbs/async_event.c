// SPDX-License-Identifier: BSD-3-Clause
/*
 * A device has one queue of asynchronous events per process. One of the workers that use the device
 * reads it: the first; when it releases the device, another one takes over. An event of a
 * connection is recorded in its struct verbs_async_event, and its own worker handles it.
 *
 * An event names a queue pair or a completion queue, which exists until its events are
 * acknowledged: destroying it waits for that. Its context is the struct verbs_async_event of its
 * owner, from its creation until verbs_async_detach(). A queue pair's number would not do: the
 * kernel can reuse the number while an event still names the old queue pair.
 *
 * Destroying a queue does not wait for events of a removed device (RDMAV_ALLOW_DISASSOC_DESTROY,
 * verbs_process_init()). So no event of a device is read and handled while any thread destroys a
 * queue of it (event_lock.h). The reader does not wait for that, which can take long: it stops
 * watching, and the thread that destroyed the queue wakes it.
 *
 * A failed device (IBV_EVENT_DEVICE_FATAL) completes no more work, so all workers end their
 * connections on it. The kernel also reports this event when it removes a device, before or after
 * the connection manager, which does not report connections that are not accepted yet.
 */
#include "fabric/verbs/async_event.h"

#include <stdatomic.h>
#include <stdio.h>

#include "fabric/verbs/event_lock.h"
#include "fabric/verbs/pd.h"

#define EVENTS_PER_ITERATION 16u

#define ASYNC_QP_FAILED      0x1u
#define ASYNC_COMM_EST       0x2u
#define ASYNC_CQ_FAILED      0x4u

/*
 * The devices of all workers. The lock also guards `reads` and the contexts of queues; it is taken
 * before the lock of a fabric's async_notifier.
 */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, verbs_device) devices = LIST_HEAD_INITIALIZER(devices);

static void loop_wake(struct verbs_fabric *fabric)
{
	struct verbs_notifier *box = &fabric->async_notifier;

	pthread_mutex_lock(&box->lock);
	verbs_notifier_wake(box);
	pthread_mutex_unlock(&box->lock);
}

/* Makes the reader's loop check again: see reader_take_over(). */
static void reader_wake(const struct ibv_context *context)
{
	struct verbs_device *device;

	pthread_mutex_lock(&devices_lock);
	LIST_FOREACH(device, &devices, async_entry)
		if (device->reads && device->context == context)
			loop_wake(device->fabric);
	pthread_mutex_unlock(&devices_lock);
}

void verbs_async_block(struct verbs_device *device)
{
	verbs_event_lock_block(device->event_lock);
}

void verbs_async_unblock(struct verbs_device *device)
{
	if (verbs_event_lock_release(device->event_lock))
		reader_wake(device->context);
}

/* ---- the reader's side ---- */

/* Reads @context, the context of a queue, under the lock. */
static void deliver(void *const *context, unsigned what)
{
	struct verbs_async_event *async;

	pthread_mutex_lock(&devices_lock);
	async = *context;
	if (async) {
		struct verbs_notifier *box = &async->fabric->async_notifier;

		pthread_mutex_lock(&box->lock);
		if (!async->what)
			TAILQ_INSERT_TAIL(&async->fabric->async, async, entry);
		async->what |= what;
		verbs_notifier_wake(box);
		pthread_mutex_unlock(&box->lock);
	}
	pthread_mutex_unlock(&devices_lock);
}

static void device_failed_post(const struct verbs_device *device)
{
	struct verbs_device *other;

	pthread_mutex_lock(&devices_lock);
	LIST_FOREACH(other, &devices, async_entry)
		if (other->context == device->context) {
			other->failed = true;
			loop_wake(other->fabric);
		}
	pthread_mutex_unlock(&devices_lock);
}

static void notice(const struct verbs_device *device, enum ibv_event_type event)
{
	const struct verbs_config *config = &device->fabric->config;
	char text[VERBS_NOTICE_BYTES];

	if (!config->notice)
		return;
	snprintf(text, sizeof(text), "device %s: %s", ibv_get_device_name(device->context->device),
		 ibv_event_type_str(event));
	config->notice(text);
}

static void event_act(struct verbs_device *device, const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		deliver(&event->element.qp->qp_context, ASYNC_QP_FAILED);
		break;
	case IBV_EVENT_COMM_EST:
		deliver(&event->element.qp->qp_context, ASYNC_COMM_EST);
		break;
	case IBV_EVENT_CQ_ERR:
		deliver(&event->element.cq->cq_context, ASYNC_CQ_FAILED);
		break;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_PORT_ACTIVE:
		notice(device, event->event_type);
		if (event->event_type == IBV_EVENT_DEVICE_FATAL)
			device_failed_post(device);
		break;
	default:
		break;
	}
}

static bool event_next(struct verbs_device *device)
{
	struct ibv_async_event event;
	bool got;

	/* The destroying thread wakes this loop. */
	if (!verbs_event_lock_try_read(device->event_lock)) {
		verbs_fd_watch_set(&device->async_watch, false);
		return false;
	}
	got = !ibv_get_async_event(device->context, &event);
	if (got) {
		device->fabric->counters.async_events++;
		event_act(device, &event);
		ibv_ack_async_event(&event);
	}
	verbs_async_unblock(device);
	return got;
}

static void async_ready(void *arg)
{
	struct verbs_device *device = arg;

	for (unsigned i = 0; i < EVENTS_PER_ITERATION && event_next(device); i++)
		;
}

static bool is_other_user(const struct verbs_device *other, const struct verbs_device *device)
{
	return other != device && other->context == device->context;
}

static struct verbs_device *other_user(const struct verbs_device *device)
{
	struct verbs_device *other;

	LIST_FOREACH(other, &devices, async_entry)
		if (is_other_user(other, device))
			return other;
	return NULL;
}

int verbs_async_join(struct verbs_device *device)
{
	int err = verbs_fd_watch_init(&device->async_watch, device->fabric->fabric.loop,
				      device->context->async_fd, async_ready, device);

	if (err)
		return err;
	pthread_mutex_lock(&devices_lock);
	/* Only one of the users reads. */
	device->reads = !other_user(device);
	LIST_INSERT_HEAD(&devices, device, async_entry);
	verbs_fd_watch_set(&device->async_watch, device->reads);
	pthread_mutex_unlock(&devices_lock);
	return 0;
}

static void reader_hand_over(struct verbs_device *device)
{
	struct verbs_device *successor = other_user(device);

	device->reads = false;
	if (!successor)
		return;
	successor->reads = true;
	loop_wake(successor->fabric);
}

void verbs_async_leave(struct verbs_device *device)
{
	if (!device->async_watch.loop)
		return;
	verbs_fd_watch_fini(&device->async_watch);
	pthread_mutex_lock(&devices_lock);
	LIST_REMOVE(device, async_entry);
	if (device->reads)
		reader_hand_over(device);
	pthread_mutex_unlock(&devices_lock);
}

/* ---- windows ---- */

void verbs_async_request_window(struct verbs_device *device)
{
	struct verbs_device *other;

	pthread_mutex_lock(&devices_lock);
	device->window_wanted = true;
	LIST_FOREACH(other, &devices, async_entry)
		if (is_other_user(other, device) && !other->window_requested) {
			other->window_requested = true;
			loop_wake(other->fabric);
		}
	pthread_mutex_unlock(&devices_lock);
}

void verbs_async_window_freed(struct verbs_device *device)
{
	struct verbs_device *other;

	pthread_mutex_lock(&devices_lock);
	LIST_FOREACH(other, &devices, async_entry)
		if (is_other_user(other, device) && other->window_wanted) {
			other->window_wanted = false;
			other->window_arrived = true;
			loop_wake(other->fabric);
		}
	pthread_mutex_unlock(&devices_lock);
}

void verbs_async_yield(struct verbs_device *device)
{
	device->yield_until_us = loop_now_us(device->fabric->fabric.loop) + VERBS_KEY_RETRY_US;
}

/* Returns the value of @flag, and sets it to false. */
static bool flag_test_clear(bool *flag)
{
	bool was;

	pthread_mutex_lock(&devices_lock);
	was = *flag;
	*flag = false;
	pthread_mutex_unlock(&devices_lock);
	return was;
}

static void windows_yield(struct verbs_device *device);

static void yield_run(struct verbs_command *command)
{
	(void)command;
}

static void yield_done(struct verbs_command *command)
{
	struct verbs_device *device = container_of(command, struct verbs_device, yield_command);
	bool again = device->yield_again;

	device->yielding = device->yield_again = false;
	verbs_async_window_freed(device);
	/* Not if the device is being closed: all windows are freed before that. */
	if (again && !LIST_EMPTY(&device->eps))
		windows_yield(device);
}

/* Notifies the other workers after the commands that free the windows have been executed. */
static void windows_yield(struct verbs_device *device)
{
	device->yield_again = device->yielding;
	if (device->yielding)
		return;
	device->yielding = true;
	verbs_command_post(&device->commands, &device->yield_command, yield_run, yield_done);
}

static void windows_exchange(struct verbs_fabric *fabric)
{
	struct verbs_device *device;

	LIST_FOREACH(device, &fabric->devices, entry) {
		if (flag_test_clear(&device->window_requested)) {
			device->window_owed = !verbs_pds_free_windows(device);
			if (!device->window_owed) {
				verbs_async_yield(device);
				windows_yield(device);
			}
		}
		if (flag_test_clear(&device->window_arrived))
			loop_defer(fabric->fabric.loop, &fabric->await.task);
	}
}

/* ---- the owner's side ---- */

/*
 * Puts a queue pair into the error state that failed without a connection manager event (siw, when
 * the peer reads without the right), so that its receives are flushed. Other devices do so
 * themselves.
 */
static int call_fail_qp(struct verbs_ep *ep)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	(void)ibv_modify_qp(ep->qp, &attr, IBV_QP_STATE);
	return 0;
}

static void qp_has_failed(struct verbs_ep *ep, int result)
{
	if (!verbs_ep_thread_done(ep))
		verbs_ep_drained(ep);
}

static void qp_failed(struct verbs_ep *ep)
{
	if (ep->device->iwarp && ep->qp && !ep->offloaded && !verbs_state_over(ep->state))
		verbs_ep_command(ep, call_fail_qp, qp_has_failed);
}

/*
 * With some drivers the descriptors of a removed device are readable for ever. A device whose last
 * endpoint is being destroyed is not watched any more.
 */
void verbs_async_removed(struct verbs_device *device)
{
	bool watched = !device->removed && device->channel_watch.loop;

	device->removed = true;
	if (!watched)
		return;
	verbs_fd_watch_set(&device->channel_watch, false);
	verbs_async_leave(device);
}

static void devices_end_failed(struct verbs_fabric *fabric)
{
	struct verbs_device *device;
	struct verbs_ep *ep;

	LIST_FOREACH(device, &fabric->devices, entry)
		if (flag_test_clear(&device->failed)) {
			verbs_async_removed(device);
			LIST_FOREACH(ep, &device->eps, device_entry)
				verbs_ep_device_lost(ep, "the device failed");
		}
}

static void reader_take_over(struct verbs_fabric *fabric)
{
	struct verbs_device *device;

	pthread_mutex_lock(&devices_lock);
	LIST_FOREACH(device, &fabric->devices, entry)
		if (device->reads)
			verbs_fd_watch_set(&device->async_watch, true);
	pthread_mutex_unlock(&devices_lock);
}

void verbs_async_ep_event(struct verbs_async_event *async, unsigned what)
{
	struct verbs_ep *ep = container_of(async, struct verbs_ep, async);

	if (what & ASYNC_QP_FAILED)
		qp_failed(ep);
	if (what & ASYNC_COMM_EST)
		verbs_ep_received(ep);
}

/* Returns NULL if there are none. */
static struct verbs_async_event *async_event_next(struct verbs_fabric *fabric, unsigned *what)
{
	struct verbs_async_event *async;

	pthread_mutex_lock(&fabric->async_notifier.lock);
	async = TAILQ_FIRST(&fabric->async);
	if (async) {
		TAILQ_REMOVE(&fabric->async, async, entry);
		*what = async->what;
		async->what = 0;
	}
	pthread_mutex_unlock(&fabric->async_notifier.lock);
	return async;
}

static void async_events_ready(void *arg)
{
	struct verbs_fabric *fabric = arg;
	struct verbs_async_event *async;
	unsigned what;

	verbs_notifier_clear(&fabric->async_notifier);
	devices_end_failed(fabric);
	reader_take_over(fabric);
	windows_exchange(fabric);
	while ((async = async_event_next(fabric, &what)))
		async->deliver(async, what);
}

void verbs_async_detach(struct verbs_async_event *async, void **context)
{
	struct verbs_fabric *fabric = async->fabric;

	pthread_mutex_lock(&devices_lock);
	if (context)
		*context = NULL;
	pthread_mutex_lock(&fabric->async_notifier.lock);
	if (async->what)
		TAILQ_REMOVE(&fabric->async, async, entry);
	async->what = 0;
	pthread_mutex_unlock(&fabric->async_notifier.lock);
	pthread_mutex_unlock(&devices_lock);
}

int verbs_async_init(struct verbs_fabric *fabric)
{
	TAILQ_INIT(&fabric->async);
	return verbs_notifier_init(&fabric->async_notifier, fabric->fabric.loop, async_events_ready,
				   fabric);
}

void verbs_async_fini(struct verbs_fabric *fabric)
{
	verbs_notifier_fini(&fabric->async_notifier);
}
