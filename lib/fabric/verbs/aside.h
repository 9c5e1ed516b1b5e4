/* SPDX-License-Identifier: BSD-3-Clause */
/* What may block, on a thread of its own. */
#ifndef FABRIC_VERBS_ASIDE_H
#define FABRIC_VERBS_ASIDE_H

#include "fabric/verbs/verbs_priv.h"

/**
 * verbs_aside - call @fn on a thread of its own
 * @fn:   may use the id and the queue pair of @ep, nothing else that changes; returns 0 or a negative errno
 * @back: called with that on the loop's thread
 *
 * Until then ep->aside is set, and nobody else touches id and queue pair. Without a thread @fn blocks the worker.
 */
void verbs_aside(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		 void (*back)(struct verbs_ep *ep, int result));
/** verbs_aside_init - what a fabric needs for that. Returns 0 or a negative errno. */
int verbs_aside_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_aside_fini - no endpoint is left. */
void verbs_aside_fini(struct verbs_fabric *fabric);

#endif
