/* SPDX-License-Identifier: BSD-3-Clause */
/* Keepalive of a verbs endpoint: detects a dead peer. */
#ifndef FABRIC_VERBS_EP_KEEPALIVE_H
#define FABRIC_VERBS_EP_KEEPALIVE_H

#include "fabric/verbs/verbs_ep.h"

/** verbs_keepalive_init - Initializes the keepalive. Returns 0 or -ENOMEM. */
int verbs_keepalive_init(struct verbs_ep *ep) MUST_CHECK;
/** verbs_keepalive_fini - Frees its timer; accepts one that failed to initialize. */
void verbs_keepalive_fini(struct verbs_ep *ep);
/** verbs_keepalive_unanswered - Counts a pending keepalive that the peer did not acknowledge. */
void verbs_keepalive_unanswered(struct verbs_ep *ep);
/**
 * verbs_keepalive_sent - Records that Sends and Writes up to number @seq were sent; extends the
 * time limit if they came before the keepalive.
 */
void verbs_keepalive_sent(struct verbs_ep *ep, uint64_t seq);
/**
 * verbs_keepalive_works - Returns true if a keepalive can detect a dead peer, now or once the peer
 * has sent something.
 */
bool verbs_keepalive_works(const struct verbs_ep *ep);
/** verbs_keepalive - Implements fabric_ep_keepalive(). */
int verbs_keepalive(struct fabric_ep *ep);

#endif
