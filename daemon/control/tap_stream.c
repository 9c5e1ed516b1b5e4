// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/control/tap_stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/control/stream_client.h"
#include "daemon/proxy/tap_attach.h"
#include "daemon/view/answer.h"

#define RECORDS_PER_ITERATION 256u /* records per iteration of the main loop */

struct tap_output {
	struct stream_client *stream_client;
};

struct tap_stream {
	LIST_ENTRY(tap_stream) entry;
	struct tap_streams *tap_streams;
	const struct tap_format *form;
	struct control_user user;
	struct tap *tap;
	struct tap_attach *tap_attach; /* NULL: the tap gets no more records */
	struct tap_output out;
	void *state;
	size_t most_bytes;
	uint64_t missed;         /* records not yet reported to the client */
	unsigned nrecords;       /* records in this iteration */
	bool last;               /* record() has returned false */
	enum tap_stream_end why; /* why the tap was closed, unless `last` */
	bool finished;           /* tail() has been called */
	struct loop_timer *time; /* of --seconds */
	struct loop_task continue_task;
};

struct tap_streams {
	struct proxy *proxy;
	LIST_HEAD(, tap_stream) streams;
};

void tap_output_put(struct tap_output *out, const void *bytes, size_t len)
{
	stream_client_put(out->stream_client, bytes, len);
}

static void tap_stream_free(struct tap_stream *tap_stream)
{
	struct loop *loop = tap_stream->tap_streams->proxy->loop;

	LIST_REMOVE(tap_stream, entry);
	loop_task_cancel(loop, &tap_stream->continue_task);
	loop_timer_free(loop, tap_stream->time);
	if (tap_stream->tap)
		tap_close(tap_stream->tap);
	tap_attach_close(tap_stream->tap_attach);
	tap_unref(tap_stream->tap);
	stream_client_free(tap_stream->out.stream_client);
	if (tap_stream->state)
		tap_stream->form->free(tap_stream->state);
	free(tap_stream);
}

/* Returns true if the queue has space for the next record and the end. */
static bool has_space(const struct tap_stream *tap_stream)
{
	return stream_client_space(tap_stream->out.stream_client) >=
	       tap_stream->most_bytes + tap_stream->form->tail_bytes;
}

static void put_missed(struct tap_stream *tap_stream)
{
	if (!tap_stream->missed || !has_space(tap_stream))
		return;
	tap_stream->form->missed(tap_stream->state, tap_stream->missed, &tap_stream->out);
	tap_stream->missed = 0;
}

static void stop_tapping(struct tap_stream *tap_stream)
{
	if (!tap_stream->tap_attach)
		return;
	tap_close(tap_stream->tap);
	tap_attach_close(tap_stream->tap_attach);
	tap_stream->tap_attach = NULL;
	loop_timer_clear(tap_stream->tap_streams->proxy->loop, tap_stream->time);
}

/* Queues the end of the output; the client gets everything queued before it. */
static void put_tail(struct tap_stream *tap_stream)
{
	stop_tapping(tap_stream);
	tap_stream->finished = true;
	loop_task_cancel(tap_stream->tap_streams->proxy->loop, &tap_stream->continue_task);
	put_missed(tap_stream);
	tap_stream->form->tail(tap_stream->state,
			       tap_stream->last ? TAP_STREAM_FULL : tap_stream->why,
			       &tap_stream->out);
	stream_client_end(tap_stream->out.stream_client);
}

static bool on_record(void *arg, const void *record, size_t bytes)
{
	struct tap_stream *tap_stream = arg;

	tap_stream->last =
		!tap_stream->form->record(tap_stream->state, record, bytes, &tap_stream->out);
	return !tap_stream->last && ++tap_stream->nrecords < RECORDS_PER_ITERATION &&
	       has_space(tap_stream);
}

/* Writes records while the queue has space, at most RECORDS_PER_ITERATION per loop iteration. */
static void put_records(void *arg)
{
	struct tap_stream *tap_stream = arg;
	struct proxy *proxy = tap_stream->tap_streams->proxy;
	unsigned before;

	tap_stream->nrecords = 0;
	do {
		uint64_t missed;

		if (tap_stream->finished || !has_space(tap_stream))
			return;
		before = tap_stream->nrecords;
		if (!tap_drain(tap_stream->tap, on_record, tap_stream, &missed)) {
			proxy->records_missed += missed;
			tap_stream->missed += missed;
			put_missed(tap_stream);
		}
		if (tap_stream->last) {
			put_tail(tap_stream);
			return;
		}
	} while (tap_stream->nrecords > before && tap_stream->nrecords < RECORDS_PER_ITERATION);
	if (tap_stream->nrecords > before)
		loop_defer(proxy->loop, &tap_stream->continue_task);
	else if (!tap_stream->tap_attach)
		put_tail(tap_stream);
}

/* Stops the tap and writes the records that it has already. */
static void stop(struct tap_stream *tap_stream, enum tap_stream_end why)
{
	if (tap_stream->tap_attach)
		tap_stream->why = why;
	stop_tapping(tap_stream);
	put_records(tap_stream);
}

