// SPDX-License-Identifier: BSD-3-Clause
/* Completion queues, their channels, and asynchronous events of the device in memory. */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/standin/memory.h"
#include "tests/standin/memory_ops.h"

static struct memory_cq *cq_of(struct ibv_cq *cq)
{
	return CONTAINER(cq, struct memory_cq, cq);
}

static struct memory_channel *channel_of(struct ibv_comp_channel *channel)
{
	return CONTAINER(channel, struct memory_channel, channel);
}

static struct memory_context *context_of(struct ibv_context *context)
{
	return CONTAINER(context, struct memory_context, context);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct memory_channel *channel;

	if (memory_is_dead(context)) {
		errno = EIO;
		return NULL;
	}
	channel = calloc(1, sizeof(*channel));
	TAILQ_INIT(&channel->ready);
	channel->channel.context = context;
	channel->channel.fd = channel->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	pthread_mutex_lock(&memory_lock);
	LIST_INSERT_HEAD(&context_of(context)->channels, channel, entry);
	memory_left.channels++;
	pthread_mutex_unlock(&memory_lock);
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ichannel)
{
	struct memory_channel *channel = channel_of(ichannel);

	if (channel->cqs) {
		memory_misuse("a channel is destroyed that %d queues have", channel->cqs);
		return EBUSY;
	}
	pthread_mutex_lock(&memory_lock);
	LIST_REMOVE(channel, entry);
	memory_left.channels--;
	pthread_mutex_unlock(&memory_lock);
	close(channel->fd);
	free(channel);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *arg,
			     struct ibv_comp_channel *channel, int vector)
{
	struct memory_cq *cq;

	if (memory_is_dead(context)) {
		errno = EIO;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	cq->cq = (struct ibv_cq){
		.context = context, .channel = channel, .cq_context = arg, .cqe = cqe};
	cq->size = (unsigned)cqe;
	cq->ring = calloc(cq->size, sizeof(*cq->ring));
	pthread_mutex_lock(&memory_lock);
	if (channel)
		channel_of(channel)->cqs++;
	memory_left.cqs++;
	pthread_mutex_unlock(&memory_lock);
	return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *icq)
{
	struct memory_cq *cq = cq_of(icq);
	struct ibv_comp_channel *channel = cq->cq.channel;

	if (memory_keeps(cq->cq.context))
		return EIO;
	pthread_mutex_lock(&memory_lock);
	if (cq->qps || cq->events) {
		pthread_mutex_unlock(&memory_lock);
		memory_misuse("a completion queue is destroyed that %d queue pairs have, with %u "
			      "events not acknowledged",
			      cq->qps, cq->events);
		return EBUSY;
	}
	if (cq->queued) {
		eventfd_t one;

		TAILQ_REMOVE(&channel_of(channel)->ready, cq, ready_entry);
		(void)eventfd_read(channel_of(channel)->fd, &one);
	}
	if (channel)
		channel_of(channel)->cqs--;
	memory_left.cqs--;
	pthread_mutex_unlock(&memory_lock);
	free(cq->ring);
	free(cq);
	return 0;
}

static void tell(struct memory_cq *cq)
{
	if (!cq->armed || !cq->cq.channel || cq->queued)
		return;
	cq->armed = false;
	cq->queued = true;
	TAILQ_INSERT_TAIL(&channel_of(cq->cq.channel)->ready, cq, ready_entry);
	(void)eventfd_write(channel_of(cq->cq.channel)->fd, 1);
}

void memory_complete(struct memory_cq *cq, const struct memory_cqe *cqe)
{
	if (memory_is_dead(cq->cq.context))
		return;
	if (cq->count == cq->size) {
		if (!cq->overrun)
			memory_misuse("a completion queue of %u overruns", cq->size);
		cq->overrun = true;
		return;
	}
	cq->ring[(cq->head + cq->count++) % cq->size] = *cqe;
	tell(cq);
}

void memory_cq_forget(struct memory_cq *cq, const struct memory_qp *qp)
{
	for (unsigned i = 0; i < cq->count; i++) {
		struct memory_cqe *cqe = &cq->ring[(cq->head + i) % cq->size];

		if (cqe->qp == qp)
			cqe->qp = NULL;
	}
}

int memory_poll_cq(struct ibv_cq *icq, int max, struct ibv_wc *wcs)
{
	struct memory_cq *cq = cq_of(icq);
	int n = 0;

	pthread_mutex_lock(&memory_lock);
	memory_counts.polls++;
	if (memory_is_dead(cq->cq.context))
		max = 0;
	for (; n < max && cq->count; n++, cq->count--) {
		struct memory_cqe *cqe = &cq->ring[cq->head++ % cq->size];

		cq->head %= cq->size;
		wcs[n] = cqe->wc;
		if (cqe->qp && cqe->recv)
			cqe->qp->rq_used -= cqe->frees;
		else if (cqe->qp)
			cqe->qp->sq_used -= cqe->frees;
	}
	pthread_mutex_unlock(&memory_lock);
	return n;
}

int memory_req_notify_cq(struct ibv_cq *icq, int solicited_only)
{
	pthread_mutex_lock(&memory_lock);
	memory_counts.arms++;
	cq_of(icq)->armed = true;
	pthread_mutex_unlock(&memory_lock);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **icq, void **context)
{
	struct memory_cq *cq;
	eventfd_t one;

	/* The descriptor stays ready. */
	if (memory_is_dead(channel->context)) {
		errno = EIO;
		return -1;
	}
	if (eventfd_read(channel_of(channel)->fd, &one))
		return -1;
	pthread_mutex_lock(&memory_lock);
	cq = TAILQ_FIRST(&channel_of(channel)->ready);
	TAILQ_REMOVE(&channel_of(channel)->ready, cq, ready_entry);
	memory_counts.events++;
	cq->queued = false;
	cq->events++;
	*icq = &cq->cq;
	*context = cq->cq.cq_context;
	pthread_mutex_unlock(&memory_lock);
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
	pthread_mutex_lock(&memory_lock);
	cq_of(cq)->events -= count;
	pthread_mutex_unlock(&memory_lock);
}

/* ---- asynchronous events ---- */

static struct memory_async *tell_async(struct memory_context *context, enum ibv_event_type type)
{
	struct memory_async *async = calloc(1, sizeof(*async));

