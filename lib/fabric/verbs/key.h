/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys lent to the peer of a verbs endpoint. */
#ifndef FABRIC_VERBS_KEY_H
#define FABRIC_VERBS_KEY_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_key_bind - fabric_key_bind(); -EINVAL for memory lent for Reads that is not all ready. */
int verbs_key_bind(struct fabric_ep *ep, struct fabric_key *key);
/** verbs_key_unbind - fabric_key_unbind(). */
bool verbs_key_unbind(struct fabric_key *key);
/** verbs_key_invalidated - the peer invalidated @rkey. */
void verbs_key_invalidated(struct verbs_ep *ep, uint32_t rkey);
/** verbs_windows_fill - have windows allocated ahead, if the domain is one of windows and has few: lending takes one of them. */
void verbs_windows_fill(struct verbs_domain *domain);
/** verbs_keys_release - the connection is over: have its windows and regions freed. Nothing that is lent can be reached after that. */
void verbs_keys_release(struct verbs_ep *ep);
/** verbs_keys_bury - they are freed, and the queue was flushed: give the memory back, call each unbound() that is due. */
void verbs_keys_bury(struct verbs_ep *ep);

#endif
