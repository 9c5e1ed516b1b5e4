// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/control/watching.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/control/feed.h"
#include "daemon/proxy/tapping.h"
#include "daemon/view/answer.h"

#define TURN_RECORDS 256u /* records per iteration of the main loop */

struct watch_output {
	struct feed *feed;
};

struct watch {
	LIST_ENTRY(watch) entry;
	struct watching *watching;
	const struct watch_form *form;
	struct control_user user;
	struct tap *tap;
	struct tapping *tapping; /* NULL: the tap gets no more records */
	struct watch_output out;
	void *state;
	size_t most_bytes;
	uint64_t missed;         /* records not yet reported to the client */
	unsigned turn;           /* records in this iteration */
	bool last;               /* record() has returned false */
	enum watch_end why;      /* why the tap was closed, unless `last` */
	bool finished;           /* tail() has been called */
	struct loop_timer *time; /* of --seconds */
	struct loop_task go_on;
};

struct watching {
	struct proxy *proxy;
	LIST_HEAD(, watch) watches;
};

void watch_put(struct watch_output *out, const void *bytes, size_t len)
{
	feed_put(out->feed, bytes, len);
}

static void watch_free(struct watch *watch)
{
	struct loop *loop = watch->watching->proxy->loop;

	LIST_REMOVE(watch, entry);
	loop_task_cancel(loop, &watch->go_on);
	loop_timer_free(loop, watch->time);
	if (watch->tap)
		tap_close(watch->tap);
	tapping_close(watch->tapping);
	tap_unref(watch->tap);
	feed_free(watch->out.feed);
	if (watch->state)
		watch->form->free(watch->state);
	free(watch);
}

/* Returns true if the queue has space for the next record and the end. */
static bool has_room(const struct watch *watch)
{
	return feed_room(watch->out.feed) >= watch->most_bytes + watch->form->tail_bytes;
}

static void tell_missed(struct watch *watch)
{
	if (!watch->missed || !has_room(watch))
		return;
	watch->form->missed(watch->state, watch->missed, &watch->out);
	watch->missed = 0;
}

static void stop_leading(struct watch *watch)
{
	if (!watch->tapping)
		return;
	tap_close(watch->tap);
	tapping_close(watch->tapping);
	watch->tapping = NULL;
	loop_timer_clear(watch->watching->proxy->loop, watch->time);
}

/* Queues the end of the output; the client gets everything queued before it. */
static void finish(struct watch *watch)
{
	stop_leading(watch);
	watch->finished = true;
	loop_task_cancel(watch->watching->proxy->loop, &watch->go_on);
	tell_missed(watch);
	watch->form->tail(watch->state, watch->last ? WATCH_FULL : watch->why, &watch->out);
	feed_end(watch->out.feed);
}

static bool on_record(void *arg, const void *record, size_t bytes)
{
	struct watch *watch = arg;

	watch->last = !watch->form->record(watch->state, record, bytes, &watch->out);
	return !watch->last && ++watch->turn < TURN_RECORDS && has_room(watch);
}

/* Writes records while the queue has space, at most TURN_RECORDS per loop iteration. */
static void take(void *arg)
{
	struct watch *watch = arg;
	struct proxy *proxy = watch->watching->proxy;
	unsigned before;

	watch->turn = 0;
	do {
		uint64_t missed;

		if (watch->finished || !has_room(watch))
			return;
		before = watch->turn;
		if (!tap_take(watch->tap, on_record, watch, &missed)) {
			proxy->records_missed += missed;
			watch->missed += missed;
			tell_missed(watch);
		}
		if (watch->last) {
			finish(watch);
			return;
		}
	} while (watch->turn > before && watch->turn < TURN_RECORDS);
	if (watch->turn > before)
		loop_defer(proxy->loop, &watch->go_on);
	else if (!watch->tapping)
		finish(watch);
}

/* Stops the tap and writes the records that it has already. */
static void end(struct watch *watch, enum watch_end why)
{
	if (watch->tapping)
		watch->why = why;
	stop_leading(watch);
	take(watch);
}

