/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains: what is registered in one, and the windows that are free in it. */
#ifndef FABRIC_VERBS_DOMAIN_H
#define FABRIC_VERBS_DOMAIN_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_domain_init - set up a protection domain on @device. Returns 0 or a negative errno. */
int verbs_domain_init(struct verbs_domain *domain, struct verbs_device *device) MUST_CHECK;
/** verbs_domain_fini - release free windows, registrations and the domain; accepts one without pd. */
void verbs_domain_fini(struct verbs_domain *domain);
/**
 * verbs_domain_get - give an endpoint, whose device and peer are known, its domain
 *
 * Which one it is, the device and verbs_config.domain_of decide; see Memory in verbs_priv.h. Returns 0 or a negative errno.
 */
int verbs_domain_get(struct verbs_ep *ep) MUST_CHECK;
/** verbs_domain_put - the endpoint uses its domain no longer; the last one of a peer's frees it. Accepts one without. */
void verbs_domain_put(struct verbs_ep *ep);
/** verbs_slab_mr - the slab of @buf registered for local use in @domain, or NULL. */
struct ibv_mr *verbs_slab_mr(struct verbs_domain *domain, struct buf *buf);
/** verbs_expose - clear what others have left in memory that the peer may come to reach: before it is registered for that. */
void verbs_expose(struct verbs_ep *ep, struct buf *buf, uint8_t *mem, uint32_t len_bytes);

#endif
