/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive queue of a verbs endpoint. */
#ifndef FABRIC_VERBS_RECV_QUEUE_H
#define FABRIC_VERBS_RECV_QUEUE_H

#include "fabric/verbs/verbs_ep.h"

#define VERBS_NO_RECV UINT32_MAX

/* A place for a posted receive. An idle place keeps its buffer if it has the current size. */
struct verbs_recv {
	struct buf *buf;
	uint32_t size_bytes;
	uint32_t lkey;
	bool registered;    /* lkey belongs to buf */
	unsigned next_idle; /* next idle place, or next early one */
	/* A completion that arrived before the endpoint was up, see cq.c. */
	bool early_inv;
	uint8_t early_status;
	uint32_t early_bytes, early_rkey;
};

/** verbs_recvs_init - Allocates places for @depth posted receives. Returns 0 or -ENOMEM. */
int verbs_recvs_init(struct verbs_ep *ep, unsigned depth) MUST_CHECK;
/** verbs_recvs_fini - Frees the places and their buffers; the queue pair must be gone. */
void verbs_recvs_fini(struct verbs_ep *ep);
/**
 * verbs_recvs_first - Requests the receives of the endpoint's parameters, before all others.
 * Returns 0 or -ENOMEM.
 */
int verbs_recvs_first(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_recvs_fill - Posts requested receives as far as there are places.
 *
 * Returns 0 or a negative errno: -EINPROGRESS while memory is being registered, see
 * verbs_slab_mr().
 */
int verbs_recvs_fill(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_recvs_post_due - Like verbs_recvs_fill(); call it before posting a Send, which can tell the
 * peer that receives are available.
 *
 * Ends the endpoint if it fails. Returns false if nothing may be sent now.
 */
bool verbs_recvs_post_due(struct verbs_ep *ep);
/** verbs_recv_idle - Makes place @at idle after its receive was consumed. */
void verbs_recv_idle(struct verbs_ep *ep, unsigned at);
/** verbs_recv_post - Implements fabric_recv_post(). */
void verbs_recv_post(struct fabric_ep *ep, unsigned count, uint32_t size_bytes);
/**
 * verbs_recv_resize - Implements fabric_recv_resize(): posted receives keep their size; idle
 * buffers of another size are freed.
 */
unsigned verbs_recv_resize(struct fabric_ep *ep, uint32_t size_bytes);

#endif
