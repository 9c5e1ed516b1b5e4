/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues of a worker on a device, shared by its endpoints.
 *
 * An endpoint reserves an entry for each work request that its queues can hold, since each may fail and then completes, signalled
 * or not. So no queue overruns. Where none has enough entries left, one more is created, twice as long as all that are there. None is
 * resized: siw, cxgb4, qedr and hns cannot, and the libraries of the others (rdma-core 65) hold the lock that polling takes while
 * the adapter executes the command, so that an adapter that hangs would hang the worker.
 *
 * A completion names the slot of its endpoint and that slot's generation. So completions of a queue pair that was destroyed, which
 * siw and rxe leave in the queue, are recognized. What an endpoint reserved is free, and its slot, once all that was in the
 * queue at its end was polled: verbs_cq.gone counts entries that were polled, and all entries of the queue whenever it is empty.
 *
 * The queue of each endpoint is its own on a device whose library is not known to bear that one thread polls a queue while
 * another one destroys a queue pair on it. libqedr polls into memory of queue pairs that were freed, libcxgb4 may do so, and libhns
 * may lose completions of other queue pairs.
 */
#ifndef FABRIC_VERBS_CQ_H
#define FABRIC_VERBS_CQ_H

#include "fabric/verbs/verbs_ep.h"

/* A power of two less one, as libmlx5 and libmlx4 make them. */
#define VERBS_CQES_FIRST  4095u
#define VERBS_CQES_MOST   65535u

#define VERBS_POLL_BUDGET 64u /* completions of one completion queue in one go */
#define VERBS_NO_SLOT     UINT32_MAX

/* A place of an endpoint on a completion queue, which its completions name. */
struct verbs_slot {
	struct verbs_ep
		*ep; /* NULL: free, or its endpoint has left and its entries are not free yet */
	unsigned generation; /* of its endpoints */
	unsigned cqes;       /* that its endpoint reserved */
	uint64_t gone;       /* they are free once verbs_cq.gone is as much */
	unsigned next;       /* free one, or next one to be free */
};

/* A completion queue. */
struct verbs_cq {
	LIST_ENTRY(verbs_cq) entry;
	struct verbs_device *device;
	struct verbs_command command;
	/* The device's thread's, until `cq` is set. */
	struct ibv_cq *made;
	unsigned made_cqes;
	struct ibv_cq *cq;   /* NULL: not created yet */
	bool own;            /* of one endpoint */
	bool failed;         /* its endpoints end, and no other one gets it */
	bool armed;          /* an event comes with the next completion */
	unsigned unacked;    /* events */
	unsigned cqes, used; /* entries; reserved by endpoints */
	unsigned eps;        /* that have it */
	uint64_t gone;       /* entries that were polled; an empty queue counts as many as it has */
	uint64_t busy_until_us;
	struct loop_task poll_task;
	struct verbs_slot *slots;
	unsigned nslots, free_slot, first_leaving, last_leaving;
	struct verbs_news news; /* its device said that it failed */
};

/** verbs_cq_may_share - whether the library of a device of that vendor bears what is said above. */
bool verbs_cq_may_share(uint32_t vendor_id);
/**
 * verbs_cq_join - give an endpoint, whose queues are planned, a completion queue and a slot on it
 *
 * Returns 0, -ENOSPC if no slot is left, or -ENOMEM.
 */
int verbs_cq_join(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_cq_create - create the endpoint's completion queue, unless it is there; on the device's thread
 *
 * If the device refuses it, a shorter one is asked for, as long as it is enough for the endpoint. Sets verbs_ep.cq_short if it
 * is not, since others joined before. Returns 0 or a negative errno.
 */
int verbs_cq_create(struct verbs_ep *ep) MUST_CHECK;
/** verbs_cq_created - take over what verbs_cq_create() created, all of it or nothing. */
void verbs_cq_created(struct verbs_ep *ep);
/** verbs_cq_forget - find the endpoint by no completion any more. */
void verbs_cq_forget(struct verbs_ep *ep);
/**
 * verbs_cq_leave - the endpoint's queue pair is destroyed, or never was
 *
 * The last endpoint has the completion queue destroyed. Accepts an endpoint without one.
 */
void verbs_cq_leave(struct verbs_ep *ep);

/** verbs_poll - drain, arm, drain again; the task of a struct verbs_cq. */
void verbs_poll(void *cq);
/** verbs_poll_early - take what completed before the endpoint was up; its task. */
void verbs_poll_early(void *ep);
/**
 * verbs_poll_last - take what completed before the end of a dying endpoint was decided
 *
 * Returns false if there is more of that, for the next turn.
 */
bool verbs_poll_last(struct verbs_ep *ep) MUST_CHECK;
/** verbs_channel_ready - completion events of a device. */
void verbs_channel_ready(void *device);

/** verbs_cq_next - return how many entries the next queue has where there are @total: twice as many, within bounds. */
static inline unsigned verbs_cq_next(unsigned total)
{
	unsigned cqes = VERBS_CQES_FIRST;

	while (cqes < VERBS_CQES_MOST && cqes < 2 * total)
		cqes = 2 * cqes + 1;
	return cqes;
}

#endif
