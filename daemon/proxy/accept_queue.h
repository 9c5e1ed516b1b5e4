/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Per-worker queue of accepted connections that have no bridge yet.
 *
 * A new bridge costs as much as some dozen RPCs, and clients can connect faster than that. One
 * iteration of the event loop accepts only ACCEPT_QUEUE_BATCH connections, round-robin over
 * services. So new connections of a service delay neither existing ones nor other services.
 */
#ifndef DAEMON_PROXY_ACCEPT_QUEUE_H
#define DAEMON_PROXY_ACCEPT_QUEUE_H

#include <stdint.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/service/listener.h"

#define ACCEPT_QUEUE_BATCH 4u

/* A connection in the queue. */
struct accept_item {
	STAILQ_ENTRY(accept_item) entry;
	void *owner; /* set and used by the caller */
	uint64_t id;
	struct accepted_conn in;
};

/* The connections of one service. */
struct accept_queue_service {
	TAILQ_ENTRY(accept_queue_service) entry; /* the head is served next */
	STAILQ_HEAD(, accept_item) list;
};

struct accept_queue {
	struct loop *loop;
	struct loop_task task;
	void (*accept)(void *arg, struct accept_item *accept_item);
	void *arg;
	size_t waiting;
	TAILQ_HEAD(, accept_queue_service) queues;
};

/**
 * accept_queue_init - Initializes a queue without services.
 * @accept: called with @arg from a loop task for each connection, which the callee then owns
 */
void accept_queue_init(struct accept_queue *accept_queue, struct loop *loop,
		       void (*accept)(void *arg, struct accept_item *accept_item), void *arg);
/** accept_queue_fini - Frees the queue, which must be empty. Accepts an all-zero one. */
void accept_queue_fini(struct accept_queue *accept_queue);
/** accept_queue_add_service - Adds a service, to be served last. */
void accept_queue_add_service(struct accept_queue *accept_queue,
			      struct accept_queue_service *queue);
/** accept_queue_remove_service - Removes a service whose queue is empty. */
void accept_queue_remove_service(struct accept_queue *accept_queue,
				 struct accept_queue_service *queue);
/** accept_queue_put - Appends a connection to the queue of its service. */
void accept_queue_put(struct accept_queue *accept_queue, struct accept_queue_service *queue,
		      struct accept_item *accept_item);
/** accept_queue_flush - Calls accept() for all queued connections now. */
void accept_queue_flush(struct accept_queue *accept_queue);

#endif
