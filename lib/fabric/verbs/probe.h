/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the peer of a verbs endpoint is still there. */
#ifndef FABRIC_VERBS_PROBE_H
#define FABRIC_VERBS_PROBE_H

#include "fabric/verbs/verbs_ep.h"

/** verbs_probe_init - ready to ask. Returns 0 or -ENOMEM. */
int verbs_probe_init(struct verbs_ep *ep) MUST_CHECK;
/** verbs_probe_fini - accepts one that was not made. */
void verbs_probe_fini(struct verbs_ep *ep);
/** verbs_probe_unanswered - the peer acknowledges nothing: count it, if a probe was out. */
void verbs_probe_unanswered(struct verbs_ep *ep);
/** verbs_probe_sent - Sends and Writes up to number @seq have left: if that answers a question in part, there is more time. */
void verbs_probe_sent(struct verbs_ep *ep, uint64_t seq);
/** verbs_probe_tells - whether there is something to send that tells, now or once the peer has spoken. */
bool verbs_probe_tells(const struct verbs_ep *ep);
/** verbs_probe - fabric_ep_probe(). */
int verbs_probe(struct fabric_ep *ep);

#endif
