/* SPDX-License-Identifier: BSD-3-Clause */
/* The RPCs in flight on a TCP leg: Calls of its peer, and Calls to it. */
#ifndef RPCTCP_INFLIGHT_H
#define RPCTCP_INFLIGHT_H

#include "leg/exchange.h"

struct inflight {
	struct leg *leg;
	/*
	 * Calls of the peer that are complete, or delivered in parts, and not completely answered
	 * yet.
	 */
	struct xid_table in;
	struct exchange_list in_list;
	/* Calls to the peer, and those that failed before they were sent. */
	struct xid_table out;
	struct exchange_list out_list, faulted;
};

/** inflight_init - Initializes empty tables for @leg. */
void inflight_init(struct inflight *flight, struct leg *leg);
/** inflight_fini - Frees the tables after inflight_release(). */
void inflight_fini(struct inflight *flight);
/** inflight_release - Drops every exchange; other references keep it. */
void inflight_release(struct inflight *flight);
/** inflight_is_idle - Returns whether no RPC is in flight in either direction. */
bool inflight_is_idle(const struct inflight *flight);

/**
 * inflight_in_add - Adds a Call of the peer and keeps its reference. Returns as xid_table_add().
 */
static inline int MUST_CHECK inflight_in_add(struct inflight *flight, struct exchange *x)
{
	int rc = xid_table_add(&flight->in, x);

	if (rc)
		return rc;
	TAILQ_INSERT_TAIL(&flight->in_list, x, origin_entry);
	x->origin = flight->leg;
	return 0;
}
/** inflight_in_end - Removes a Call that was answered or cut off, and drops its reference. */
static inline void inflight_in_end(struct inflight *flight, struct exchange *x)
{
	TAILQ_REMOVE(&flight->in_list, x, origin_entry);
	xid_table_remove(&flight->in, x);
	x->origin = NULL;
	exchange_put(x);
}

/**
 * inflight_out_add - Adds a Call to the peer and keeps the reference. Returns as xid_table_add().
 */
static inline int MUST_CHECK inflight_out_add(struct inflight *flight, struct exchange *x)
{
	int rc = xid_table_add(&flight->out, x);

	if (rc)
		return rc;
	TAILQ_INSERT_TAIL(&flight->out_list, x, target_entry);
	x->target = flight->leg;
	return 0;
}
/** inflight_out_remove - Removes @x, whose reference now belongs to the caller. */
static inline void inflight_out_remove(struct inflight *flight, struct exchange *x)
{
	TAILQ_REMOVE(&flight->out_list, x, target_entry);
	xid_table_remove(&flight->out, x);
	x->target = NULL;
}
/**
 * inflight_out_fault - Keeps a Call that could not be added, with its reference, until
 * inflight_fault_pop().
 */
void inflight_out_fault(struct inflight *flight, struct exchange *x);
/**
 * inflight_fault_pop - Removes the first Call of inflight_out_fault() and returns it with its
 * reference; NULL if none.
 */
struct exchange *inflight_fault_pop(struct inflight *flight);

#endif
