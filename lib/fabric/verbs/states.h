/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a verbs endpoint and of a key that it lends, and what each of them allows. */
#ifndef FABRIC_VERBS_STATES_H
#define FABRIC_VERBS_STATES_H

#include <stdbool.h>

#include "base/state.h"

/*
 * An endpoint.
 *
 *	connecting   RESOLVING -> OPENING -> CONNECTING -> OPEN
 *	accepting    ADOPTED -> REQUESTED -> ACCEPTING -> ACCEPTED -> OPEN
 *	closing      OPEN -> DRAINING -> DISCONNECTING -> DYING -> BURYING -> CLOSED
 *	failing      any -> DYING -> BURYING -> CLOSED
 *
 * On the way to DYING an endpoint may have to wait: in ABANDONED, because the kernel's iWARP manager lets
 * nobody disconnect or destroy what it is setting up; in RETURNING, because a thread still uses its id or its queues.
 */
#define VERBS_EP_STATES(X)                                                                         \
	X(VERBS_RESOLVING, "resolving", "an address, its device, then a route",                    \
	  TO(VERBS_OPENING) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                               \
	X(VERBS_OPENING, "opening", "its queues to be created, and receives to be posted",         \
	  TO(VERBS_CONNECTING) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                            \
	X(VERBS_CONNECTING, "connecting", "the peer's answer",                                     \
	  TO(VERBS_OPEN) | TO(VERBS_ABANDONED) | TO(VERBS_RETURNING) | TO(VERBS_DYING))            \
	X(VERBS_ADOPTED, "adopted", "its device, to tell of the peer's request",                   \
	  TO(VERBS_REQUESTED) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                             \
	X(VERBS_REQUESTED, "requested", "to be accepted or rejected",                              \
	  TO(VERBS_ACCEPTING) | TO(VERBS_DYING))                                                   \
	X(VERBS_ACCEPTING, "accepting",                                                            \
	  "its queues to be created, receives to be posted and the accept to be sent",             \
	  TO(VERBS_ACCEPTED) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                              \
	X(VERBS_ACCEPTED, "accepted", "the peer to confirm",                                       \
	  TO(VERBS_OPEN) | TO(VERBS_ABANDONED) | TO(VERBS_RETURNING) | TO(VERBS_DYING))            \
	X(VERBS_OPEN, "open", "its end",                                                           \
	  TO(VERBS_FLUSHED) | TO(VERBS_DRAINING) | TO(VERBS_RETURNING) | TO(VERBS_DYING))          \
	X(VERBS_FLUSHED, "flushed", "the event that tells why work was flushed, for a while",      \
	  TO(VERBS_DRAINING) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                              \
	X(VERBS_DRAINING, "draining", "what was posted to be sent, for a while",                   \
	  TO(VERBS_DISCONNECTING) | TO(VERBS_RETURNING) | TO(VERBS_DYING))                         \
	X(VERBS_DISCONNECTING, "disconnecting", "the end of the connection, for a while",          \
	  TO(VERBS_RETURNING) | TO(VERBS_DYING))                                                   \
	X(VERBS_ABANDONED, "abandoned", "the end of its iWARP set-up, for a while",                \
	  TO(VERBS_RETURNING) | TO(VERBS_DYING))                                                   \
	X(VERBS_RETURNING, "returning", "a thread to come back", TO(VERBS_DYING))                  \
	X(VERBS_DYING, "dying", "a task, to bury it", TO(VERBS_BURYING))                           \
	X(VERBS_BURYING, "burying", "its queue pair and its id to be destroyed", TO(VERBS_CLOSED)) \
	X(VERBS_CLOSED, "closed", "to be freed", 0)
STATE_ENUM(verbs_ep_state, VERBS_EP_STATES);
extern const struct state_table verbs_ep_states;

/*
 * A key. A window is bound by a work request, whose completion may be seen after the peer has invalidated the
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

/* What the connection manager is owed by an endpoint that ends. */
enum verbs_parting {
	VERBS_PART_SILENTLY,   /* nothing is under way */
	VERBS_PART_REJECT,     /* the peer's request is unanswered */
	VERBS_PART_DISCONNECT, /* there is, or may be, a connection */
	VERBS_PART_ABANDON,    /* it must be waited for */
};

/** verbs_parting - how an endpoint ends that did not hear from the manager that its set-up is over. */
enum verbs_parting verbs_parting(enum verbs_ep_state state, bool iwarp);

/** verbs_state_up - work may be posted and keys lent. */
static inline bool verbs_state_up(enum verbs_ep_state state)
{
	return state == VERBS_OPEN || state == VERBS_FLUSHED;
}

/** verbs_state_sends - what was posted leaves. */
static inline bool verbs_state_sends(enum verbs_ep_state state)
{
	return verbs_state_up(state) || state == VERBS_DRAINING;
}

/** verbs_state_polls - completions are taken. */
static inline bool verbs_state_polls(enum verbs_ep_state state)
{
	return verbs_state_sends(state) || state == VERBS_DISCONNECTING;
}

/** verbs_state_over - its end is decided; nothing changes the reason any more. */
static inline bool verbs_state_over(enum verbs_ep_state state)
{
	return state >= VERBS_ABANDONED;
}

#endif