static void on_time(void *arg)
{
	end(arg, WATCH_TIME);
}

static void on_enough(void *arg)
{
	end(arg, WATCH_ASKED);
}

static void on_lost(void *arg, const char *why)
{
	struct watch *watch = arg;

	/* After it has ended its sending side, a client can disconnect before the end. */
	if (watch->tapping)
		log_info(NULL, "dropped the client of %s on the control socket: %s",
			 watch->form->name, why);
	watch_free(watch);
}

static void on_over(void *arg)
{
	watch_free(arg);
}

static const struct feed_events feed_events = {
	.room = take, .enough = on_enough, .lost = on_lost, .over = on_over};

/* Returns whether @user can start one more stream of @form; NULL: of any format. */
static bool has_place(const struct watching *watching, const struct watch_form *form,
		      const struct control_user *user)
{
	unsigned most = form ? form->max : WATCHES_MAX, n = 0, others = 0, same = 0;
	const struct watch *watch;

	LIST_FOREACH(watch, &watching->watches, entry) {
		if (form && watch->form != form)
			continue;
		n++;
		others += !watch->user.is_root;
		same += watch->user.uid == user->uid;
	}
	if (user->is_root)
		return n < most;
	return n < most && others < most - WATCHES_KEPT && same < WATCHES_USER;
}

static bool start(struct watch *watch, const struct tap_request *request, int fd)
{
	struct proxy *proxy = watch->watching->proxy;
	const struct tap_config config = {
		.request = *request,
		.queue_bytes = watch->form->queue_bytes,
		.loop = proxy->loop,
		.post = event_loop_post,
		.filled = take,
		.arg = watch,
	};

	watch->most_bytes = watch->form->most_bytes(request);
	watch->time = loop_timer_new(proxy->loop, on_time, watch);
	watch->out.feed =
		feed_new(proxy->loop, fd,
			 watch->form->room_bytes + 2 * watch->most_bytes + watch->form->tail_bytes,
			 &feed_events, watch);
	watch->tap = watch->time && watch->out.feed ? tap_new(&config) : NULL;
	watch->state = watch->tap ? watch->form->begin(request, &watch->out) : NULL;
	watch->tapping = watch->state ? tapping_open(proxy, watch->tap) : NULL;
	if (watch->tapping && request->seconds)
		loop_timer_set(proxy->loop, watch->time, request->seconds * UINT64_C(1000000));
	return watch->tapping != NULL;
}

json_t *watch_begin(struct watching *watching, const struct watch_form *form, const char *argument,
		    int fd, const struct control_user *user)
{
	struct proxy *proxy = watching->proxy;
	char error[TAP_ERROR_BYTES];
	struct tap_request request;
	struct watch *watch;

	if (tap_request_parse(form->kind, argument, &request, error))
		return error_json("%s", error);
	if (request.service[0] && !proxy_service_find(proxy, request.service))
		return no_service_json(proxy, request.service);
	if (!has_place(watching, form, user) || !has_place(watching, NULL, user))
		return error_json("too many clients of %s at once", form->name);
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return error_json("the daemon has no memory for it");
	watch->watching = watching;
	watch->form = form;
	watch->user = *user;
	loop_task_init(&watch->go_on, take, watch);
	LIST_INSERT_HEAD(&watching->watches, watch, entry);
	if (start(watch, &request, fd))
		return NULL;
	watch_free(watch);
	return error_json("the daemon has no memory for it");
}

struct watching *watching_new(struct proxy *proxy)
{
	struct watching *watching = calloc(1, sizeof(*watching));

	if (watching) {
		watching->proxy = proxy;
		LIST_INIT(&watching->watches);
	}
	return watching;
}

void watching_free(struct watching *watching)
{
	struct watch *watch;

	if (!watching)
		return;
	while ((watch = LIST_FIRST(&watching->watches)))
		watch_free(watch);
	free(watching);
}
