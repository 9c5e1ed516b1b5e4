// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/loop.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/clock.h"

#define LOST_PER_TURN 64 /* the others in the next iteration */

struct posted {
	STAILQ_ENTRY(posted) entry;
	void (*fn)(void *arg);
	void *arg;
};
STAILQ_HEAD(posted_list, posted);

struct event_loop {
	struct loop loop;
	struct event_base *base;
	bool running, stopped;
	unsigned watches, timers; /* how many exist */
	int post_fd;
	struct event post_event;
	int lost_fd; /* a separate epoll instance: see struct loop_io */
	struct event lost_event;
	pthread_mutex_t post_lock;
	struct posted_list posted; /* guarded by post_lock */
	void (*kicked)(void *arg);
	void *kicked_arg;
	atomic_bool kick_due;
};

struct loop_io {
	struct event_loop *loop;
	void (*fn)(void *arg, unsigned events);
	void *arg;
	int fd;
	unsigned events;
	/*
	 * Reading stays watched until an event arrives that the owner does not want: most owners
	 * want it again before data arrives. While watched, it also reports an end and a loss.
	 */
	bool reading;
	struct loop_task failed;
	/*
	 * Detects LOOP_LOST while reading is not watched. libevent cannot: it reports an error as
	 * readiness of what is watched, and a socket with unread data is always readable. The
	 * kernel can, in an epoll with no events but EPOLLET: it always reports errors. Such a
	 * watch never has to be removed, so it is added once, in an epoll that libevent watches.
	 */
	bool lost_watched, lost, ended, end_reported;
	struct loop_task report_lost;
	/* One libevent event per direction: changing one costs one epoll_ctl(). */
	struct event read, write;
};

struct loop_timer {
	struct event_loop *loop;
	void (*fn)(void *arg);
	void *arg;
	uint64_t due_us;
	/*
	 * Queued while libevent has no memory for it: checked in each iteration, and the loop does
	 * not sleep.
	 */
	struct loop_task late;
	struct event event;
};

static struct event_loop *event_loop_of(struct loop *loop)
{
	return container_of(loop, struct event_loop, loop);
}

static uint64_t event_now(struct loop *loop)
{
	struct event_loop *ev = event_loop_of(loop);

	if (!ev->running)
		return clock_us(CLOCK_MONOTONIC);
	/* The first call in this iteration. */
	loop->iteration_us = clock_us(CLOCK_MONOTONIC);
	return loop->iteration_us;
}

static void on_failed(void *arg)
{
	struct loop_io *io = arg;

	io->fn(io->arg, LOOP_ERROR);
}

static void on_report_lost(void *arg)
{
	struct loop_io *io = arg;
	unsigned events = io->lost ? LOOP_LOST : 0;

	if (io->ended && !io->end_reported && io->events & LOOP_END) {
		io->end_reported = true;
		events |= LOOP_END;
	}
	if (events)
		io->fn(io->arg, events);
}

/* Reports from tasks, since a callback can free other watches. */
static void on_lost(evutil_socket_t fd, short what, void *arg)
{
	struct epoll_event events[LOST_PER_TURN];
	int n = epoll_wait(fd, events, LOST_PER_TURN, 0);

	for (int i = 0; i < n; i++) {
		struct loop_io *io = events[i].data.ptr;

		io->lost |= (events[i].events & (EPOLLERR | EPOLLHUP)) != 0;
		io->ended |= (events[i].events & EPOLLRDHUP) != 0;
		if (io->events & LOOP_LOST)
			loop_defer(&io->loop->loop, &io->report_lost);
	}
}

static bool watch_lost(struct loop_io *io)
{
	struct epoll_event ask = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = io};

	if (!io->lost_watched)
		io->lost_watched = epoll_ctl(io->loop->lost_fd, EPOLL_CTL_ADD, io->fd, &ask) == 0;
	return io->lost_watched;
}

static void stop_reading(struct loop_io *io)
{
	event_del(&io->read);
	io->reading = false;
	if (io->events & LOOP_LOST && !watch_lost(io)) {
		io->events &= ~LOOP_LOST;
		loop_defer(&io->loop->loop, &io->failed);
	}
}

static void on_read(evutil_socket_t fd, short what, void *arg)
{
	struct loop_io *io = arg;

	if (io->events & LOOP_READ)
		io->fn(io->arg, LOOP_READ);
	else
		stop_reading(io);
}

static void on_write(evutil_socket_t fd, short what, void *arg)
{
	struct loop_io *io = arg;

	io->fn(io->arg, LOOP_WRITE);
}

