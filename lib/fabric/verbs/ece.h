/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enhanced connection establishment: what the devices of both ends do beyond the standard.
 *
 * The connection manager's messages carry the vendor and a word of options of each end. librdmacm negotiates them for a queue
 * pair that it makes itself; these functions do so for one that its id does not know of. A device without any has vendor 0.
 */
#ifndef FABRIC_VERBS_ECE_H
#define FABRIC_VERBS_ECE_H

#include "fabric/verbs/verbs_priv.h"

/**
 * verbs_ece_created - the queue pair was made
 *
 * A connector offers what its device can do. An acceptor sets what the peer offered, and answers what its device does of it.
 */
void verbs_ece_created(struct verbs_ep *ep);
/**
 * verbs_ece_agreed - set what the acceptor answered, before the queue pair gets ready
 *
 * Returns 0, or a negative errno: -EPROTO for the answer of another vendor. Does nothing for an acceptor.
 */
int verbs_ece_agreed(struct verbs_ep *ep) MUST_CHECK;

#endif
