// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/control/stream_client.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct stream_client {
	struct loop *loop;
	const struct stream_client_events *events;
	void *arg;
	int fd;
	struct loop_io *io;
	struct loop_timer *stall; /* set while bytes are queued */
	struct loop_task send;
	bool stop_requested, ending;
	size_t input_bytes;           /* bytes received from the client */
	size_t first, used, capacity; /* in bytes[]: the queue is contiguous */
	uint8_t bytes[];
};

static void stream_client_set_events(struct stream_client *stream_client)
{
	unsigned events = stream_client->stop_requested ? 0 : LOOP_READ;

	loop_io_set(stream_client->loop, stream_client->io,
		    events | (stream_client->used ? LOOP_WRITE : 0));
}

/* Returns false if the client has disconnected. */
static bool send_some(struct stream_client *stream_client)
{
	while (stream_client->used) {
		ssize_t n = send(stream_client->fd, stream_client->bytes + stream_client->first,
				 stream_client->used, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		stream_client->first += (size_t)n;
		stream_client->used -= (size_t)n;
		loop_timer_set(stream_client->loop, stream_client->stall, STREAM_CLIENT_STALL_US);
	}
	stream_client->first = 0;
	loop_timer_clear(stream_client->loop, stream_client->stall);
	return true;
}

static void on_send(void *arg)
{
	struct stream_client *stream_client = arg;
	size_t waited = stream_client->used;

	if (!send_some(stream_client)) {
		stream_client->events->lost(stream_client->arg, "it has gone");
		return;
	}
	stream_client_set_events(stream_client);
	if (stream_client->ending && !stream_client->used)
		stream_client->events->drained(stream_client->arg);
	else if (stream_client->used < waited)
		stream_client->events->on_space(stream_client->arg);
}

static void on_stall(void *arg)
{
	struct stream_client *stream_client = arg;

	stream_client->events->lost(stream_client->arg, "it does not read");
}

/*
 * Reads what the client sends: only end of file means something. Other bytes are read a little per
 * loop iteration and ignored. Returns NULL, or why the client is lost.
 */
static const char *stream_client_read(struct stream_client *stream_client)
{
	char bytes[256];
	ssize_t n = recv(stream_client->fd, bytes, sizeof(bytes), 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? NULL : "it has gone";
	stream_client->input_bytes += (size_t)n;
	if (stream_client->input_bytes > STREAM_CLIENT_MAX_INPUT_BYTES)
		return "it sends data";
	if (n > 0)
		return NULL;
	stream_client->stop_requested = true;
	stream_client_set_events(stream_client);
	stream_client->events->stop_requested(stream_client->arg);
	return NULL;
}

static void on_client(void *arg, unsigned events)
{
	struct stream_client *stream_client = arg;
	const char *lost = NULL;

	if (events & LOOP_ERROR)
		lost = "its socket cannot be polled";
	else if (events & LOOP_READ)
		lost = stream_client_read(stream_client);
	if (lost)
		stream_client->events->lost(stream_client->arg, lost);
	else if (events & LOOP_WRITE)
		on_send(stream_client);
}

struct stream_client *stream_client_new(struct loop *loop, int fd, size_t queue_limit_bytes,
					const struct stream_client_events *events, void *arg)
{
	struct stream_client *stream_client = calloc(1, sizeof(*stream_client) + queue_limit_bytes);

	if (!stream_client)
		return NULL;
	stream_client->loop = loop;
	stream_client->events = events;
	stream_client->arg = arg;
	stream_client->capacity = queue_limit_bytes;
	loop_task_init(&stream_client->send, on_send, stream_client);
	stream_client->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (stream_client->fd >= 0)
		stream_client->io = loop_io_new(loop, stream_client->fd, on_client, stream_client);
	stream_client->stall = loop_timer_new(loop, on_stall, stream_client);
	if (!stream_client->io || !stream_client->stall) {
		stream_client_free(stream_client);
		return NULL;
	}
	stream_client_set_events(stream_client);
	return stream_client;
}

void stream_client_free(struct stream_client *stream_client)
{
	if (!stream_client)
		return;
	loop_task_cancel(stream_client->loop, &stream_client->send);
	loop_timer_free(stream_client->loop, stream_client->stall);
	loop_io_free(stream_client->loop, stream_client->io);
	if (stream_client->fd >= 0)
		close(stream_client->fd);
	free(stream_client);
}

size_t stream_client_space(const struct stream_client *stream_client)
{
	return stream_client->capacity - stream_client->used;
}

void stream_client_put(struct stream_client *stream_client, const void *data, size_t len)
{
	assert(len <= stream_client_space(stream_client));
	if (!len)
		return;
	if (stream_client->first + stream_client->used + len > stream_client->capacity) {
		memmove(stream_client->bytes, stream_client->bytes + stream_client->first,
			stream_client->used);
		stream_client->first = 0;
	}
	memcpy(stream_client->bytes + stream_client->first + stream_client->used, data, len);
	if (!stream_client->used)
		loop_timer_set(stream_client->loop, stream_client->stall, STREAM_CLIENT_STALL_US);
	stream_client->used += len;
	loop_defer(stream_client->loop, &stream_client->send);
}

void stream_client_end(struct stream_client *stream_client)
{
	stream_client->ending = true;
	loop_defer(stream_client->loop, &stream_client->send);
}
