/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection limits of a service, and which connection is evicted when a limit is reached.
 *
 *	half_open    accepted, no server chosen yet. Has a limit of its own; past it the oldest is evicted
 *	has_call     like half_open, but the client has sent a Call. Is not evicted for others
 *	connecting ┐
 *	idle       ├ count against max_connections. At that limit the oldest idle connection is evicted,
 *	active     ┘ or else a half-closed one
 *	tarpit       rejected, but still open: at most DOOR_HELD_MAX; past it the oldest is closed at once
 *
 * A connection is half-closed once its client has ended its sending side. The proxy cannot know whether the client is
 * gone or waits for Replies, so the connection stays. When the service or the client's address needs space for another
 * connection, the half-closed connection with the oldest unanswered Call is evicted, if that Call has waited for
 * DOOR_HALF_CLOSED_US.
 *
 * Each connection has a slot from the main thread's accept() until the connection is gone. The thread that owns the
 * connection reports its state changes; any thread can evict it. An evicted connection stops counting immediately, so
 * the connection that replaces it never exceeds a limit. It goes onto a list of its own thread, which is woken to close
 * it.
 *
 * The lock is taken about five times in the life of a connection, for a few stores each.
 */
#ifndef DAEMON_SERVICE_DOOR_H
#define DAEMON_SERVICE_DOOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/state.h"
#include "daemon/base/min_heap.h"
#include "daemon/config/config.h"
#include "daemon/service/client_counts.h"
#include "leg/leg.h"

#define DOOR_HALF_OPEN_MIN 64u /* half-open connections: this many, or max_connections if larger */
#define DOOR_PATIENCE_US   100000u /* a half-open connection is not evicted before this */
#define DOOR_HELD_MAX      256u
#define DOOR_HOLD_US       500000u /* how long a rejected connection stays open */
#define DOOR_HALF_CLOSED_US                                                                        \
	5000000u /* a half-closed connection is not evicted while its oldest Call is younger */

#define GUEST_STATES(X)                                                                            \
	X(GUEST_HALF_OPEN, "half_open", "the first Call, or the choice of a server",               \
	  TO(GUEST_CALLED) | TO(GUEST_SOUGHT) | TO(GUEST_HELD) | TO(GUEST_EXPELLED) |              \
		  TO(GUEST_SUPERSEDED))                                                            \
	X(GUEST_CALLED, "has_call", "the choice of a server",                                      \
	  TO(GUEST_SOUGHT) | TO(GUEST_HELD) | TO(GUEST_SUPERSEDED))                                \
	X(GUEST_SOUGHT, "connecting", "the connection to the server",                              \
	  TO(GUEST_FRESH) | TO(GUEST_CARRIES) | TO(GUEST_HELD) | TO(GUEST_EXPELLED) |              \
		  TO(GUEST_SUPERSEDED))                                                            \
	X(GUEST_FRESH, "idle", "the first Call",                                                   \
	  TO(GUEST_CARRIES) | TO(GUEST_HELD) | TO(GUEST_EXPELLED) | TO(GUEST_SUPERSEDED))          \
	X(GUEST_CARRIES, "active", "the end of the connection",                                    \
	  TO(GUEST_HELD) | TO(GUEST_EXPELLED) | TO(GUEST_SUPERSEDED))                              \
	X(GUEST_HELD, "tarpit", "the end of the delay", TO(GUEST_EXPELLED))                        \
	X(GUEST_EXPELLED, "evicted", "its thread to close it",                                     \
	  TO(GUEST_HELD) | TO(GUEST_SUPERSEDED))                                                   \
	X(GUEST_SUPERSEDED, "superseded", "the end of the connection", 0)
STATE_ENUM(guest_state, GUEST_STATES);
#define GUEST_STATES_COUNT (GUEST_SUPERSEDED + 1u)
extern const struct state_table guest_states;

struct guest {
	TAILQ_ENTRY(guest) link;
	struct door *door;
	struct door_side *side;
	void *owner; /* on its thread; NULL: not handed over yet */
	struct state state;
	bool carried; /* its client has sent a Call */
	uint64_t
		waits_us; /* half-closed: when its oldest unanswered Call arrived; 0: not evictable */
	/* Linked while it counts and oldest_call_us is set: in the heaps of the service and of its client. */
	struct heap_node waits, client_waits;
	bool listed;        /* in the list of its state; not after door_expelled() returned it */
	enum leg_close why; /* if evicted */
	struct client_count *client;
};
TAILQ_HEAD(guest_list, guest);

