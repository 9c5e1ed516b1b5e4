// SPDX-License-Identifier: BSD-3-Clause
/*
 * A device has one queue of asynchronous events per process. One of the workers that use the device
 * reads it: the first; when it releases the device, another one takes over. An event of a
 * connection is recorded in its struct verbs_news, and its own worker handles it.
 *
 * An event names a queue pair or a completion queue, which exists until its events are
 * acknowledged: destroying it waits for that. Its context is the struct verbs_news of its owner,
 * from its creation until verbs_async_forget(). A queue pair's number would not do: the kernel can
 * reuse the number while an event still names the old queue pair.
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
#include "fabric/verbs/async.h"

#include <stdatomic.h>
#include <stdio.h>

#include "fabric/verbs/domain.h"
#include "fabric/verbs/hold.h"

#define EVENTS_PER_TURN 16u

#define NEWS_QP         0x1u
#define NEWS_COMM_EST   0x2u
#define NEWS_CQ         0x4u

/*
 * The devices of all workers. The lock also guards `reads` and the contexts of queues; it is taken
 * before the lock of a fabric's news_box.
 */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, verbs_device) devices = LIST_HEAD_INITIALIZER(devices);

static void wake(struct verbs_fabric *fabric)
{
	struct verbs_box *box = &fabric->news_box;

	pthread_mutex_lock(&box->lock);
	verbs_box_ring(box);
	pthread_mutex_unlock(&box->lock);
}

/* Makes the reader's loop check again: see take_over(). */
static void wake_reader(const struct ibv_context *context)
{
	struct verbs_device *device;

	pthread_mutex_lock(&devices_lock);
	LIST_FOREACH(device, &devices, async_entry)
		if (device->reads && device->context == context)
			wake(device->fabric);
	pthread_mutex_unlock(&devices_lock);
}

void verbs_async_hold(struct verbs_device *device)
{
	verbs_hold_begin(device->hold);
}

void verbs_async_release(struct verbs_device *device)
{
	if (verbs_hold_end(device->hold))
		wake_reader(device->context);
}

/* ---- the reader's side ---- */

/* Reads @context, the context of a queue, under the lock. */
static void tell(void *const *context, unsigned what)
{
	struct verbs_news *news;

	pthread_mutex_lock(&devices_lock);
	news = *context;
	if (news) {
		struct verbs_box *box = &news->fabric->news_box;

		pthread_mutex_lock(&box->lock);
		if (!news->what)
			TAILQ_INSERT_TAIL(&news->fabric->news, news, entry);
		news->what |= what;
		verbs_box_ring(box);
		pthread_mutex_unlock(&box->lock);
	}
	pthread_mutex_unlock(&devices_lock);
}

