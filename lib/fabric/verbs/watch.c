// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/verbs/watch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void on_ready(void *arg, unsigned events)
{
	struct verbs_watch *watch = arg;

	if (events & LOOP_ERROR)
		loop_timer_set(watch->loop, watch->retry, VERBS_WATCH_RETRY_US);
	else
		watch->fn(watch->arg);
}

static void again(void *arg)
{
	struct verbs_watch *watch = arg;

	loop_io_set(watch->loop, watch->io, LOOP_READ);
}

int verbs_watch_init(struct verbs_watch *watch, struct loop *loop, int fd, void (*fn)(void *arg),
		     void *arg)
{
	*watch = (struct verbs_watch){.loop = loop, .fn = fn, .arg = arg};
	watch->io = loop_io_new(loop, fd, on_ready, watch);
	watch->retry = loop_timer_new(loop, again, watch);
	if (watch->io && watch->retry)
		return 0;
	verbs_watch_fini(watch);
	return -ENOMEM;
}

void verbs_watch_set(struct verbs_watch *watch, bool on)
{
	loop_timer_clear(watch->loop, watch->retry);
	loop_io_set(watch->loop, watch->io, on ? LOOP_READ : 0);
}

void verbs_watch_fini(struct verbs_watch *watch)
{
	if (!watch->loop)
		return;
	loop_io_free(watch->loop, watch->io);
	loop_timer_free(watch->loop, watch->retry);
	memset(watch, 0, sizeof(*watch));
}

int verbs_box_init(struct verbs_box *box, struct loop *loop, void (*fn)(void *arg), void *arg)
{
	int err;

	box->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (box->fd < 0)
		return -errno;
	err = verbs_watch_init(&box->watch, loop, box->fd, fn, arg);
	if (err) {
		close(box->fd);
		return err;
	}
	pthread_mutex_init(&box->lock, NULL);
	verbs_watch_set(&box->watch, true);
	return 0;
}

void verbs_box_fini(struct verbs_box *box)
{
	verbs_watch_fini(&box->watch);
	pthread_mutex_destroy(&box->lock);
	close(box->fd);
}
