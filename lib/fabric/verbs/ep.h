/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of a verbs endpoint. */
#ifndef FABRIC_VERBS_EP_H
#define FABRIC_VERBS_EP_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_ep_cm_event - what the connection manager says of this endpoint. */
void verbs_ep_cm_event(struct verbs_ep *ep, const struct rdma_cm_event *event);
/** verbs_close - fabric_ep_close(). */
void verbs_close(struct fabric_ep *ep);
/** verbs_abort - fabric_ep_abort(). */
void verbs_abort(struct fabric_ep *ep);
/** verbs_ep_info - fabric_ep_info(). */
void verbs_ep_info(const struct fabric_ep *ep, struct fabric_ep_info *info);
/** verbs_ep_describe - fabric_ep_describe(): the device. */
void verbs_ep_describe(const struct fabric_ep *ep, char text[FABRIC_TEXT_BYTES]);

#endif
