/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys lent to the peer of a verbs endpoint. */
#ifndef FABRIC_VERBS_KEY_H
#define FABRIC_VERBS_KEY_H

#include "fabric/verbs/domain.h"

#define VERBS_KEY_WAIT_US 60000000u /* for one, while all that the device has are others' */

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

/** verbs_await_init - prepare the list of endpoints that wait for a key. Returns 0 or -ENOMEM. */
int verbs_await_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_await_fini - free its timer and task; no endpoint may wait. */
void verbs_await_fini(struct verbs_fabric *fabric);
/** verbs_key_await - implement fabric_key_await(). */
bool verbs_key_await(struct fabric_ep *fep, unsigned own);
/** verbs_await_forget - take @ep, which ends, off the list. */
void verbs_await_forget(struct verbs_ep *ep);

#endif
