/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets endpoints wait until their device has a key again: a window, or room for another region. */
#ifndef FABRIC_VERBS_AWAIT_H
#define FABRIC_VERBS_AWAIT_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_await_init - prepare the list of endpoints that wait for a key. Returns 0 or -ENOMEM. */
int verbs_await_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_await_fini - free its timer and task; no endpoint may wait. */
void verbs_await_fini(struct verbs_fabric *fabric);
/** verbs_key_await - implement fabric_key_await(). */
bool verbs_key_await(struct fabric_ep *fep, unsigned own);
/** verbs_await_came_back - note that the device has a key of @ep back: endpoints that wait try again. */
void verbs_await_came_back(struct verbs_ep *ep);
/** verbs_await_wake - let each endpoint that waits try again: the device has keys that it had not. */
void verbs_await_wake(struct verbs_fabric *fabric);
/** verbs_await_forget - take @ep, which ends, off the list. */
void verbs_await_forget(struct verbs_ep *ep);

#endif
