/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys that expose memory to the peer of a verbs endpoint. */
#ifndef FABRIC_VERBS_KEY_H
#define FABRIC_VERBS_KEY_H

#include "fabric/verbs/pd.h"

#define VERBS_KEY_WAIT_US                                                                          \
	60000000u /* longest wait for a key while other workers or processes have all keys */

/** verbs_key_bind - Implements fabric_key_bind(); -EINVAL if memory for Reads is not all ready. */
int verbs_key_bind(struct fabric_ep *ep, struct fabric_key *key);
/** verbs_key_unbind - Implements fabric_key_unbind(). */
bool verbs_key_unbind(struct fabric_key *key);
/** verbs_key_invalidated - Records that the peer invalidated @rkey. */
void verbs_key_invalidated(struct verbs_ep *ep, uint32_t rkey);
/** verbs_windows_fill - Allocates windows ahead, if the domain uses them and has few free. */
void verbs_windows_fill(struct verbs_pd *domain);
/**
 * verbs_keys_release - Frees the windows and regions of an ended connection. The peer can reach no
 * memory after that.
 */
void verbs_keys_release(struct verbs_ep *ep);
/**
 * verbs_keys_destroy - Releases the exposed memory and calls each unbound() that is due; keys must
 * be released and the queue flushed.
 */
void verbs_keys_destroy(struct verbs_ep *ep);

/** verbs_await_init - Initializes the list of waiting endpoints. Returns 0 or -ENOMEM. */
int verbs_await_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_await_fini - Frees its timer and task; no endpoint may wait. */
void verbs_await_fini(struct verbs_fabric *fabric);
/** verbs_key_await - Implements fabric_key_await(). */
bool verbs_key_await(struct fabric_ep *fep, unsigned own);
/** verbs_await_remove - Removes the ending @ep from the list. */
void verbs_await_remove(struct verbs_ep *ep);

#endif