static void tell_failed(const struct verbs_device *device)
{
	struct verbs_device *other;

	pthread_mutex_lock(&devices_lock);
	LIST_FOREACH(other, &devices, async_entry)
		if (other->context == device->context) {
			other->failed = true;
			wake(other->fabric);
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

static void handle(struct verbs_device *device, const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		tell(&event->element.qp->qp_context, NEWS_QP);
		break;
	case IBV_EVENT_COMM_EST:
		tell(&event->element.qp->qp_context, NEWS_COMM_EST);
		break;
	case IBV_EVENT_CQ_ERR:
		tell(&event->element.cq->cq_context, NEWS_CQ);
		break;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_PORT_ACTIVE:
		notice(device, event->event_type);
		if (event->event_type == IBV_EVENT_DEVICE_FATAL)
			tell_failed(device);
		break;
	default:
		break;
	}
}

static bool next_event(struct verbs_device *device)
{
	struct ibv_async_event event;
	bool got;

	/* The destroying thread wakes this loop. */
	if (!verbs_hold_read(device->hold)) {
		verbs_watch_set(&device->async_watch, false);
		return false;
	}
	got = !ibv_get_async_event(device->context, &event);
	if (got) {
		device->fabric->counters.async_events++;
		handle(device, &event);
		ibv_ack_async_event(&event);
	}
	verbs_async_release(device);
	return got;
}

static void async_ready(void *arg)
{
	struct verbs_device *device = arg;

	for (unsigned i = 0; i < EVENTS_PER_TURN && next_event(device); i++)
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
	int err = verbs_watch_init(&device->async_watch, device->fabric->fabric.loop,
				   device->context->async_fd, async_ready, device);

	if (err)
		return err;
	pthread_mutex_lock(&devices_lock);
	/* Only one of the users reads. */
	device->reads = !other_user(device);
	LIST_INSERT_HEAD(&devices, device, async_entry);
	verbs_watch_set(&device->async_watch, device->reads);
	pthread_mutex_unlock(&devices_lock);
	return 0;
}

static void hand_over(struct verbs_device *device)
{
	struct verbs_device *heir = other_user(device);

	device->reads = false;
	if (!heir)
		return;
	heir->reads = true;
	wake(heir->fabric);
}

void verbs_async_leave(struct verbs_device *device)
{
	if (!device->async_watch.loop)
		return;
	verbs_watch_fini(&device->async_watch);
	pthread_mutex_lock(&devices_lock);
	LIST_REMOVE(device, async_entry);
	if (device->reads)
		hand_over(device);
	pthread_mutex_unlock(&devices_lock);
}

/* ---- windows ---- */

void verbs_async_want_window(struct verbs_device *device)
{
	struct verbs_device *other;

	pthread_mutex_lock(&devices_lock);
	device->wants_window = true;
	LIST_FOREACH(other, &devices, async_entry)
		if (is_other_user(other, device) && !other->window_asked_for) {
			other->window_asked_for = true;
			wake(other->fabric);
		}
	pthread_mutex_unlock(&devices_lock);
}

void verbs_async_gave_window(struct verbs_device *device)
{
	struct verbs_device *other;

	pthread_mutex_lock(&devices_lock);
	LIST_FOREACH(other, &devices, async_entry)
		if (is_other_user(other, device) && other->wants_window) {
			other->wants_window = false;
			other->window_came = true;
			wake(other->fabric);
		}
	pthread_mutex_unlock(&devices_lock);
}

void verbs_async_yield(struct verbs_device *device)
{
	device->yields_until_us = loop_now_us(device->fabric->fabric.loop) + VERBS_KEY_RETRY_US;
}

/* Returns the value of @flag, and sets it to false. */
static bool take(bool *flag)
{
	bool was;

	pthread_mutex_lock(&devices_lock);
	was = *flag;
	*flag = false;
	pthread_mutex_unlock(&devices_lock);
	return was;
}

static void give(struct verbs_device *device);

static void freed(struct verbs_command *command)
{
	(void)command;
}

static void gave(struct verbs_command *command)
{
	struct verbs_device *device = container_of(command, struct verbs_device, gift);
	bool again = device->gives_again;

	device->gives = device->gives_again = false;
	verbs_async_gave_window(device);
	/* Not if the device is being closed: all windows are freed before that. */
	if (again && !LIST_EMPTY(&device->eps))
		give(device);
}

/* Notifies the other workers after the commands that free the windows have been executed. */
static void give(struct verbs_device *device)
{
	device->gives_again = device->gives;
	if (device->gives)
		return;
	device->gives = true;
	verbs_command_post(&device->commands, &device->gift, freed, gave);
}

static void pass_windows(struct verbs_fabric *fabric)
{
	struct verbs_device *device;

	LIST_FOREACH(device, &fabric->devices, entry) {
		if (take(&device->window_asked_for)) {
			device->owes_window = !verbs_domains_free_windows(device);
			if (!device->owes_window) {
				verbs_async_yield(device);
				give(device);
			}
		}
		if (take(&device->window_came))
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
	if (!verbs_ep_returned(ep))
		verbs_ep_drained(ep);
}

static void qp_failed(struct verbs_ep *ep)
{
	if (ep->device->iwarp && ep->qp && !ep->aside && !verbs_state_over(ep->state))
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
	verbs_watch_set(&device->channel_watch, false);
	verbs_async_leave(device);
}

static void end_failed(struct verbs_fabric *fabric)
{
	struct verbs_device *device;
	struct verbs_ep *ep;

	LIST_FOREACH(device, &fabric->devices, entry)
		if (take(&device->failed)) {
			verbs_async_removed(device);
			LIST_FOREACH(ep, &device->eps, device_entry)
				verbs_ep_lost_device(ep, "the device failed");
		}
}

static void take_over(struct verbs_fabric *fabric)
{
	struct verbs_device *device;

	pthread_mutex_lock(&devices_lock);
	LIST_FOREACH(device, &fabric->devices, entry)
		if (device->reads)
			verbs_watch_set(&device->async_watch, true);
	pthread_mutex_unlock(&devices_lock);
}

void verbs_async_tell_ep(struct verbs_news *news, unsigned what)
{
	struct verbs_ep *ep = container_of(news, struct verbs_ep, news);

	if (what & NEWS_QP)
		qp_failed(ep);
	if (what & NEWS_COMM_EST)
		verbs_ep_heard(ep);
}

/* Returns NULL if there are none. */
static struct verbs_news *next_news(struct verbs_fabric *fabric, unsigned *what)
{
	struct verbs_news *news;

	pthread_mutex_lock(&fabric->news_box.lock);
	news = TAILQ_FIRST(&fabric->news);
	if (news) {
		TAILQ_REMOVE(&fabric->news, news, entry);
		*what = news->what;
		news->what = 0;
	}
	pthread_mutex_unlock(&fabric->news_box.lock);
	return news;
}

static void news_ready(void *arg)
{
	struct verbs_fabric *fabric = arg;
	struct verbs_news *news;
	unsigned what;

	verbs_box_heard(&fabric->news_box);
	end_failed(fabric);
	take_over(fabric);
	pass_windows(fabric);
	while ((news = next_news(fabric, &what)))
		news->tell(news, what);
}

void verbs_async_forget(struct verbs_news *news, void **context)
{
	struct verbs_fabric *fabric = news->fabric;

	pthread_mutex_lock(&devices_lock);
	if (context)
		*context = NULL;
	pthread_mutex_lock(&fabric->news_box.lock);
	if (news->what)
		TAILQ_REMOVE(&fabric->news, news, entry);
	news->what = 0;
	pthread_mutex_unlock(&fabric->news_box.lock);
	pthread_mutex_unlock(&devices_lock);
}

int verbs_async_init(struct verbs_fabric *fabric)
{
	TAILQ_INIT(&fabric->news);
	return verbs_box_init(&fabric->news_box, fabric->fabric.loop, news_ready, fabric);
}

void verbs_async_fini(struct verbs_fabric *fabric)
{
	verbs_box_fini(&fabric->news_box);
}
