/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Per-worker queue of accepted connections that have no bridge yet.
 *
 * A new bridge costs as much as some dozen RPCs, and clients can connect faster than that. So one iteration of the event
 * loop accepts only INTAKE_PER_TURN connections, round-robin over services. Existing connections are served in between,
 * and clients that reconnect to one service in a loop delay no other service.
 */
#ifndef DAEMON_PROXY_INTAKE_H
#define DAEMON_PROXY_INTAKE_H

#include <stdint.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/service/listener.h"

#define INTAKE_PER_TURN 4u

/* A connection in the queue. */
struct handover {
	STAILQ_ENTRY(handover) entry;
	void *owner; /* set and used by the caller */
	uint64_t id;
	struct incoming in;
};

/* The connections of one service. */
struct intake_queue {
	TAILQ_ENTRY(intake_queue) entry; /* the head is served next */
	STAILQ_HEAD(, handover) list;
};

struct intake {
	struct loop *loop;
	struct loop_task task;
	void (*take)(void *arg, struct handover *handover);
	void *arg;
	size_t waiting;
	TAILQ_HEAD(, intake_queue) queues;
};

/**
 * intake_init - Initializes a queue without services.
 * @take: called from a loop task with each connection, which the callee then owns
 */
void intake_init(struct intake *intake, struct loop *loop,
		 void (*take)(void *arg, struct handover *handover), void *arg);
/** intake_fini - Frees the queue, which must be empty. Accepts an all-zero one. */
void intake_fini(struct intake *intake);
/** intake_add - Adds a service, to be served last. */
void intake_add(struct intake *intake, struct intake_queue *queue);
/** intake_remove - Removes a service whose queue is empty. */
void intake_remove(struct intake *intake, struct intake_queue *queue);
/** intake_put - Appends a connection to the queue of its service. */
void intake_put(struct intake *intake, struct intake_queue *queue, struct handover *handover);
/** intake_flush - Calls take() for all queued connections now. */
void intake_flush(struct intake *intake);

#endif
