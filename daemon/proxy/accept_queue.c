// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/accept_queue.h"

#include <assert.h>

/* Takes a connection of the next service that has one; the queue must not be empty. */
static void accept_one(struct accept_queue *accept_queue)
{
	struct accept_queue_service *queue;
	struct accept_item *accept_item;

	do {
		queue = TAILQ_FIRST(&accept_queue->queues);
		TAILQ_REMOVE(&accept_queue->queues, queue, entry);
		TAILQ_INSERT_TAIL(&accept_queue->queues, queue, entry);
	} while (STAILQ_EMPTY(&queue->list));
	accept_item = STAILQ_FIRST(&queue->list);
	STAILQ_REMOVE_HEAD(&queue->list, entry);
	accept_queue->waiting--;
	accept_queue->accept(accept_queue->arg, accept_item);
}

static void on_task(void *arg)
{
	struct accept_queue *accept_queue = arg;

	for (unsigned i = 0; i < ACCEPT_QUEUE_BATCH && accept_queue->waiting; i++)
		accept_one(accept_queue);
	if (accept_queue->waiting)
		loop_defer(accept_queue->loop, &accept_queue->task);
}

void accept_queue_init(struct accept_queue *accept_queue, struct loop *loop,
		       void (*accept)(void *arg, struct accept_item *accept_item), void *arg)
{
	*accept_queue = (struct accept_queue){.loop = loop, .accept = accept, .arg = arg};
	TAILQ_INIT(&accept_queue->queues);
	loop_task_init(&accept_queue->task, on_task, accept_queue);
}

void accept_queue_fini(struct accept_queue *accept_queue)
{
	assert(!accept_queue->waiting);
	if (accept_queue->loop)
		loop_task_cancel(accept_queue->loop, &accept_queue->task);
	*accept_queue = (struct accept_queue){0};
}

void accept_queue_add_service(struct accept_queue *accept_queue, struct accept_queue_service *queue)
{
	STAILQ_INIT(&queue->list);
	TAILQ_INSERT_TAIL(&accept_queue->queues, queue, entry);
}

void accept_queue_remove_service(struct accept_queue *accept_queue,
				 struct accept_queue_service *queue)
{
	assert(STAILQ_EMPTY(&queue->list));
	TAILQ_REMOVE(&accept_queue->queues, queue, entry);
}

void accept_queue_put(struct accept_queue *accept_queue, struct accept_queue_service *queue,
		      struct accept_item *accept_item)
{
	STAILQ_INSERT_TAIL(&queue->list, accept_item, entry);
	accept_queue->waiting++;
	loop_defer(accept_queue->loop, &accept_queue->task);
}

void accept_queue_flush(struct accept_queue *accept_queue)
{
	while (accept_queue->waiting)
		accept_one(accept_queue);
}
