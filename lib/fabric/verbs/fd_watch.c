// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/verbs/fd_watch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void on_ready(void *arg, unsigned events)
{
	struct verbs_fd_watch *watch = arg;

	if (events & LOOP_ERROR)
		loop_timer_set(watch->loop, watch->retry, VERBS_FD_WATCH_RETRY_US);
	else
		watch->fn(watch->arg);
}

static void watch_retry(void *arg)
{
	struct verbs_fd_watch *watch = arg;

	loop_io_set(watch->loop, watch->io, LOOP_READ);
}

int verbs_fd_watch_init(struct verbs_fd_watch *watch, struct loop *loop, int fd,
			void (*fn)(void *arg), void *arg)
{
	*watch = (struct verbs_fd_watch){.loop = loop, .fn = fn, .arg = arg};
	watch->io = loop_io_new(loop, fd, on_ready, watch);
	watch->retry = loop_timer_new(loop, watch_retry, watch);
	if (watch->io && watch->retry)
		return 0;
	verbs_fd_watch_fini(watch);
	return -ENOMEM;
}

void verbs_fd_watch_set(struct verbs_fd_watch *watch, bool on)
{
	loop_timer_clear(watch->loop, watch->retry);
	loop_io_set(watch->loop, watch->io, on ? LOOP_READ : 0);
}

void verbs_fd_watch_fini(struct verbs_fd_watch *watch)
{
	if (!watch->loop)
		return;
	loop_io_free(watch->loop, watch->io);
	loop_timer_free(watch->loop, watch->retry);
	memset(watch, 0, sizeof(*watch));
}

int verbs_notifier_init(struct verbs_notifier *notifier, struct loop *loop, void (*fn)(void *arg),
			void *arg)
{
	int err;

	notifier->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (notifier->fd < 0)
		return -errno;
	err = verbs_fd_watch_init(&notifier->watch, loop, notifier->fd, fn, arg);
	if (err) {
		close(notifier->fd);
		return err;
	}
	pthread_mutex_init(&notifier->lock, NULL);
	verbs_fd_watch_set(&notifier->watch, true);
	return 0;
}

void verbs_notifier_fini(struct verbs_notifier *notifier)
{
	verbs_fd_watch_fini(&notifier->watch);
	pthread_mutex_destroy(&notifier->lock);
	close(notifier->fd);
}
