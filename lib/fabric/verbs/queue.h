/* SPDX-License-Identifier: BSD-3-Clause */
/* A verbs endpoint's send queue. */
#ifndef FABRIC_VERBS_QUEUE_H
#define FABRIC_VERBS_QUEUE_H

#include "fabric/verbs/verbs_ep.h"

/* Work requests of our own, beside those of enum fabric_wr_op. */
#define VERBS_BIND ((enum fabric_wr_op)100)
#define VERBS_INV  ((enum fabric_wr_op)101)

/** verbs_post - fabric_post(). */
int verbs_post(struct fabric_ep *ep, struct fabric_wr *wr);
/** verbs_queue - put a work request, of the user's or our own, in line. */
void verbs_queue(struct verbs_ep *ep, struct fabric_wr *wr);
/** verbs_queue_task - fail what can never be posted, post what waits; the post task. */
void verbs_queue_task(void *ep);
/** verbs_queue_run - post what waits. */
void verbs_queue_run(struct verbs_ep *ep);
/** verbs_queue_done - the work request @wr_id, and the unsignalled ones before it, completed. */
void verbs_queue_done(struct verbs_ep *ep, uint64_t wr_id, enum fabric_status status);
/** verbs_queue_flush - complete all that is left as flushed. */
void verbs_queue_flush(struct verbs_ep *ep);

/** verbs_late_init - no endpoint has such Sends yet. Returns 0 or -ENOMEM. */
int verbs_late_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_late_fini - free what that took; no endpoint is left. */
void verbs_late_fini(struct verbs_fabric *fabric);
/** verbs_late_flush - have what is not signalled completed as soon as it can be. */
void verbs_late_flush(struct verbs_ep *ep);
/** verbs_late_forget - the endpoint is buried. */
void verbs_late_forget(struct verbs_ep *ep);

#endif
