/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits: how many Calls may be in flight, as the requester counts them and as the responder does
 * (draft-ietf-nfsv4-rpcrdma-03 section 3.3; the same for reverse Calls, A3.3-9, D2.1.2-1). Pure
 * arithmetic.
 */
#ifndef RPCRDMA_CREDITS_H
#define RPCRDMA_CREDITS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/least.h"

/** credit_at_least_one - return @n; 1 for 0, which is no number of credits (A3.3-3). */
static inline uint32_t credit_at_least_one(uint32_t n)
{
	return n ? n : 1;
}

/* The requester's side. */
struct credit_window {
	uint32_t asked; /* told to the peer in each Call; no grant counts for more */
	uint32_t
		granted; /* by the last Reply, where that may be 0; 1 until then: the first Call goes alone */
	uint32_t in_flight; /* Calls sent and not answered */
	uint32_t reserved;  /* of several granted, kept back for Calls of our own */
	uint32_t waited;    /* … and for messages of our own that wait: 0 or 1 */
};

/** credit_window_init - a new connection's window, which asks for @asked (at least 1). */
void credit_window_init(struct credit_window *window, uint32_t asked);
/**
 * credit_window_value - how many Calls may be in flight: what was granted
 *
 * A grant of zero says to wait for a Reply that grants more. With nothing in flight none would come, so it counts as
 * one then (A3.3-11), whatever ended the last one.
 */
static inline uint32_t credit_window_value(const struct credit_window *window)
{
	return window->granted || window->in_flight ? window->granted : 1;
}
/** credit_window_open - whether another Call may be sent (A3.3-4), and none of those kept back is taken for it. */
static inline bool credit_window_open(const struct credit_window *window)
{
	uint32_t granted = window->granted;

	if (!granted)
		return !window->in_flight;
	/* The last one is never kept back: nothing would be sent. */
	return window->in_flight < granted - least(window->reserved + window->waited, granted - 1);
}
/** credit_window_left - whether there is a credit at all: for a Call of our own. */
static inline bool credit_window_left(const struct credit_window *window)
{
	return window->in_flight < credit_window_value(window);
}
/** credit_window_take - a Call is sent. */
static inline void credit_window_take(struct credit_window *window)
{
	window->in_flight++;
}
/** credit_window_give - a Call in flight has come to its end. */
static inline void credit_window_give(struct credit_window *window)
{
	assert(window->in_flight > 0);
	window->in_flight--;
}
/**
 * credit_window_grant - obey the grant of a Reply (A3.3-5)
 *
 * Zero is taken as one (A3.3-3), more than was asked as what was asked. Returns false if it was
 * zero.
 */
bool credit_window_grant(struct credit_window *window, uint32_t granted);
/**
 * credit_window_lower - obey the grant of an RDMA_ERROR, if it is smaller than the last one
 *
 * RFC 8166 section 3.3.1 has it in all that a responder sends. But some echo what was asked, and some send zero, so
 * neither more nor nothing counts.
 */
void credit_window_lower(struct credit_window *window, uint32_t granted);
/** credit_window_stop - obey a grant of zero that says to wait (A3.3-11). */
void credit_window_stop(struct credit_window *window);

/* The responder's side. */
struct credit_grant {
	uint32_t max;       /* never grants more */
	uint32_t requested; /* by the last Call */
	uint32_t granted;   /* most that was ever granted: receives are posted for as many */
	uint32_t in_flight; /* Calls received and not answered */
	uint32_t used;      /* Calls received since the grant last grew */
	uint32_t lent; /* Replies lent: of each an RDMA_DONE may come beside the Calls (A3.8-4) */
};

/** credit_grant_init - grant @first at first and grow with use up to @max; both at least 1. */
void credit_grant_init(struct credit_grant *grant, uint32_t first, uint32_t max);
/** credit_grant_call - a Call has come, which requested @requested. */
void credit_grant_call(struct credit_grant *grant, uint32_t requested);
/** credit_grant_ask - a message that is no Call has requested @requested. */
void credit_grant_ask(struct credit_grant *grant, uint32_t requested);
/** credit_grant_done - a Call is about to be answered. */
static inline void credit_grant_done(struct credit_grant *grant)
{
	assert(grant->in_flight > 0);
	grant->in_flight--;
}
/** credit_grant_may_lend - whether another Reply may be lent: no more at once than ever were granted (A3.8-5). */
bool credit_grant_may_lend(const struct credit_grant *grant);
/** credit_grant_lend - a Reply is about to be lent. */
void credit_grant_lend(struct credit_grant *grant);
/** credit_grant_taken_back - a Reply that was lent is lent no more. */
void credit_grant_taken_back(struct credit_grant *grant);
/** credit_grant_value - what to write into a Reply: never zero, never above granted. */
static inline uint32_t credit_grant_value(const struct credit_grant *grant)
{
	return least(grant->granted, credit_at_least_one(grant->requested));
}

#endif
