/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protection domains, with the slabs registered and the memory windows free in each.
 *
 * What a peer can reach, and through which connection:
 *
 *	device                    domain         an exposed key            a Read's sink
 *	IB, RoCE with windows     of the worker  window on this QP         the slab's lkey
 *	IB, RoCE without windows  of the peer    region, exact bounds      the slab's lkey
 *	iWARP                     of the peer    window or such a region   region, exact bounds
 *
 * A peer's domain covers all connections of one worker with the peer's address. So another user of
 * that host who guesses the key of a region reaches memory that is exposed to the host for an RPC
 * in flight. VERBS_PD_CONNECTION prevents that, but each connection then registers each slab that
 * it uses. With VERBS_PD_WORKER any peer of the worker that guesses a key reaches such memory.
 *
 * The kernel's rxe checks accesses through a window against the bounds of the region below it, not
 * of the window (seen on Linux 6.1): there each window has its own region of exact bounds.
 *
 * The kernel's siw answers a Read of any region in the domain, whatever its rights (seen on Linux
 * 6.1): there only the secrecy of a slab's key protects it. While memory is exposed for writing,
 * the peer can read it there too.
 *
 * A device does not report which bytes a peer has written. So memory whose key the peer learns for
 * writing, including a Read's sink on iWARP, is cleared first, unless the same connection exposed
 * it last (buf_expose()).
 *
 * A slab is never registered with remote rights. A type 2 window is valid on its queue pair only. A
 * region with remote rights exists only as long as its RPC, in the domain of the peer, where no
 * other peer reaches it. Not every device lets the peer invalidate a region, so remote invalidation
 * is offered with windows only.
 */
#ifndef FABRIC_VERBS_PD_H
#define FABRIC_VERBS_PD_H

#include "fabric/verbs/verbs_ep.h"

#define VERBS_WINDOWS_EP    16u  /* free windows that a domain keeps for each endpoint, … */
#define VERBS_WINDOWS_SPARE 256u /* … and its maximum */
#define VERBS_WINDOWS_AGED  32u  /* unneeded windows freed in one call */

/* Windows being allocated for a domain, in one command. */
struct verbs_window_batch {
	struct verbs_command command;
	unsigned wanted; /* 0: none are being allocated */
	bool none_left;  /* the device had no window left */
	struct verbs_key *windows;
};

/* A protection domain. */
struct verbs_pd {
	struct verbs_device *device;
	/* Owned by the device's thread, which allocates it: verbs_pd_alloc(). */
	struct ibv_pd *pd;
	struct verbs_command command;
	struct slab_domain slabs;
	/* Endpoints whose work needs a slab that is being registered. */
	TAILQ_HEAD(, verbs_ep) awaits_slab;
	struct verbs_key *free_windows;
	unsigned nfree_windows;
	/*
	 * Minimum of nfree_windows in this period; surplus of the last period, being freed:
	 * verbs_pds_age().
	 */
	unsigned idle_windows, surplus_windows;
	struct verbs_window_batch batch;
	/* Unless it is the worker's domain: */
	LIST_ENTRY(verbs_pd) entry;
	struct in6_addr peer; /* all zero: the domain of one connection */
	uint32_t scope_id;    /* scope of a link-local address */
	unsigned eps;
};

/*
 * The states of a key. A work request binds a window; its completion can be polled after the peer
 * has invalidated the key, or after the owner has unbound it. The window must not be reused before
 * that work request has completed. A region is registered and deregistered by system calls.
 */
