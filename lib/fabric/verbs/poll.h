/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions: taken from completion queues, and given to the endpoints that they name. */
#ifndef FABRIC_VERBS_POLL_H
#define FABRIC_VERBS_POLL_H

#include "fabric/verbs/verbs_priv.h"

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

#endif
