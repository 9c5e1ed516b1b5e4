/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that a worker has been handed and has not taken yet.
 *
 * To take one costs as much as some dozen RPCs, and clients can connect faster than that. So a turn of the loop
 * takes a few, services in turn: those that have a connection are served between, and a service whose clients
 * come back all the time holds up neither them nor who connects to another service.
 */
#ifndef DAEMON_PROXY_INTAKE_H
#define DAEMON_PROXY_INTAKE_H

#include <stdint.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/service/listener.h"

#define INTAKE_PER_TURN 4u

/* A connection on its way to a worker. */
struct handover {
	STAILQ_ENTRY(handover) entry;
	void *owner; /* the user's */
	uint64_t id;
	struct incoming in;
};

/* Those of one service. */
struct intake_queue {
	TAILQ_ENTRY(intake_queue) entry; /* whose turn it is first */
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
 * intake_init - one without queues
 * @take: gets each, from a task; it is the user's again
 */
void intake_init(struct intake *intake, struct loop *loop,
		 void (*take)(void *arg, struct handover *handover), void *arg);
/** intake_fini - none may wait. Accepts one that is all zero. */
void intake_fini(struct intake *intake);
/** intake_add - a service more, whose turn comes last. */
void intake_add(struct intake *intake, struct intake_queue *queue);
/** intake_remove - a service less, of which none waits. */
void intake_remove(struct intake *intake, struct intake_queue *queue);
/** intake_put - have it taken behind those of its service; good until then. */
void intake_put(struct intake *intake, struct intake_queue *queue, struct handover *handover);
/** intake_flush - have all that wait taken now. */
void intake_flush(struct intake *intake);

#endif
