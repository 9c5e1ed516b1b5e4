/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a verbs endpoint. */
#ifndef FABRIC_VERBS_BURY_H
#define FABRIC_VERBS_BURY_H

#include "fabric/verbs/verbs_ep.h"

/** verbs_ep_bury - destroy what a dying endpoint has, complete its work, unbind its keys; closed() is last. */
void verbs_ep_bury(struct verbs_ep *ep);

/** verbs_ep_tell_ending - deliver what has arrived on a connection that is over, and call ending(). @arg: the endpoint. */
void verbs_ep_tell_ending(void *arg);

#endif
