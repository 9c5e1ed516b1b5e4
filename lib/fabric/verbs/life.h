/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a verbs endpoint: its state, what leads it on, and how its end is decided. */
#ifndef FABRIC_VERBS_LIFE_H
#define FABRIC_VERBS_LIFE_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_ep_set - the one place that sets a state; the move must be in the table. */
void verbs_ep_set(struct verbs_ep *ep, enum verbs_ep_state state);
/** verbs_ep_die - the connection is over for @why; the end follows from a task. */
void verbs_ep_die(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/** verbs_ep_lost_device - the device of @ep is of no use any more, @what says how: count it, and end the connection. */
void verbs_ep_lost_device(struct verbs_ep *ep, const char *what);
/** verbs_ep_unmade - the same, where the connection manager says itself that nothing is under way any more. */
void verbs_ep_unmade(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/** verbs_ep_end_wait - what an abandoned endpoint waits for has come. */
void verbs_ep_end_wait(struct verbs_ep *ep);
/** verbs_ep_returned - a thread has come back: lead a returning endpoint on. Returns false if it is not returning. */
bool verbs_ep_returned(struct verbs_ep *ep);
/** verbs_ep_disconnect - put the queue pair into error, and disconnect. On the device's thread. Returns 0 or a negative errno. */
int verbs_ep_disconnect(struct verbs_ep *ep);
/** verbs_ep_part - tell the connection manager what a dying endpoint owes it. On a thread that has the id. */
void verbs_ep_part(struct verbs_ep *ep);
/** verbs_ep_timer - the time of a state is up; @ep is a struct verbs_ep. */
void verbs_ep_timer(void *ep);

/**
 * verbs_ep_heard - an acceptor's peer has sent something, so that its confirmation may be late or lost
 *
 * Tells the connection manager, which then says that the connection is established, and waits for the confirmation no longer.
 */
void verbs_ep_heard(struct verbs_ep *ep);
/** verbs_ep_established - the peer is there: tell, once. */
void verbs_ep_established(struct verbs_ep *ep, const void *private_data, size_t len_bytes);
/** verbs_ep_flushed - work was flushed: what caused it says more, and is waited for a little. */
void verbs_ep_flushed(struct verbs_ep *ep);
/** verbs_hear_end - fabric_ep_hear_end(): the manager's events are read, and what caused the flush of work is not waited for. */
void verbs_hear_end(struct fabric_ep *ep);
/** verbs_ep_drain - closed here: what was posted is still sent. */
void verbs_ep_drain(struct verbs_ep *ep);
/** verbs_ep_drained - if everything posted was sent: go on with closing. */
void verbs_ep_drained(struct verbs_ep *ep);

#endif
