/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues of a worker on a device, shared by its endpoints.
 *
 * An endpoint reserves one entry for each work request that its queues can hold, because even an
 * unsignalled one completes if it fails. So no queue overruns. If no queue has enough free entries,
 * a new one is created with twice the entries of all existing ones. Queues are never resized: siw,
 * cxgb4, qedr and hns cannot. The other libraries (rdma-core 65) hold the lock of polling while the
 * adapter executes the command, so a hung adapter would block the worker.
 *
 * A completion names the slot of its endpoint and the generation of the slot. So completions of a
 * destroyed queue pair, which siw and rxe leave in the queue, are recognized. When an endpoint
 * ends, its slot and reserved entries become free once everything then in the queue has been
 * polled. verbs_cq.polled counts for that: each polled entry, and all entries of the queue when it
 * is found empty.
 *
 * Each endpoint has its own queue unless the device's library is known to allow one thread to poll
 * a queue while another destroys a queue pair on it. libqedr polls into memory of freed queue
 * pairs, libcxgb4 may do so, and libhns can lose completions of other queue pairs.
 */
#ifndef FABRIC_VERBS_CQ_H
#define FABRIC_VERBS_CQ_H

#include "fabric/verbs/verbs_ep.h"

/* A power of two minus one, as in libmlx5 and libmlx4. */
#define VERBS_CQES_FIRST  4095u
#define VERBS_CQES_MOST   65535u

#define VERBS_POLL_BUDGET 64u /* completions polled from one queue in one call */
#define VERBS_NO_SLOT     UINT32_MAX

/* The slot of an endpoint on a completion queue, which its completions name. */
struct verbs_slot {
	/* NULL: free, or its endpoint has left and its entries are not free yet. */
	struct verbs_ep *ep;
	unsigned generation; /* counts its endpoints */
	unsigned cqes;       /* entries reserved by its endpoint */
	uint64_t polled;     /* they are free once verbs_cq.polled has reached this */
	unsigned next;       /* next free slot, or next one to become free */
};

/* A completion queue. */
struct verbs_cq {
	LIST_ENTRY(verbs_cq) entry;
	struct verbs_device *device;
	struct verbs_command command;
	/* Owned by the device's thread until `cq` is set. */
	struct ibv_cq *made;
	unsigned made_cqes;
	struct ibv_cq *cq;   /* NULL: not created yet */
	bool own;            /* used by one endpoint only */
	bool failed;         /* its endpoints end, and no further endpoint joins it */
	bool armed;          /* the next completion raises an event */
	unsigned unacked;    /* unacknowledged events */
	unsigned cqes, used; /* entries; entries reserved by endpoints */
	unsigned eps;        /* endpoints that use it */
	uint64_t polled;     /* entries polled; an empty queue counts all its entries */
	uint64_t busy_until_us;
	struct loop_task poll_task;
	struct verbs_slot *slots;
	unsigned nslots, free_slot, first_leaving, last_leaving;
	struct verbs_async_event async; /* a failure reported by its device */
};

/** verbs_cq_may_share - Returns true if the vendor's library allows shared queues. */
bool verbs_cq_may_share(uint32_t vendor_id);
/**
 * verbs_cq_join - Assigns a completion queue and a slot on it to an endpoint whose queues are
 * planned.
 *
 * Returns 0, -ENOSPC if no slot is left, or -ENOMEM.
 */
int verbs_cq_join(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_cq_create - Creates the endpoint's completion queue, unless it exists; on the device's
 * thread.
 *
 * If the device refuses the size, it tries shorter queues that are long enough for the endpoint
 * alone. Sets verbs_ep.cq_short if the queue is too short because others joined before. Returns 0
 * or a negative errno.
 */
int verbs_cq_create(struct verbs_ep *ep) MUST_CHECK;
/** verbs_cq_created - Takes over the queue that verbs_cq_create() created, if any. */
void verbs_cq_created(struct verbs_ep *ep);
/** verbs_cq_detach - Detaches the endpoint from its slot: its completions no longer reach it. */
void verbs_cq_detach(struct verbs_ep *ep);
/**
 * verbs_cq_leave - Removes an endpoint whose queue pair is destroyed or was never created.
 *
 * The last endpoint destroys the completion queue. Accepts an endpoint without one.
 */
void verbs_cq_leave(struct verbs_ep *ep);

/** verbs_poll - Drains, arms and drains again; the task of a struct verbs_cq. */
void verbs_poll(void *cq);
/** verbs_poll_early - Processes completions that arrived before the endpoint was up; its task. */
void verbs_poll_early(void *ep);
/**
 * verbs_poll_last - Processes completions that arrived before a failing endpoint's end was decided.
 *
 * Returns false if more remain for the next iteration.
 */
bool verbs_poll_last(struct verbs_ep *ep) MUST_CHECK;
/** verbs_channel_ready - Reads completion events of a device. */
void verbs_channel_ready(void *device);

/**
 * verbs_cq_next - Returns the size of the next queue if all existing ones have @total entries:
 * twice that, within bounds.
 */
static inline unsigned verbs_cq_next(unsigned total)
{
	unsigned cqes = VERBS_CQES_FIRST;

	while (cqes < VERBS_CQES_MOST && cqes < 2 * total)
		cqes = 2 * cqes + 1;
	return cqes;
}

#endif
