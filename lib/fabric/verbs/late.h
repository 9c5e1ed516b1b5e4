/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends that are not signalled: fabric_wr.late.
 *
 * A completion costs the device a write and the worker a look, and where a connection has one Call at a time, an event and its
 * system calls too. So a Send for whose done() nobody waits is signalled only if it is the last of VERBS_SIGNAL_EVERY. The completion of
 * what is posted after it stands for it. Where nothing is posted after it for half of FABRIC_LATE_US, a Write of no bytes is, which
 * needs no key and no receive (see probe.c).
 */
#ifndef FABRIC_VERBS_LATE_H
#define FABRIC_VERBS_LATE_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_late_init - no endpoint has such Sends yet. Returns 0 or -ENOMEM. */
int verbs_late_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_late_fini - free what that took; no endpoint is left. */
void verbs_late_fini(struct verbs_fabric *fabric);
/** verbs_late_flush - have what is not signalled completed as soon as it can be. */
void verbs_late_flush(struct verbs_ep *ep);
/** verbs_late_forget - the endpoint is buried. */
void verbs_late_forget(struct verbs_ep *ep);

#endif
