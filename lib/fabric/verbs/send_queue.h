/* SPDX-License-Identifier: BSD-3-Clause */
/* The send queue of a verbs endpoint. */
#ifndef FABRIC_VERBS_SEND_QUEUE_H
#define FABRIC_VERBS_SEND_QUEUE_H

#include "fabric/verbs/verbs_ep.h"

/* Internal work requests, in addition to enum fabric_wr_op. */
#define VERBS_BIND ((enum fabric_wr_op)100)
#define VERBS_INV  ((enum fabric_wr_op)101)

/** verbs_post - Implements fabric_post(). */
int verbs_post(struct fabric_ep *ep, struct fabric_wr *wr);
/** verbs_sq_add - Appends a work request, the owner's or an internal one. */
void verbs_sq_add(struct verbs_ep *ep, struct fabric_wr *wr);
/** verbs_sq_task - Fails Reads that can never be posted, posts waiting work; a task. */
void verbs_sq_task(void *ep);
/** verbs_sq_run - Posts waiting work. */
void verbs_sq_run(struct verbs_ep *ep);
/** verbs_sq_done - Completes the work request @wr_id, and the unsignalled ones before it. */
void verbs_sq_done(struct verbs_ep *ep, uint64_t wr_id, enum fabric_status status);
/** verbs_sq_flush - Completes all remaining work as flushed. */
void verbs_sq_flush(struct verbs_ep *ep);

/** verbs_lazy_init - Initializes the list of unsignalled Sends. Returns 0 or -ENOMEM. */
int verbs_lazy_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_lazy_fini - Frees its timer; no endpoint must be left. */
void verbs_lazy_fini(struct verbs_fabric *fabric);
/** verbs_lazy_flush - Posts a Write, so that unsignalled work completes soon. */
void verbs_lazy_flush(struct verbs_ep *ep);
/** verbs_lazy_remove - Removes the endpoint from the list. */
void verbs_lazy_remove(struct verbs_ep *ep);

#endif
