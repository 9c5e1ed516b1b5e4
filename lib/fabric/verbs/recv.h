/* SPDX-License-Identifier: BSD-3-Clause */
/* A verbs endpoint's receives. */
#ifndef FABRIC_VERBS_RECV_H
#define FABRIC_VERBS_RECV_H

#include "fabric/verbs/verbs_ep.h"

#define VERBS_NO_RECV UINT32_MAX

/* A place for a posted receive; one that is idle keeps its buffer if the next is to have that size. */
struct verbs_recv {
	struct buf *buf;
	uint32_t size_bytes;
	uint32_t lkey;
	bool registered;    /* lkey is that of buf */
	unsigned next_idle; /* or the next early one: */
	/* A completion that came before the endpoint was up, see cq.c. */
	bool early_inv;
	uint8_t early_status;
	uint32_t early_bytes, early_rkey;
};

/** verbs_recvs_init - places for @depth posted receives. Returns 0 or -ENOMEM. */
int verbs_recvs_init(struct verbs_ep *ep, unsigned depth) MUST_CHECK;
/** verbs_recvs_fini - give their buffers back; the queue pair is gone. */
void verbs_recvs_fini(struct verbs_ep *ep);
/** verbs_recvs_first - those of the endpoint's parameters are due, before all others. Returns 0 or -ENOMEM. */
int verbs_recvs_first(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_recvs_fill - post what is due, as far as there are places
 *
 * Returns 0 or a negative errno: -EINPROGRESS while memory is being registered, see verbs_slab_mr().
 */
int verbs_recvs_fill(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_recvs_post_due - the same, before anything is sent
 *
 * Where it cannot be done the endpoint dies. Returns false if nothing may be sent now.
 */
bool verbs_recvs_post_due(struct verbs_ep *ep);
/** verbs_recv_idle - the receive in place @at was used: something else may be posted there. */
void verbs_recv_idle(struct verbs_ep *ep, unsigned at);
/** verbs_recv_post - fabric_recv_post(). */
void verbs_recv_post(struct fabric_ep *ep, unsigned count, uint32_t size_bytes);
/** verbs_recv_resize - fabric_recv_resize(): all that are posted keep theirs; buffers kept for further ones are given back. */
unsigned verbs_recv_resize(struct fabric_ep *ep, uint32_t size_bytes);

#endif