static struct loop_io *event_io_new(struct loop *loop, int fd, void (*fn)(void *, unsigned),
				    void *arg)
{
	struct event_loop *ev = event_loop_of(loop);
	struct loop_io *io = calloc(1, sizeof(*io));

	if (!io)
		return NULL;
	io->loop = ev;
	io->fn = fn;
	io->arg = arg;
	io->fd = fd;
	loop_task_init(&io->failed, on_failed, io);
	loop_task_init(&io->report_lost, on_report_lost, io);
	event_assign(&io->read, ev->base, fd, EV_READ | EV_PERSIST, on_read, io);
	event_assign(&io->write, ev->base, fd, EV_WRITE | EV_PERSIST, on_write, io);
	ev->watches++;
	return io;
}

static bool watch_write(struct loop_io *io, bool wanted)
{
	if (wanted)
		return event_add(&io->write, NULL) == 0;
	event_del(&io->write);
	return true;
}

static bool watch_read(struct loop_io *io)
{
	if (!io->reading)
		io->reading = event_add(&io->read, NULL) == 0;
	return io->reading;
}

/* Reports a known loss again to an owner that starts to watch it. */
static void set_lost(struct loop_io *io, unsigned events, unsigned changed)
{
	struct loop *loop = &io->loop->loop;

	if (!(events & LOOP_LOST)) {
		loop_task_cancel(loop, &io->report_lost);
		return;
	}
	if (!io->reading && !watch_lost(io))
		io->events &= ~LOOP_LOST;
	if ((changed & LOOP_LOST && (io->lost || io->ended)) ||
	    (changed & LOOP_END && io->ended && !io->lost))
		loop_defer(loop, &io->report_lost);
}

static void event_io_set(struct loop_io *io, unsigned events)
{
	unsigned changed = io->events ^ events;

	io->events = events;
	set_lost(io, events, changed);
	if (events & LOOP_READ && !watch_read(io))
		io->events &= ~LOOP_READ;
	if (changed & LOOP_WRITE && !watch_write(io, events & LOOP_WRITE))
		io->events &= ~LOOP_WRITE;
	if (io->events != events)
		loop_defer(&io->loop->loop, &io->failed);
	else
		loop_task_cancel(&io->loop->loop, &io->failed);
}

static void event_io_free(struct loop_io *io)
{
	event_io_set(io, 0);
	if (io->reading)
		event_del(&io->read);
	if (io->lost_watched)
		epoll_ctl(io->loop->lost_fd, EPOLL_CTL_DEL, io->fd, NULL);
	io->loop->watches--;
	free(io);
}

static void timer_start(struct loop_timer *timer, uint64_t delay_us)
{
	struct timeval tv = {
		.tv_sec = (time_t)(delay_us / 1000000),
		.tv_usec = (suseconds_t)(delay_us % 1000000),
	};

	if (event_add(&timer->event, &tv))
		loop_defer(&timer->loop->loop, &timer->late);
}

/* libevent's clock is coarse and can be some milliseconds early; a timer of this loop never is. */
static void timer_fire(void *arg)
{
	struct loop_timer *timer = arg;
	uint64_t now_us = loop_now_us(&timer->loop->loop);

	if (now_us < timer->due_us)
		timer_start(timer, timer->due_us - now_us);
	else
		timer->fn(timer->arg);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	timer_fire(arg);
}

static struct loop_timer *event_timer_new(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct event_loop *ev = event_loop_of(loop);
	struct loop_timer *timer = calloc(1, sizeof(*timer));

	if (!timer)
		return NULL;
	timer->loop = ev;
	timer->fn = fn;
	timer->arg = arg;
	loop_task_init(&timer->late, timer_fire, timer);
	evtimer_assign(&timer->event, ev->base, on_timer, timer);
	ev->timers++;
	return timer;
}

static void event_timer_set(struct loop_timer *timer, uint64_t delay_us)
{
	timer->due_us = loop_now_us(&timer->loop->loop) + delay_us;
	loop_task_cancel(&timer->loop->loop, &timer->late);
	timer_start(timer, delay_us);
}

static void event_timer_clear(struct loop_timer *timer)
{
	loop_task_cancel(&timer->loop->loop, &timer->late);
	event_del(&timer->event);
}

static void event_timer_free(struct loop_timer *timer)
{
	event_timer_clear(timer);
	timer->loop->timers--;
	free(timer);
}

/* Pending tasks keep event_loop_run() from sleeping, so nothing else is needed. */
static void event_kick(struct loop *loop)
{
}

static const struct loop_ops event_ops = {
	.now_us = event_now,
	.io_new = event_io_new,
	.io_set = event_io_set,
	.io_free = event_io_free,
	.timer_new = event_timer_new,
	.timer_set = event_timer_set,
	.timer_clear = event_timer_clear,
	.timer_free = event_timer_free,
	.kick = event_kick,
};

static void free_base(struct event_loop *ev)
{
	if (ev->base)
		event_base_free(ev->base);
	if (ev->post_fd >= 0)
		close(ev->post_fd);
	if (ev->lost_fd >= 0)
		close(ev->lost_fd);
}

