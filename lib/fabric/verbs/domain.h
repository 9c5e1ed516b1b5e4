/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains: what is registered in one, and the windows that are free in it. */
#ifndef FABRIC_VERBS_DOMAIN_H
#define FABRIC_VERBS_DOMAIN_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_domain_init - set up a domain on @device. What it has of the device its thread allocates, when it is needed. */
void verbs_domain_init(struct verbs_domain *domain, struct verbs_device *device);
/** verbs_domain_fini - have free windows, registrations and the protection domain freed; a domain of a peer's too. */
void verbs_domain_fini(struct verbs_domain *domain);
/** verbs_domain_pd - return the protection domain, or NULL: errno tells. On the device's thread. */
struct ibv_pd *verbs_domain_pd(struct verbs_domain *domain);
/**
 * verbs_domain_get - give an endpoint, whose device and peer are known, its domain
 *
 * Which one it is, the device and verbs_config.domain_of decide; see Memory in verbs_priv.h. Returns 0 or -ENOMEM.
 */
int verbs_domain_get(struct verbs_ep *ep) MUST_CHECK;
/** verbs_domain_put - the endpoint uses its domain no longer; the last one of a peer's frees it. Accepts one without. */
void verbs_domain_put(struct verbs_ep *ep);
/**
 * verbs_slab_mr - return the slab of @buf registered for local use in the endpoint's domain, or NULL
 *
 * errno is EINPROGRESS while the slab is being registered: then what the endpoint has to do is begun again afterwards, by its
 * post_task or, before it is up, by its step_task. Any other errno says why it cannot be registered.
 */
struct ibv_mr *verbs_slab_mr(struct verbs_ep *ep, struct buf *buf);
/** verbs_slab_forget - the endpoint waits for no slab any more. */
void verbs_slab_forget(struct verbs_ep *ep);
/** verbs_expose - clear what others have left in memory that the peer may come to reach: before it is registered for that. */
void verbs_expose(struct verbs_ep *ep, struct buf *buf, uint8_t *mem, uint32_t len_bytes);
/** verbs_domains_free_windows - free the windows that @device has and lends to nobody. Returns whether there were any. */
bool verbs_domains_free_windows(struct verbs_device *device);

#endif
