// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/control/feed.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct feed {
	struct loop *loop;
	const struct feed_events *events;
	void *arg;
	int fd;
	struct loop_io *io;
	struct loop_timer *stall; /* set while bytes are queued */
	struct loop_task send;
	bool enough, ending;
	size_t heard;             /* bytes received from the client */
	size_t first, used, room; /* in bytes[]: the queue is contiguous */
	uint8_t bytes[];
};

static void watch(struct feed *feed)
{
	unsigned events = feed->enough ? 0 : LOOP_READ;

	loop_io_set(feed->loop, feed->io, events | (feed->used ? LOOP_WRITE : 0));
}

/* Returns false if the client has disconnected. */
static bool send_some(struct feed *feed)
{
	while (feed->used) {
		ssize_t n = send(feed->fd, feed->bytes + feed->first, feed->used, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		feed->first += (size_t)n;
		feed->used -= (size_t)n;
		loop_timer_set(feed->loop, feed->stall, FEED_STALL_US);
	}
	feed->first = 0;
	loop_timer_clear(feed->loop, feed->stall);
	return true;
}

static void on_send(void *arg)
{
	struct feed *feed = arg;
	size_t waited = feed->used;

	if (!send_some(feed)) {
		feed->events->lost(feed->arg, "it has gone");
		return;
	}
	watch(feed);
	if (feed->ending && !feed->used)
		feed->events->over(feed->arg);
	else if (feed->used < waited)
		feed->events->room(feed->arg);
}

static void on_stall(void *arg)
{
	struct feed *feed = arg;

	feed->events->lost(feed->arg, "it does not read");
}

/*
 * Reads what the client sends: only end of file means something. Other bytes are read a little per loop iteration and
 * ignored. Returns NULL, or why the client is lost.
 */
static const char *hear(struct feed *feed)
{
	char bytes[256];
	ssize_t n = recv(feed->fd, bytes, sizeof(bytes), 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? NULL : "it has gone";
	feed->heard += (size_t)n;
	if (feed->heard > FEED_HEARD_BYTES)
		return "it sends data";
	if (n > 0)
		return NULL;
	feed->enough = true;
	watch(feed);
	feed->events->enough(feed->arg);
	return NULL;
}

static void on_client(void *arg, unsigned events)
{
	struct feed *feed = arg;
	const char *lost = NULL;

	if (events & LOOP_ERROR)
		lost = "its socket cannot be polled";
	else if (events & LOOP_READ)
		lost = hear(feed);
	if (lost)
		feed->events->lost(feed->arg, lost);
	else if (events & LOOP_WRITE)
		on_send(feed);
}

struct feed *feed_new(struct loop *loop, int fd, size_t room_bytes,
		      const struct feed_events *events, void *arg)
{
	struct feed *feed = calloc(1, sizeof(*feed) + room_bytes);

	if (!feed)
		return NULL;
	feed->loop = loop;
	feed->events = events;
	feed->arg = arg;
	feed->room = room_bytes;
	loop_task_init(&feed->send, on_send, feed);
	feed->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (feed->fd >= 0)
		feed->io = loop_io_new(loop, feed->fd, on_client, feed);
	feed->stall = loop_timer_new(loop, on_stall, feed);
	if (!feed->io || !feed->stall) {
		feed_free(feed);
		return NULL;
	}
	watch(feed);
	return feed;
}

void feed_free(struct feed *feed)
{
	if (!feed)
		return;
	loop_task_cancel(feed->loop, &feed->send);
	loop_timer_free(feed->loop, feed->stall);
	loop_io_free(feed->loop, feed->io);
	if (feed->fd >= 0)
		close(feed->fd);
	free(feed);
}

size_t feed_room(const struct feed *feed)
{
	return feed->room - feed->used;
}

void feed_put(struct feed *feed, const void *data, size_t len)
{
	assert(len <= feed_room(feed));
	if (!len)
		return;
	if (feed->first + feed->used + len > feed->room) {
		memmove(feed->bytes, feed->bytes + feed->first, feed->used);
		feed->first = 0;
	}
	memcpy(feed->bytes + feed->first + feed->used, data, len);
	if (!feed->used)
		loop_timer_set(feed->loop, feed->stall, FEED_STALL_US);
	feed->used += len;
	loop_defer(feed->loop, &feed->send);
}

void feed_end(struct feed *feed)
{
	feed->ending = true;
	loop_defer(feed->loop, &feed->send);
}