#define VERBS_KEY_STATES(X)                                                                        \
	X(VERBS_KEY_FREE, "free", "to be exposed", TO(VERBS_KEY_BINDING) | TO(VERBS_KEY_EXPOSED))  \
	X(VERBS_KEY_BINDING, "binding", "its bind to complete",                                    \
	  TO(VERBS_KEY_EXPOSED) | TO(VERBS_KEY_INVALIDATED_EARLY) | TO(VERBS_KEY_UNBINDING) |      \
		  TO(VERBS_KEY_ORPHANED))                                                          \
	X(VERBS_KEY_EXPOSED, "exposed", "its owner to unbind it",                                  \
	  TO(VERBS_KEY_INVALIDATED) | TO(VERBS_KEY_UNBINDING) | TO(VERBS_KEY_FREE))                \
	X(VERBS_KEY_INVALIDATED_EARLY, "invalidated early",                                        \
	  "its bind to complete; the peer has already invalidated it",                             \
	  TO(VERBS_KEY_INVALIDATED) | TO(VERBS_KEY_UNBINDING) | TO(VERBS_KEY_ORPHANED))            \
	X(VERBS_KEY_INVALIDATED, "invalidated", "its owner to unbind it",                          \
	  TO(VERBS_KEY_UNBINDING) | TO(VERBS_KEY_FREE))                                            \
	X(VERBS_KEY_UNBINDING, "unbinding", "the peer's access to end: unbound() is due",          \
	  TO(VERBS_KEY_FREE))                                                                      \
	X(VERBS_KEY_ORPHANED, "orphaned",                                                          \
	  "its bind to complete; its owner has already unbound it", TO(VERBS_KEY_FREE))
STATE_ENUM(verbs_key_state, VERBS_KEY_STATES);
extern const struct state_table verbs_key_states;

/* A key that exposes memory: a window or a region. */
struct verbs_key {
	enum verbs_key_state state;
	struct verbs_key *next_free;
	struct fabric_key *key; /* NULL: free, or unbound by its owner */
	struct verbs_ep *ep;    /* its endpoint; not valid while free */
	struct verbs_pd *domain;
	struct ibv_mw *mw;
	struct ibv_mr *mr; /* the exposed region, or the region below a window that needs its own */
	uint32_t window_rkey;
	struct fabric_wr bind, inv;
	struct verbs_command command; /* frees mw and mr: */
	bool releasing;
};

/**
 * verbs_pd_new - Creates a domain on @device; the device's thread allocates its protection
 * domain when needed.
 *
 * Returns NULL without memory.
 */
struct verbs_pd *verbs_pd_new(struct verbs_device *device);
/**
 * verbs_pd_fini - Frees the windows, registrations and protection domain by commands, and then
 * the domain.
 */
void verbs_pd_fini(struct verbs_pd *domain);
/** verbs_pd_alloc - Returns the protection domain, or NULL with errno; on the device's thread. */
struct ibv_pd *verbs_pd_alloc(struct verbs_pd *domain);
/**
 * verbs_pd_get - Assigns a domain to an endpoint whose device and peer are known.
 *
 * The device and verbs_config.pd_scope select it; see above. Returns 0 or -ENOMEM.
 */
int verbs_pd_get(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_pd_put - Releases the endpoint's domain; the last endpoint of a peer's domain frees it.
 * Accepts an endpoint without one.
 */
void verbs_pd_put(struct verbs_ep *ep);
/**
 * verbs_slab_mr - Returns the registration of @buf's slab for local use in the endpoint's domain,
 * or NULL.
 *
 * errno is EINPROGRESS while the slab is being registered. Then the post_task of the endpoint, or
 * its step_task before it is up, runs again afterwards. Any other errno is the reason of a failed
 * registration.
 */
struct ibv_mr *verbs_slab_mr(struct verbs_ep *ep, struct buf *buf);
/** verbs_slab_wait_cancel - Ends the endpoint's wait for a slab. */
void verbs_slab_wait_cancel(struct verbs_ep *ep);
/** verbs_expose - Clears other connections' data in memory to be exposed to the peer. */
void verbs_expose(struct verbs_ep *ep, struct buf *buf, uint8_t *mem, uint32_t len_bytes);
/** verbs_pds_free_windows - Frees the unused windows of @device. Returns true if it had any. */
bool verbs_pds_free_windows(struct verbs_device *device);
/**
 * verbs_pds_age - Frees some of the windows of @device that were unused for a whole period.
 * @period_over: true: a period ends now, and the next one begins
 *
 * The windows allocated ahead stay. Returns true if more remain: call it again after a pause.
 */
bool verbs_pds_age(struct verbs_device *device, bool period_over) MUST_CHECK;

/** verbs_pd_spare_windows - Returns the number of windows to allocate ahead for @domain. */
static inline unsigned verbs_pd_spare_windows(const struct verbs_pd *domain)
{
	return domain->eps < VERBS_WINDOWS_SPARE / VERBS_WINDOWS_EP ? domain->eps * VERBS_WINDOWS_EP
								    : VERBS_WINDOWS_SPARE;
}

#endif
