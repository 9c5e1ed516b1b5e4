/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door of a service: who of its clients counts against which limit, and who goes when one is reached.
 *
 *	half-open   has come, and no server is sought for it yet: a limit of its own; past it the oldest goes
 *	called      the same, but has given a Call: does not go for others
 *	sought ┐
 *	fresh  ├    max_connections together; the oldest fresh one makes room when that is reached, else a
 *	carries┘    half-closed one
 *	held        is turned away, but not at once: DOOR_HELD_MAX; past it the oldest goes at once
 *
 * A connection is half-closed once its client has ended its sending side. The client may have gone, or may wait for
 * Replies: nothing tells which. So the connection keeps its place. When another connection needs one, of the service or of
 * the client's address, the half-closed one whose oldest unanswered Call is oldest makes room, if that Call has waited
 * for DOOR_HALF_CLOSED_US.
 *
 * A connection has a guest here from the main thread's accept() until it is gone. What becomes of it is told by
 * the thread that it is on; that it must go may be decided on any. One that must go counts nowhere from
 * that moment, so that what takes its place is never one too many. It is put on a list of its own thread, which is
 * woken to end it.
 *
 * The lock is taken when a guest's state changes, some five times in its life, and for a few stores.
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

#define DOOR_HALF_OPEN_MIN 64u     /* half-open ones may be max_connections, or as many as this */
#define DOOR_PATIENCE_US   100000u /* that a half-open one has in any case: later ones wait */
#define DOOR_HELD_MAX      256u
#define DOOR_HOLD_US       500000u /* the shortest connection of a client that is turned away */
#define DOOR_HALF_CLOSED_US                                                                        \
	5000000u /* a half-closed connection keeps its place while its oldest Call is younger */

#define GUEST_STATES(X)                                                                            \
	X(GUEST_HALF_OPEN, "half-open", "its first Call, or its server to be sought",              \
	  TO(GUEST_CALLED) | TO(GUEST_SOUGHT) | TO(GUEST_HELD) | TO(GUEST_EXPELLED) |              \
		  TO(GUEST_SUPERSEDED))                                                            \
	X(GUEST_CALLED, "called", "its server to be sought",                                       \
	  TO(GUEST_SOUGHT) | TO(GUEST_HELD) | TO(GUEST_SUPERSEDED))                                \
	X(GUEST_SOUGHT, "sought", "its server to be reached",                                      \
	  TO(GUEST_FRESH) | TO(GUEST_CARRIES) | TO(GUEST_HELD) | TO(GUEST_EXPELLED) |              \
		  TO(GUEST_SUPERSEDED))                                                            \
	X(GUEST_FRESH, "fresh", "its first Call",                                                  \
	  TO(GUEST_CARRIES) | TO(GUEST_HELD) | TO(GUEST_EXPELLED) | TO(GUEST_SUPERSEDED))          \
	X(GUEST_CARRIES, "carries", "its end",                                                     \
	  TO(GUEST_HELD) | TO(GUEST_EXPELLED) | TO(GUEST_SUPERSEDED))                              \
	X(GUEST_HELD, "held", "a moment to pass", TO(GUEST_EXPELLED))                              \
	X(GUEST_EXPELLED, "expelled", "its thread to end it",                                      \
	  TO(GUEST_HELD) | TO(GUEST_SUPERSEDED))                                                   \
	X(GUEST_SUPERSEDED, "superseded", "to be over", 0)
STATE_ENUM(guest_state, GUEST_STATES);
#define GUEST_STATES_COUNT (GUEST_SUPERSEDED + 1u)
extern const struct state_table guest_states;

struct guest {
	TAILQ_ENTRY(guest) link;
	struct door *door;
	struct door_side *side;
	void *owner; /* on its thread; NULL: nobody has taken it there yet */
	struct state state;
	bool carried;      /* it has given a Call */
	uint64_t waits_us; /* half-closed: when its oldest unanswered Call came; 0: it may stay */
	/* While it has a place and waits_us: among those of the service, and of its client. */
	struct heap_node waits, client_waits;
	bool listed;        /* by its state; not when it is expelled and its thread knows */
	enum leg_close why; /* expelled */
	struct client_count *client;
};
TAILQ_HEAD(guest_list, guest);

