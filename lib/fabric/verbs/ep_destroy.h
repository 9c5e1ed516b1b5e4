/* SPDX-License-Identifier: BSD-3-Clause */
/* Destroys a verbs endpoint. */
#ifndef FABRIC_VERBS_EP_DESTROY_H
#define FABRIC_VERBS_EP_DESTROY_H

#include "fabric/verbs/verbs_ep.h"

/**
 * verbs_ep_destroy - Destroys the queue pair and the id, completes all work, unbinds all keys, and
 * then calls closed().
 */
void verbs_ep_destroy(struct verbs_ep *ep);

/** verbs_ep_notify_ending - Delivers Sends that arrived before the end, and calls ending(). */
void verbs_ep_notify_ending(void *arg);

#endif
