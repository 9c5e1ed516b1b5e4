/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets endpoints wait until their device has a key again: a window, or room for another region. */
#ifndef FABRIC_VERBS_AWAIT_H
#define FABRIC_VERBS_AWAIT_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_await_init - nobody waits. Returns 0 or -ENOMEM. */
int verbs_await_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_await_fini - free what it has; nobody waits any more. */
void verbs_await_fini(struct verbs_fabric *fabric);
/** verbs_key_await - fabric_key_await(). */
bool verbs_key_await(struct fabric_ep *fep, unsigned own);
/** verbs_await_came_back - a key of @ep is the device's again. */
void verbs_await_came_back(struct verbs_ep *ep);
/** verbs_await_forget - @ep ends: it waits no more. */
void verbs_await_forget(struct verbs_ep *ep);

#endif
