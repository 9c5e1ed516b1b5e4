// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/fake_loop.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

struct loop_timer {
	TAILQ_ENTRY(loop_timer) entry;
	struct fake_loop *loop;
	void (*fn)(void *arg);
	void *arg;
	bool set;
	uint64_t due_us;
};

struct loop_io {
	TAILQ_ENTRY(loop_io) entry;
	struct fake_loop *loop;
	int fd;
	unsigned events;
	bool lost_said, end_said;
	void (*fn)(void *arg, unsigned events);
	void *arg;
	struct loop_task failed;
};

struct fake_loop {
	struct loop loop;
	bool blind;
	bool (*await)(void *arg);
	void *await_arg;
	TAILQ_HEAD(, loop_io) ios;
	TAILQ_HEAD(, loop_timer) timers;
};

static struct fake_loop *fake_of(struct loop *loop)
{
	return container_of(loop, struct fake_loop, loop);
}

static uint64_t fake_now(struct loop *loop)
{
	return loop->iteration_us;
}

static void io_failed(void *arg)
{
	struct loop_io *io = arg;

	io->fn(io->arg, LOOP_ERROR);
}

static struct loop_io *fake_io_new(struct loop *loop, int fd, void (*fn)(void *, unsigned),
				   void *arg)
{
	struct loop_io *io = calloc(1, sizeof(*io));

	if (!io)
		return NULL;
	io->loop = fake_of(loop);
	io->fd = fd;
	io->fn = fn;
	io->arg = arg;
	loop_task_init(&io->failed, io_failed, io);
	TAILQ_INSERT_TAIL(&io->loop->ios, io, entry);
	return io;
}

static void fake_io_set(struct loop_io *io, unsigned events)
{
	loop_task_cancel(&io->loop->loop, &io->failed);
	if (!(events & LOOP_LOST))
		io->lost_said = false;
	if (events & ~io->events && io->loop->blind) {
		events &= io->events;
		loop_defer(&io->loop->loop, &io->failed);
	}
	io->events = events;
}

static void fake_io_free(struct loop_io *io)
{
	loop_task_cancel(&io->loop->loop, &io->failed);
	TAILQ_REMOVE(&io->loop->ios, io, entry);
	free(io);
}

static struct loop_timer *fake_timer_new(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct loop_timer *timer = calloc(1, sizeof(*timer));

	if (!timer)
		return NULL;
	timer->loop = fake_of(loop);
	timer->fn = fn;
	timer->arg = arg;
	TAILQ_INSERT_TAIL(&timer->loop->timers, timer, entry);
	return timer;
}

static void fake_timer_set(struct loop_timer *timer, uint64_t delay_us)
{
	timer->set = true;
	timer->due_us = timer->loop->loop.iteration_us + delay_us;
}

static void fake_timer_clear(struct loop_timer *timer)
{
	timer->set = false;
}

static void fake_timer_free(struct loop_timer *timer)
{
	TAILQ_REMOVE(&timer->loop->timers, timer, entry);
	free(timer);
}

static void fake_kick(struct loop *loop)
{
}

static const struct loop_ops fake_ops = {
	.now_us = fake_now,
	.io_new = fake_io_new,
	.io_set = fake_io_set,
	.io_free = fake_io_free,
	.timer_new = fake_timer_new,
	.timer_set = fake_timer_set,
	.timer_clear = fake_timer_clear,
	.timer_free = fake_timer_free,
	.kick = fake_kick,
};

struct loop *fake_loop_new(void)
{
	struct fake_loop *fake = calloc(1, sizeof(*fake));

	assert(fake);
	fake->loop.ops = &fake_ops;
	TAILQ_INIT(&fake->loop.tasks);
	TAILQ_INIT(&fake->ios);
	TAILQ_INIT(&fake->timers);
	return &fake->loop;
}

void fake_loop_free(struct loop *loop)
{
	struct fake_loop *fake = fake_of(loop);

	assert(TAILQ_EMPTY(&fake->timers) && TAILQ_EMPTY(&fake->ios));
	free(fake);
}

/* The timer that is due first, at or before @until_us; NULL if none is. */
static struct loop_timer *next_due(struct fake_loop *fake, uint64_t until_us)
{
	struct loop_timer *timer, *best = NULL;

	TAILQ_FOREACH(timer, &fake->timers, entry)
		if (timer->set && timer->due_us <= until_us &&
		    (!best || timer->due_us < best->due_us))
			best = timer;
	return best;
}

/* Returns the events of one descriptor that are due. */
static unsigned ready_for(struct loop_io *io)
{
	unsigned calls = io->events & (LOOP_READ | LOOP_WRITE), ready = 0;
	struct pollfd ask = {.fd = io->fd};

	ask.events |= io->events & LOOP_READ ? POLLIN : 0;
	ask.events |= io->events & LOOP_WRITE ? POLLOUT : 0;
	ask.events |= io->events & LOOP_END && !io->end_said ? POLLRDHUP : 0;
	if (!io->events || poll(&ask, 1, 0) <= 0)
		return 0;
	if (io->events & LOOP_LOST && !io->lost_said && ask.revents & (POLLERR | POLLHUP)) {
		io->lost_said = true;
		return LOOP_LOST;
	}
	if (ask.revents & POLLRDHUP) {
		io->end_said = true;
		return LOOP_END;
	}
	ready = ask.revents & POLLIN ? LOOP_READ : 0;
	ready |= ask.revents & POLLOUT ? LOOP_WRITE : 0;
	/* A hang-up or an error is found by the call that the callback makes. */
	return ready ? ready : calls;
}

/* Calls back for one descriptor that is ready; returns whether there was one. */
static bool run_ready(struct fake_loop *fake)
{
	struct loop_io *io;

	TAILQ_FOREACH(io, &fake->ios, entry) {
		unsigned ready = ready_for(io);

		if (!ready)
			continue;
		io->fn(io->arg, ready);
		return true;
	}
	return false;
}

static bool awaited(struct fake_loop *fake)
{
	return fake->await && fake->await(fake->await_arg);
}

static void run_until(struct fake_loop *fake, uint64_t until_us)
{
	for (;;) {
		struct loop_timer *timer;

		while (run_ready(fake) || loop_run_tasks(&fake->loop) || awaited(fake))
			;
		timer = next_due(fake, until_us);
		if (!timer)
			break;
		if (timer->due_us > fake->loop.iteration_us)
			fake->loop.iteration_us = timer->due_us;
		timer->set = false;
		timer->fn(timer->arg);
	}
	fake->loop.iteration_us = until_us;
}

struct posted {
	struct loop_task task;
	void (*fn)(void *arg);
	void *arg;
};

static void run_posted(void *arg)
{
	struct posted *posted = arg;

	posted->fn(posted->arg);
	free(posted);
}

int fake_loop_post(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct posted *posted = malloc(sizeof(*posted));

	if (!posted)
		return -ENOMEM;
	posted->fn = fn;
	posted->arg = arg;
	loop_task_init(&posted->task, run_posted, posted);
	loop_defer(loop, &posted->task);
	return 0;
}

void fake_loop_await(struct loop *loop, bool (*await)(void *arg), void *arg)
{
	fake_of(loop)->await = await;
	fake_of(loop)->await_arg = arg;
}

void fake_loop_blind(struct loop *loop, bool blind)
{
	fake_of(loop)->blind = blind;
}

void fake_loop_run(struct loop *loop)
{
	run_until(fake_of(loop), loop->iteration_us);
}

void fake_loop_advance(struct loop *loop, uint64_t us)
{
	run_until(fake_of(loop), loop->iteration_us + us);
}
