/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protection domains: what is registered in one, and the windows that are free in it.
 *
 * Memory. What a peer can reach, and through which connection:
 *
 *	device                     domain            slabs       a lent key            a Read's sink
 *	IB, RoCE with windows      of the worker     local use   window on this QP     the slab's lkey
 *	IB, RoCE without windows   of the peer       local use   region, exact bounds  the slab's lkey
 *	iWARP                      of the peer       local use   window or region      region, exact bounds
 *
 * The domain of a peer is that of all connections of one worker with the peer's address. So another user of the peer's
 * host, who guesses the key of a region, reaches memory that is lent to the host for an RPC in flight. With
 * VERBS_DOMAIN_CONNECTION that user does not; then each connection registers each slab that it uses. With
 * VERBS_DOMAIN_WORKER every peer of the worker who guesses a key does.
 *
 * The kernel's rxe holds accesses through a window to the bounds of the region behind it, not to those of the
 * window (seen on Linux 6.1): there each window stands on a region of its own, of exact bounds.
 *
 * The kernel's siw answers a Read of any region in the domain, whatever its rights (seen on Linux 6.1): there,
 * only not knowing a slab's key keeps a peer from it. What a peer may write to it can read there too, while it is lent.
 *
 * A device does not tell what a peer has written. So memory of which the peer learns a key for writing, a Read's sink on
 * iWARP among it, is cleared before, unless the same connection exposed it last (buf_expose()).
 *
 * A slab is never registered with remote rights. A type 2 window answers to its queue pair only; a region
 * with remote rights lies in the domain of its peer, so no connection of another peer reaches it, and lives no
 * longer than the RPC. A region, unlike a window, may not be invalidated by the peer on every device, so
 * remote invalidation is offered with windows only.
 */
#ifndef FABRIC_VERBS_DOMAIN_H
#define FABRIC_VERBS_DOMAIN_H

#include "fabric/verbs/verbs_ep.h"

#define VERBS_WINDOWS_EP    16u  /* free windows that a domain has for each endpoint, … */
#define VERBS_WINDOWS_SPARE 256u /* … and at most */
#define VERBS_WINDOWS_AGED  32u  /* that are freed in one go, of those that nobody needs */

/* Windows that are being allocated for a domain, all at once. */
struct verbs_window_batch {
	struct verbs_command command;
	unsigned wanted; /* 0: none are being allocated */
	bool vain;       /* the device had none left */
	struct verbs_key *windows;
};

/* A protection domain, with the slabs that are registered and the windows that are free in it. */
struct verbs_domain {
	struct verbs_device *device;
	struct ibv_pd *
		pd; /* the device's thread's: allocated when it is first needed, see verbs_domain_pd() */
	struct verbs_command command;
	struct slab_domain slabs;
	TAILQ_HEAD(, verbs_ep)
	awaits_slab; /* endpoints with work that needs a slab which is being registered */
	struct verbs_key *free_windows;
	unsigned nfree_windows;
	/* The least of that in this period; and what was too many in the last one, and is being freed: verbs_domains_age(). */
	unsigned idle_windows, surplus_windows;
	struct verbs_window_batch batch;
	/* Unless it is the worker's: */
	LIST_ENTRY(verbs_domain) entry;
	struct in6_addr peer; /* all zero: of one connection */
	uint32_t scope_id;    /* of that address, if it is link-local */
	unsigned eps;
};

/*
 * The states of a key. A window is bound by a work request, whose completion may be seen after the peer has invalidated the
 * key already, or after the owner has it back; that work request must have completed before the window is
 * lent again. A region is lent and free by system calls.
 */
#define VERBS_KEY_STATES(X)                                                                        \
	X(VERBS_KEY_FREE, "free", "to be lent", TO(VERBS_KEY_BINDING) | TO(VERBS_KEY_LENT))        \
	X(VERBS_KEY_BINDING, "binding", "its bind to complete",                                    \
	  TO(VERBS_KEY_LENT) | TO(VERBS_KEY_OUTRUN) | TO(VERBS_KEY_UNBINDING) |                    \
		  TO(VERBS_KEY_LEFT))                                                              \
	X(VERBS_KEY_LENT, "lent", "its owner to take it back",                                     \
	  TO(VERBS_KEY_INVALIDATED) | TO(VERBS_KEY_UNBINDING) | TO(VERBS_KEY_FREE))                \
	X(VERBS_KEY_OUTRUN, "outrun", "its bind to complete, invalidated by the peer before that", \
	  TO(VERBS_KEY_INVALIDATED) | TO(VERBS_KEY_UNBINDING) | TO(VERBS_KEY_LEFT))                \
	X(VERBS_KEY_INVALIDATED, "invalidated", "its owner to take it back",                       \
	  TO(VERBS_KEY_UNBINDING) | TO(VERBS_KEY_FREE))                                            \
	X(VERBS_KEY_UNBINDING, "unbinding", "to be out of the peer's reach: unbound() is due",     \
	  TO(VERBS_KEY_FREE))                                                                      \
	X(VERBS_KEY_LEFT, "left", "its bind to complete, given back to its owner before that",     \
	  TO(VERBS_KEY_FREE))
STATE_ENUM(verbs_key_state, VERBS_KEY_STATES);
extern const struct state_table verbs_key_states;

/* A key that is lent: a window, or a region. */
struct verbs_key {
	enum verbs_key_state state;
	struct verbs_key *next_free;
	struct fabric_key *key; /* NULL: free, or left by its owner */
	struct verbs_ep *ep;    /* that lends it, unless it is free */
	struct verbs_domain *domain;
	struct ibv_mw *mw;
	struct ibv_mr *mr; /* the region lent, or the one behind a window that needs its own */
	uint32_t window_rkey;
	struct fabric_wr bind, inv;
	struct verbs_command command; /* that frees mw and mr: */
	bool releasing;
};

/**
 * verbs_domain_new - make a domain on @device; what it has of the device its thread allocates, when it is needed
 *
 * Returns NULL without memory.
 */
struct verbs_domain *verbs_domain_new(struct verbs_device *device);
/** verbs_domain_fini - have free windows, registrations and the protection domain freed, and the domain with them. */
void verbs_domain_fini(struct verbs_domain *domain);
/** verbs_domain_pd - return the protection domain, or NULL: errno tells. On the device's thread. */
struct ibv_pd *verbs_domain_pd(struct verbs_domain *domain);
/**
 * verbs_domain_get - give an endpoint, whose device and peer are known, its domain
 *
 * Which one it is, the device and verbs_config.domain_of decide; see Memory above. Returns 0 or -ENOMEM.
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
/**
 * verbs_domains_age - free windows of @device that nobody has been lent in a whole period, some of them
 * @period_over: a period ends now, and the next one begins
 *
 * As many as are allocated ahead stay. Returns whether there are more to free, so that this is to be called again after a pause.
 */
bool verbs_domains_age(struct verbs_device *device, bool period_over) MUST_CHECK;

/** verbs_domain_spare - return how many windows are allocated ahead for @domain. */
static inline unsigned verbs_domain_spare(const struct verbs_domain *domain)
{
	return domain->eps < VERBS_WINDOWS_SPARE / VERBS_WINDOWS_EP ? domain->eps * VERBS_WINDOWS_EP
								    : VERBS_WINDOWS_SPARE;
}

#endif