/* The evicted connections of one thread. */
struct door_side {
	struct guest_list expelled;
	void (*wake)(void *arg); /* called from any thread when door_expelled() has a connection */
	void *arg;
};

struct door {
	pthread_mutex_t lock; /* guards what follows, and the slots */
	const struct service_config *config;
	struct guest_list lists[GUEST_STATES_COUNT]; /* oldest first */
	unsigned counts[GUEST_STATES_COUNT];
	struct min_heap half_closed; /* slots by oldest_call_us */
	struct client_counts clients;
};

/* Numbers of connections. */
struct door_counts {
	unsigned half_open, seated, held;
};

/** door_init - Initializes the limits, without connections. Returns 0 or -ENOMEM. */
int door_init(struct door *door, const struct service_config *config) MUST_CHECK;
/** door_fini - Frees the limits after the last slot was freed. Accepts an all-zero @limits. */
void door_fini(struct door *door);
/** door_side_init - Initializes the list of one thread. Without @wake the thread polls door_expelled() itself. */
void door_side_init(struct door_side *side, void (*wake)(void *arg), void *arg);

/* ---- main thread ---- */

/**
 * door_has_room - Returns whether a connection can be accepted now
 *
 * Returns false while half-open connections are at their limit and the oldest is younger than DOOR_PATIENCE_US. Then
 * connections wait in the kernel's queue.
 */
bool door_has_room(struct door *door, uint64_t now_us);
/**
 * door_enter - Counts a new connection
 * @side:   the thread that will own it
 * @now_us: of the main thread's loop
 * @why:    set on failure
 *
 * If the client's address is at its limit, evicts the half-closed connection of that address that has waited longest.
 * Returns the slot, half-open; or NULL with LEG_CLOSE_PER_CLIENT or LEG_CLOSE_RESOURCES.
 */
struct guest *door_enter(struct door *door, struct door_side *side, const struct sockaddr *client,
			 uint64_t now_us, enum leg_close *why) MUST_CHECK;
/** door_enter_held - Counts a rejected connection in the tarpit. Returns its slot, or NULL without memory. */
struct guest *door_enter_held(struct door *door, struct door_side *side, void *owner,
			      uint64_t now_us) MUST_CHECK;
/** door_expel_half_open - Evicts the oldest half-open connection if it is @age_us old. Returns whether it did. */
bool door_expel_half_open(struct door *door, uint64_t now_us, uint64_t age_us);
/** door_expel_half_closed - Evicts the half-closed connection that has waited longest. Returns whether it did. */
bool door_expel_half_closed(struct door *door, uint64_t now_us);

/* ---- the thread that owns the connection ---- */

/** door_may_stay - Returns whether the connection is not evicted; else sets @why. */
bool door_may_stay(struct guest *guest, enum leg_close *why) MUST_CHECK;
/**
 * door_seek - Counts the connection against max_connections, before a server is chosen for it
 *
 * At the limit, evicts the oldest idle connection, or else the half-closed one that has waited longest. Returns false
 * and sets @why if no connection can be evicted, or if this one is.
 */
bool door_seek(struct guest *guest, uint64_t now_us, enum leg_close *why) MUST_CHECK;
/** door_reached - The server is connected: without a Call the connection is now idle. No effect if it is evicted. */
void door_reached(struct guest *guest);
/** door_carry - The client has sent a Call. Returns false if the connection is evicted. */
bool door_carry(struct guest *guest) MUST_CHECK;
/**
 * door_half_closed - The client has ended its sending side, or got a Reply after that
 * @oldest_call_us: when its oldest unanswered Call arrived; 0: no Call is unanswered, so it cannot be evicted
 */
void door_half_closed(struct guest *guest, uint64_t waits_us);
/** door_superseded - The client has reconnected: this connection stops counting while it closes. */
void door_superseded(struct guest *guest);
/** door_hold - Moves a rejected connection to the tarpit; it counts against no other limit any more. */
void door_hold(struct guest *guest);
/** door_leave - The connection is gone: frees its slot. */
void door_leave(struct guest *guest);
/** door_expelled - Returns the next evicted connection of a thread, each once; NULL: no more. */
struct guest *door_expelled(struct door *door, struct door_side *side);

/* ---- any thread ---- */

/** door_counts_get - Gets the numbers of connections. */
void door_counts_get(struct door *door, struct door_counts *counts);

#endif
