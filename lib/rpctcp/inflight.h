/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchanges that a TCP leg takes part in: Calls of its peer, and Calls to it. */
#ifndef RPCTCP_INFLIGHT_H
#define RPCTCP_INFLIGHT_H

#include "leg/exchange.h"

struct inflight {
	struct leg *leg;
	/* Calls of the peer: complete or given up as they come, and not yet wholly answered. */
	struct xid_table in;
	struct exchange_list in_list;
	/* Calls to the peer, and those that failed before they were sent. */
	struct xid_table out;
	struct exchange_list out_list, faulted;
};

/** inflight_init - nothing is in flight on @leg. */
void inflight_init(struct inflight *flight, struct leg *leg);
/** inflight_fini - free the tables, after inflight_release(). */
void inflight_fini(struct inflight *flight);
/** inflight_release - let go of every exchange; whoever else holds one keeps it. */
void inflight_release(struct inflight *flight);
/** inflight_is_idle - whether no RPC is in flight, either way. */
bool inflight_is_idle(const struct inflight *flight);

/** inflight_in_add - add a Call of the peer; its reference is kept. Returns as xid_table_add(). */
static inline int MUST_CHECK inflight_in_add(struct inflight *flight, struct exchange *x)
{
	int rc = xid_table_add(&flight->in, x);

	if (rc)
		return rc;
	TAILQ_INSERT_TAIL(&flight->in_list, x, origin_entry);
	x->origin = flight->leg;
	return 0;
}
/** inflight_in_end - it is answered or cut: remove it, and put the reference. */
static inline void inflight_in_end(struct inflight *flight, struct exchange *x)
{
	TAILQ_REMOVE(&flight->in_list, x, origin_entry);
	xid_table_remove(&flight->in, x);
	x->origin = NULL;
	exchange_put(x);
}

/** inflight_out_add - add a Call to the peer; the reference is kept. Returns as xid_table_add(). */
static inline int MUST_CHECK inflight_out_add(struct inflight *flight, struct exchange *x)
{
	int rc = xid_table_add(&flight->out, x);

	if (rc)
		return rc;
	TAILQ_INSERT_TAIL(&flight->out_list, x, target_entry);
	x->target = flight->leg;
	return 0;
}
/** inflight_out_take - remove it, and hand over the reference that was kept. */
static inline void inflight_out_take(struct inflight *flight, struct exchange *x)
{
	TAILQ_REMOVE(&flight->out_list, x, target_entry);
	xid_table_remove(&flight->out, x);
	x->target = NULL;
}
/** inflight_out_fault - keep one that could not be added, with its reference, until it is taken. */
void inflight_out_fault(struct inflight *flight, struct exchange *x);
/** inflight_fault_take - take the first of those, with its reference; NULL if there is none. */
struct exchange *inflight_fault_take(struct inflight *flight);

#endif
