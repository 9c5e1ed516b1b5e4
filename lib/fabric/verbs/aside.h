/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs calls for an endpoint that may block on another thread: its device's, or one of its own.
 *
 * What the device may take long for is executed by the device's thread, in order with all else (command.h). What a connection may
 * take long for has a thread of its own, so that the device's other connections do not wait.
 */
#ifndef FABRIC_VERBS_ASIDE_H
#define FABRIC_VERBS_ASIDE_H

#include "fabric/verbs/verbs_priv.h"

/**
 * verbs_ep_command - call @fn on the thread of the endpoint's device
 * @fn:   may use the id and the queues of @ep, and nothing else that changes; returns 0 or a negative errno
 * @back: called with that on the loop's thread
 *
 * Until then ep->aside is set, and nobody else touches id and queues.
 */
void verbs_ep_command(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		      void (*back)(struct verbs_ep *ep, int result));
/** verbs_aside - the same on a thread of the call's own. Without a thread @fn blocks the worker. */
void verbs_aside(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		 void (*back)(struct verbs_ep *ep, int result));
/** verbs_aside_fini - wait for the last thread to end; no endpoint is left. */
void verbs_aside_fini(struct verbs_fabric *fabric);

#endif
