/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits limit the Calls in flight, on the requester's and on the responder's side
 * (draft-ietf-nfsv4-rpcrdma-03 section 3.3; the same for reverse Calls, A3.3-9, D2.1.2-1). Pure
 * arithmetic.
 */
#ifndef RPCRDMA_CREDITS_H
#define RPCRDMA_CREDITS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/minmax.h"

/**
 * credit_at_least_one - Returns @n, or 1 for 0, which is not a valid number of credits (A3.3-3).
 */
static inline uint32_t credit_at_least_one(uint32_t n)
{
	return n ? n : 1;
}

/* The requester's side. */
struct credit_window {
	uint32_t asked;     /* requested in each Call; a larger grant is cut to this */
	uint32_t granted;   /* by the last Reply, possibly 0; 1 before the first Reply */
	uint32_t in_flight; /* unanswered Calls */
	uint32_t reserved;  /* credits reserved for NULL Calls, if more than one is granted */
	uint32_t reserved_control; /* … and for a control message that waits: 0 or 1 */
};

/**
 * credit_window_init - Initializes the window of a new connection, which requests @asked credits
 * (at least 1).
 */
void credit_window_init(struct credit_window *window, uint32_t asked);
/**
 * credit_window_value - Returns how many Calls can be in flight. After a grant of zero the
 * requester waits for a Reply that grants more. If nothing is in flight, no Reply will arrive, so
 * zero then counts as one (A3.3-11).
 */
static inline uint32_t credit_window_value(const struct credit_window *window)
{
	return window->granted || window->in_flight ? window->granted : 1;
}
/**
 * credit_window_open - Returns true if another Call can be sent (A3.3-4) without using a reserved
 * credit.
 */
static inline bool credit_window_open(const struct credit_window *window)
{
	uint32_t granted = window->granted;

	if (!granted)
		return !window->in_flight;
	/* The last credit is never reserved, or nothing could be sent. */
	return window->in_flight <
	       granted - min_u32(window->reserved + window->reserved_control, granted - 1);
}
/**
 * credit_window_has_credit - Returns true if any credit is left, reserved ones included: for NULL
 * Calls.
 */
static inline bool credit_window_has_credit(const struct credit_window *window)
{
	return window->in_flight < credit_window_value(window);
}
/** credit_window_consume - Uses a credit for a Call. */
static inline void credit_window_consume(struct credit_window *window)
{
	window->in_flight++;
}
/** credit_window_release - Releases the credit of a Call that has ended. */
static inline void credit_window_release(struct credit_window *window)
{
	assert(window->in_flight > 0);
	window->in_flight--;
}
/**
 * credit_window_grant - Obeys the grant of a Reply (A3.3-5). Zero counts as one (A3.3-3). A grant
 * of more credits than requested counts as the number requested. Returns false if it was zero.
 */
bool credit_window_grant(struct credit_window *window, uint32_t granted);
/**
 * credit_window_lower - Obeys the grant of an RDMA_ERROR if it is smaller than the last one. RFC
 * 8166 section 3.3.1 requires a grant in every message of a responder. Some responders echo the
 * request and some send zero, so larger grants and zero are ignored.
 */
void credit_window_lower(struct credit_window *window, uint32_t granted);
/** credit_window_block - Obeys a grant of zero in a dialect where zero blocks Calls (A3.3-11). */
void credit_window_block(struct credit_window *window);

/* The responder's side. */
struct credit_grant {
	uint32_t max;       /* upper limit of the grant */
	uint32_t requested; /* by the last message */
	uint32_t granted;   /* largest grant so far: as many Receives are posted */
	uint32_t in_flight; /* unanswered Calls */
	uint32_t used;      /* Calls received since the grant grew */
	/* exposed Replies; each can cause an RDMA_DONE in addition to the Calls (A3.8-4) */
	uint32_t exposed;
};

/**
 * credit_grant_init - Initializes a grant of @first that grows with use up to @max; both at least
 * 1.
 */
void credit_grant_init(struct credit_grant *grant, uint32_t first, uint32_t max);
/** credit_grant_call - Accounts for a received Call that requested @requested credits. */
void credit_grant_call(struct credit_grant *grant, uint32_t requested);
/**
 * credit_grant_request - Records a request of @requested credits in a message other than a Call.
 */
void credit_grant_request(struct credit_grant *grant, uint32_t requested);
/** credit_grant_done - Accounts for a Call that is being answered. */
static inline void credit_grant_done(struct credit_grant *grant)
{
	assert(grant->in_flight > 0);
	grant->in_flight--;
}
/**
 * credit_grant_may_expose - Returns true if another Reply can be exposed: at most as many as
 * credits (A3.8-5).
 */
bool credit_grant_may_expose(const struct credit_grant *grant);
/** credit_grant_expose - Accounts for a Reply that is being exposed. */
void credit_grant_expose(struct credit_grant *grant);
/** credit_grant_invalidated - Accounts for an exposed Reply that has been invalidated. */
void credit_grant_invalidated(struct credit_grant *grant);
/** credit_grant_value - Returns the grant for the next Reply: never zero, at most `granted`. */
static inline uint32_t credit_grant_value(const struct credit_grant *grant)
{
	return min_u32(grant->granted, credit_at_least_one(grant->requested));
}

#endif