/* A thread that guests of the door are on. */
struct door_side {
	struct guest_list expelled;
	void (*wake)(void *arg); /* from any thread: door_expelled() has one */
	void *arg;
};

struct door {
	pthread_mutex_t lock; /* for all that follows, and what guests say of themselves */
	const struct service_config *config;
	struct guest_list lists[GUEST_STATES_COUNT]; /* the oldest first */
	unsigned counts[GUEST_STATES_COUNT];
	struct min_heap half_closed; /* guests by waits_us */
	struct client_counts clients;
};

/* How many there are of each kind. */
struct door_counts {
	unsigned half_open, seated, held;
};

/** door_init - nobody is there. Returns 0 or -ENOMEM. */
int door_init(struct door *door, const struct service_config *config) MUST_CHECK;
/** door_fini - after the last guest has left. Accepts one that is all zero. */
void door_fini(struct door *door);
/** door_side_init - a thread for guests to be on; without @wake it looks by itself. */
void door_side_init(struct door_side *side, void (*wake)(void *arg), void *arg);

/* ---- the main thread's ---- */

/**
 * door_has_room - whether a connection may be accepted now
 *
 * False while the half-open ones are at their limit and not even the oldest has had DOOR_PATIENCE_US: then
 * connections wait in the kernel's queue.
 */
bool door_has_room(struct door *door, uint64_t now_us);
/**
 * door_enter - a connection has come
 * @side:   the thread that it is going to be on
 * @now_us: on the loop of the main thread
 * @why:    set when it is to be turned away
 *
 * Where its address has as many connections as it may, the half-closed one of these that has waited longest makes room.
 * Returns its guest, half-open; or NULL: LEG_CLOSE_PER_CLIENT or LEG_CLOSE_RESOURCES.
 */
struct guest *door_enter(struct door *door, struct door_side *side, const struct sockaddr *client,
			 uint64_t now_us, enum leg_close *why) MUST_CHECK;
/** door_enter_held - one that is turned away is to be held; NULL without memory. */
struct guest *door_enter_held(struct door *door, struct door_side *side, void *owner,
			      uint64_t now_us) MUST_CHECK;
/** door_expel_half_open - have the oldest half-open one go if it has been so for @age_us. Returns whether it goes. */
bool door_expel_half_open(struct door *door, uint64_t now_us, uint64_t age_us);
/** door_expel_half_closed - close the half-closed one that makes room first. Returns false if each may stay. */
bool door_expel_half_closed(struct door *door, uint64_t now_us);

/* ---- of the guest's own thread ---- */

/** door_may_stay - whether @guest need not go; else @why it must. */
bool door_may_stay(struct guest *guest, enum leg_close *why) MUST_CHECK;
/**
 * door_seek - a server is going to be sought for it: it counts against max_connections from now on
 *
 * The oldest fresh one makes room if need be, or the half-closed one that has waited longest. Returns false if there is
 * none or if it must go itself, and @why.
 */
bool door_seek(struct guest *guest, uint64_t now_us, enum leg_close *why) MUST_CHECK;
/** door_reached - its server is reached: without a Call it is fresh now. Nothing if it must go. */
void door_reached(struct guest *guest);
/** door_carry - it has given a Call. Returns false if it must go. */
bool door_carry(struct guest *guest) MUST_CHECK;
/**
 * door_half_closed - its client has ended its sending side, or has a Reply since
 * @waits_us: when the oldest of its Calls without a Reply came; 0: there is none, so it does not make room
 */
void door_half_closed(struct guest *guest, uint64_t waits_us);
/** door_superseded - its client is back on another connection: it counts no more while it ends. */
void door_superseded(struct guest *guest);
/** door_hold - it is turned away and held: it counts against no other limit any more. */
void door_hold(struct guest *guest);
/** door_leave - it is gone; frees it. */
void door_leave(struct guest *guest);
/** door_expelled - the next guest on this thread that must go, and has not been told of; NULL: no other. */
struct guest *door_expelled(struct door *door, struct door_side *side);

/* ---- any thread's ---- */

/** door_counts_get - how many there are. */
void door_counts_get(struct door *door, struct door_counts *counts);

#endif
