// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/intake.h"

#include <assert.h>

/* Takes a connection of the next service that has one; the queue must not be empty. */
static void take_one(struct intake *intake)
{
	struct intake_queue *queue;
	struct handover *handover;

	do {
		queue = TAILQ_FIRST(&intake->queues);
		TAILQ_REMOVE(&intake->queues, queue, entry);
		TAILQ_INSERT_TAIL(&intake->queues, queue, entry);
	} while (STAILQ_EMPTY(&queue->list));
	handover = STAILQ_FIRST(&queue->list);
	STAILQ_REMOVE_HEAD(&queue->list, entry);
	intake->waiting--;
	intake->take(intake->arg, handover);
}

static void on_task(void *arg)
{
	struct intake *intake = arg;

	for (unsigned i = 0; i < INTAKE_PER_TURN && intake->waiting; i++)
		take_one(intake);
	if (intake->waiting)
		loop_defer(intake->loop, &intake->task);
}

void intake_init(struct intake *intake, struct loop *loop,
		 void (*take)(void *arg, struct handover *handover), void *arg)
{
	*intake = (struct intake){.loop = loop, .take = take, .arg = arg};
	TAILQ_INIT(&intake->queues);
	loop_task_init(&intake->task, on_task, intake);
}

void intake_fini(struct intake *intake)
{
	assert(!intake->waiting);
	if (intake->loop)
		loop_task_cancel(intake->loop, &intake->task);
	*intake = (struct intake){0};
}

void intake_add(struct intake *intake, struct intake_queue *queue)
{
	STAILQ_INIT(&queue->list);
	TAILQ_INSERT_TAIL(&intake->queues, queue, entry);
}

void intake_remove(struct intake *intake, struct intake_queue *queue)
{
	assert(STAILQ_EMPTY(&queue->list));
	TAILQ_REMOVE(&intake->queues, queue, entry);
}

void intake_put(struct intake *intake, struct intake_queue *queue, struct handover *handover)
{
	STAILQ_INSERT_TAIL(&queue->list, handover, entry);
	intake->waiting++;
	loop_defer(intake->loop, &intake->task);
}

void intake_flush(struct intake *intake)
{
	while (intake->waiting)
		take_one(intake);
}