static void on_time(void *arg)
{
	stop(arg, TAP_STREAM_TIME);
}

static void on_client_end(void *arg)
{
	stop(arg, TAP_STREAM_CLIENT);
}

static void on_lost(void *arg, const char *why)
{
	struct tap_stream *tap_stream = arg;

	/* After it has ended its sending side, a client can disconnect before the end. */
	if (tap_stream->tap_attach)
		log_info(NULL, "dropped the client of %s on the control socket: %s",
			 tap_stream->form->name, why);
	tap_stream_free(tap_stream);
}

static void on_sent_all(void *arg)
{
	tap_stream_free(arg);
}

static const struct stream_client_events stream_client_events = {.on_space = put_records,
								 .stop_requested = on_client_end,
								 .lost = on_lost,
								 .drained = on_sent_all};

/* Returns whether @user can start one more stream of @form; NULL: of any format. */
static bool has_slot(const struct tap_streams *tap_streams, const struct tap_format *form,
		     const struct control_user *user)
{
	unsigned most = form ? form->max : TAP_STREAMS_MAX, n = 0, others = 0, same = 0;
	const struct tap_stream *tap_stream;

	LIST_FOREACH(tap_stream, &tap_streams->streams, entry) {
		if (form && tap_stream->form != form)
			continue;
		n++;
		others += !tap_stream->user.is_root;
		same += tap_stream->user.uid == user->uid;
	}
	if (user->is_root)
		return n < most;
	return n < most && others < most - TAP_STREAMS_RESERVED && same < TAP_STREAMS_PER_USER;
}

static bool start(struct tap_stream *tap_stream, const struct tap_request *request, int fd)
{
	struct proxy *proxy = tap_stream->tap_streams->proxy;
	const struct tap_config config = {
		.request = *request,
		.queue_bytes = tap_stream->form->queue_bytes,
		.loop = proxy->loop,
		.post = event_loop_post,
		.filled = put_records,
		.arg = tap_stream,
	};

	tap_stream->most_bytes = tap_stream->form->most_bytes(request);
	tap_stream->time = loop_timer_new(proxy->loop, on_time, tap_stream);
	tap_stream->out.stream_client =
		stream_client_new(proxy->loop, fd,
				  tap_stream->form->queue_limit_bytes + 2 * tap_stream->most_bytes +
					  tap_stream->form->tail_bytes,
				  &stream_client_events, tap_stream);
	tap_stream->tap =
		tap_stream->time && tap_stream->out.stream_client ? tap_new(&config) : NULL;
	tap_stream->state =
		tap_stream->tap ? tap_stream->form->begin(request, &tap_stream->out) : NULL;
	tap_stream->tap_attach = tap_stream->state ? tap_attach_open(proxy, tap_stream->tap) : NULL;
	if (tap_stream->tap_attach && request->seconds)
		loop_timer_set(proxy->loop, tap_stream->time, request->seconds * UINT64_C(1000000));
	return tap_stream->tap_attach != NULL;
}

json_t *tap_stream_start(struct tap_streams *tap_streams, const struct tap_format *form,
			 const char *argument, int fd, const struct control_user *user)
{
	struct proxy *proxy = tap_streams->proxy;
	char error[TAP_ERROR_BYTES];
	struct tap_request request;
	struct tap_stream *tap_stream;

	if (tap_request_parse(form->kind, argument, &request, error))
		return error_json("%s", error);
	if (request.service[0] && !proxy_service_find(proxy, request.service))
		return unknown_service_json(proxy, request.service);
	if (!has_slot(tap_streams, form, user) || !has_slot(tap_streams, NULL, user))
		return error_json("too many clients of %s: try again later", form->name);
	tap_stream = calloc(1, sizeof(*tap_stream));
	if (!tap_stream)
		return error_json("the daemon is out of memory");
	tap_stream->tap_streams = tap_streams;
	tap_stream->form = form;
	tap_stream->user = *user;
	loop_task_init(&tap_stream->continue_task, put_records, tap_stream);
	LIST_INSERT_HEAD(&tap_streams->streams, tap_stream, entry);
	if (start(tap_stream, &request, fd))
		return NULL;
	tap_stream_free(tap_stream);
	return error_json("the daemon is out of memory");
}

struct tap_streams *tap_streams_new(struct proxy *proxy)
{
	struct tap_streams *tap_streams = calloc(1, sizeof(*tap_streams));

	if (tap_streams) {
		tap_streams->proxy = proxy;
		LIST_INIT(&tap_streams->streams);
	}
	return tap_streams;
}

void tap_streams_free(struct tap_streams *tap_streams)
{
	struct tap_stream *tap_stream;

	if (!tap_streams)
		return;
	while ((tap_stream = LIST_FIRST(&tap_streams->streams)))
		tap_stream_free(tap_stream);
	free(tap_streams);
}