/* Runs what was posted up to now, without the lock, so the functions can post. */
static void run_posted(struct event_loop *ev)
{
	struct posted_list list = STAILQ_HEAD_INITIALIZER(list);
	struct posted *posted;

	pthread_mutex_lock(&ev->post_lock);
	STAILQ_CONCAT(&list, &ev->posted);
	pthread_mutex_unlock(&ev->post_lock);
	while ((posted = STAILQ_FIRST(&list))) {
		STAILQ_REMOVE_HEAD(&list, entry);
		posted->fn(posted->arg);
		free(posted);
	}
}

static void on_posted(evutil_socket_t fd, short what, void *arg)
{
	struct event_loop *ev = arg;
	eventfd_t count;

	eventfd_read(ev->post_fd, &count);
	if (atomic_exchange(&ev->kick_due, false))
		ev->kicked(ev->kicked_arg);
	run_posted(ev);
}

/* libevent would write to standard error, and can block there. Its callers report the errors. */
static void discard_libevent_log(int severity, const char *text)
{
}

static struct event_base *base_new(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	if (!config)
		return NULL;
	event_set_log_callback(discard_libevent_log);
	/* Each base is used by one thread, and no signals go through libevent. */
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
	base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

struct loop *event_loop_new(void)
{
	struct event_loop *ev = calloc(1, sizeof(*ev));

	if (!ev)
		return NULL;
	ev->post_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	ev->lost_fd = epoll_create1(EPOLL_CLOEXEC);
	ev->base = base_new();
	if (ev->post_fd < 0 || ev->lost_fd < 0 || !ev->base)
		goto out_free;
	event_assign(&ev->post_event, ev->base, ev->post_fd, EV_READ | EV_PERSIST, on_posted, ev);
	event_assign(&ev->lost_event, ev->base, ev->lost_fd, EV_READ | EV_PERSIST, on_lost, ev);
	if (event_add(&ev->post_event, NULL) < 0 || event_add(&ev->lost_event, NULL) < 0)
		goto out_free;
	pthread_mutex_init(&ev->post_lock, NULL);
	STAILQ_INIT(&ev->posted);
	ev->loop.ops = &event_ops;
	TAILQ_INIT(&ev->loop.tasks);
	return &ev->loop;
out_free:
	free_base(ev);
	free(ev);
	return NULL;
}

void event_loop_finish(struct loop *loop)
{
	struct event_loop *ev = event_loop_of(loop);

	while (!STAILQ_EMPTY(&ev->posted))
		run_posted(ev);
}

void event_loop_free(struct loop *loop)
{
	struct event_loop *ev = loop ? event_loop_of(loop) : NULL;

	if (!ev)
		return;
	event_loop_finish(loop);
	assert(ev->watches == 0 && ev->timers == 0);
	event_del(&ev->post_event);
	event_del(&ev->lost_event);
	free_base(ev);
	pthread_mutex_destroy(&ev->post_lock);
	free(ev);
}

struct event_base *event_loop_base(struct loop *loop)
{
	return event_loop_of(loop)->base;
}

void event_loop_run(struct loop *loop)
{
	struct event_loop *ev = event_loop_of(loop);

	ev->running = true;
	while (!ev->stopped) {
		int flags = EVLOOP_ONCE;

		if (!TAILQ_EMPTY(&loop->tasks))
			flags |= EVLOOP_NONBLOCK;
		loop->iteration_us = 0;
		event_base_loop(ev->base, flags);
		loop_run_tasks(loop);
	}
	ev->running = ev->stopped = false;
	loop->iteration_us = 0;
}

void event_loop_stop(struct loop *loop)
{
	event_loop_of(loop)->stopped = true;
}

int event_loop_post(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct event_loop *ev = event_loop_of(loop);
	struct posted *posted = malloc(sizeof(*posted));
	bool first;

	if (!posted)
		return -ENOMEM;
	posted->fn = fn;
	posted->arg = arg;
	pthread_mutex_lock(&ev->post_lock);
	first = STAILQ_EMPTY(&ev->posted);
	STAILQ_INSERT_TAIL(&ev->posted, posted, entry);
	/* Under the lock, so that the loop is not freed meanwhile. */
	if (first)
		eventfd_write(ev->post_fd, 1);
	pthread_mutex_unlock(&ev->post_lock);
	return 0;
}

void event_loop_on_kick(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct event_loop *ev = event_loop_of(loop);

	ev->kicked = fn;
	ev->kicked_arg = arg;
}

void event_loop_kick(struct loop *loop)
{
	struct event_loop *ev = event_loop_of(loop);

	if (!atomic_exchange(&ev->kick_due, true))
		eventfd_write(ev->post_fd, 1);
}