	async->event.event_type = type;
	TAILQ_INSERT_TAIL(&context->asyncs, async, entry);
	(void)eventfd_write(context->context.async_fd, 1);
	return async;
}

void memory_async(struct memory_qp *qp, enum ibv_event_type type)
{
	tell_async(context_of(qp->qp.context), type)->event.element.qp = &qp->qp;
	qp->asyncs++;
}

void memory_async_device(struct memory_context *context, enum ibv_event_type type)
{
	(void)tell_async(context, type);
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct memory_async *async;
	eventfd_t one;

	if (eventfd_read(context->async_fd, &one))
		return -1;
	pthread_mutex_lock(&memory_lock);
	async = TAILQ_FIRST(&context_of(context)->asyncs);
	if (async) {
		TAILQ_REMOVE(&context_of(context)->asyncs, async, entry);
		*event = async->event;
	}
	pthread_mutex_unlock(&memory_lock);
	if (!async)
		return -1;
	free(async);
	return 0;
}

static bool is_of_qp(const struct ibv_async_event *event)
{
	return event->event_type == IBV_EVENT_QP_ACCESS_ERR;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	if (!is_of_qp(event))
		return;
	pthread_mutex_lock(&memory_lock);
	CONTAINER(event->element.qp, struct memory_qp, qp)->asyncs--;
	pthread_mutex_unlock(&memory_lock);
}

void memory_async_forget(struct memory_qp *qp)
{
	struct memory_context *context = context_of(qp->qp.context);
	struct memory_async *async, *next;

	for (async = TAILQ_FIRST(&context->asyncs); async; async = next) {
		next = TAILQ_NEXT(async, entry);
		if (!is_of_qp(&async->event) || async->event.element.qp != &qp->qp)
			continue;
		TAILQ_REMOVE(&context->asyncs, async, entry);
		qp->asyncs--;
		free(async);
	}
}
