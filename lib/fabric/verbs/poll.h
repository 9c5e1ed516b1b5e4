/* SPDX-License-Identifier: BSD-3-Clause */
/* A verbs endpoint's completions. */
#ifndef FABRIC_VERBS_POLL_H
#define FABRIC_VERBS_POLL_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_poll - drain, arm, drain again; the poll task. */
void verbs_poll(void *ep);
/** verbs_poll_last - take what completed before the queue pair goes. */
void verbs_poll_last(struct verbs_ep *ep);
/** verbs_channel_ready - completion events of a device. */
void verbs_channel_ready(void *device);
/** verbs_channel_again - a completion queue of the device was destroyed: look at events again. */
void verbs_channel_again(struct verbs_device *device);

#endif
