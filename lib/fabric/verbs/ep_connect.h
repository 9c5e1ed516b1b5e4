/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects and accepts verbs endpoints, and handles their connection manager events. */
#ifndef FABRIC_VERBS_EP_CONNECT_H
#define FABRIC_VERBS_EP_CONNECT_H

#include "fabric/verbs/verbs_ep.h"

#define VERBS_RESOLVE_MS 2000

/** verbs_connect - Implements fabric_connect(). */
int verbs_connect(struct fabric *fabric, const struct sockaddr *addr,
		  const struct fabric_ep_params *params, const struct fabric_ep_events *events,
		  void *arg, struct fabric_ep **out);
/** verbs_adopt - Implements fabric_adopt(). */
int verbs_adopt(struct fabric *fabric, struct fabric_incoming *in,
		const struct fabric_ep_events *events, void *arg, struct fabric_ep **out);
/** verbs_accept - Implements fabric_ep_accept(). */
int verbs_accept(struct fabric_ep *ep, const struct fabric_ep_params *params);
/** verbs_reject - Implements fabric_ep_reject(). */
void verbs_reject(struct fabric_ep *ep, const void *private_data, size_t len_bytes);
/** verbs_ep_free - Implements fabric_ep_free(). */
void verbs_ep_free(struct fabric_ep *ep);
/** verbs_ep_cm_event - Handles a connection manager event of this endpoint. */
void verbs_ep_cm_event(struct verbs_ep *ep, const struct rdma_cm_event *event);
/** verbs_close - Implements fabric_ep_close(). */
void verbs_close(struct fabric_ep *ep);
/** verbs_abort - Implements fabric_ep_abort(). */
void verbs_abort(struct fabric_ep *ep);
/** verbs_ep_info - Implements fabric_ep_info(). */
void verbs_ep_info(const struct fabric_ep *ep, struct fabric_ep_info *info);
/** verbs_ep_describe - Implements fabric_ep_describe(): describes the device. */
void verbs_ep_describe(const struct fabric_ep *ep, char text[FABRIC_TEXT_BYTES]);

#endif
