/* SPDX-License-Identifier: BSD-3-Clause */
/* Keepalive of a verbs endpoint: detects a dead peer. */
#ifndef FABRIC_VERBS_PROBE_H
#define FABRIC_VERBS_PROBE_H

#include "fabric/verbs/verbs_ep.h"

/** verbs_probe_init - Initializes the keepalive. Returns 0 or -ENOMEM. */
int verbs_probe_init(struct verbs_ep *ep) MUST_CHECK;
/** verbs_probe_fini - Frees its timer; accepts one that failed to initialize. */
void verbs_probe_fini(struct verbs_ep *ep);
/** verbs_probe_unanswered - Counts a pending keepalive that the peer did not acknowledge. */
void verbs_probe_unanswered(struct verbs_ep *ep);
/**
 * verbs_probe_sent - Records that Sends and Writes up to number @seq were sent; extends the time
 * limit if they came before the keepalive.
 */
void verbs_probe_sent(struct verbs_ep *ep, uint64_t seq);
/**
 * verbs_probe_tells - Returns true if a keepalive can detect a dead peer, now or once the peer has
 * sent something.
 */
bool verbs_probe_tells(const struct verbs_ep *ep);
/** verbs_probe - Implements fabric_ep_probe(). */
int verbs_probe(struct fabric_ep *ep);

#endif
