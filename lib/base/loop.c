// SPDX-License-Identifier: BSD-3-Clause
/* Dispatch, and the queue of deferred tasks. */
#include "base/loop.h"

void loop_io_set(struct loop *loop, struct loop_io *io, unsigned events)
{
	loop->ops->io_set(io, events);
}

void loop_io_free(struct loop *loop, struct loop_io *io)
{
	if (io)
		loop->ops->io_free(io);
}

void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t delay_us)
{
	loop->ops->timer_set(timer, delay_us);
}

void loop_timer_clear(struct loop *loop, struct loop_timer *timer)
{
	if (timer)
		loop->ops->timer_clear(timer);
}

void loop_timer_free(struct loop *loop, struct loop_timer *timer)
{
	if (timer)
		loop->ops->timer_free(timer);
}

void loop_task_init(struct loop_task *task, void (*fn)(void *arg), void *arg)
{
	task->fn = fn;
	task->arg = arg;
	task->queued = false;
}

void loop_defer(struct loop *loop, struct loop_task *task)
{
	if (task->queued)
		return;
	if (TAILQ_EMPTY(&loop->tasks))
		loop->ops->kick(loop);
	task->queued = true;
	TAILQ_INSERT_TAIL(&loop->tasks, task, entry);
}

void loop_task_cancel(struct loop *loop, struct loop_task *task)
{
	if (!task->queued)
		return;
	task->queued = false;
	TAILQ_REMOVE(&loop->tasks, task, entry);
}

bool loop_run_tasks(struct loop *loop)
{
	struct loop_task mark = {.queued = true};

	/* The mark ends the tasks of this iteration. A task can cancel tasks, but not the mark. */
	TAILQ_INSERT_TAIL(&loop->tasks, &mark, entry);
	for (;;) {
		struct loop_task *task = TAILQ_FIRST(&loop->tasks);

		TAILQ_REMOVE(&loop->tasks, task, entry);
		task->queued = false;
		if (task == &mark)
			break;
		task->fn(task->arg);
	}
	return !TAILQ_EMPTY(&loop->tasks);
}
