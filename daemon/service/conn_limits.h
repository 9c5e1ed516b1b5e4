/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection limits of a service, and which connection is evicted when a limit is reached.
 *
 *	half_open    accepted, no server chosen yet; separate limit, past it the oldest is evicted
 *	has_call     like half_open, but the client has sent a Call. Is not evicted for others
 *	connecting ┐
 *	idle       ├ count against max_connections; at that limit the oldest idle connection
 *	active     ┘ is evicted, or else a half-closed one
 *	tarpit       rejected, still open: CONN_LIMITS_TARPIT_MAX, past it the oldest is closed
 *
 * A connection is half-closed once its client has closed its sending side. The client can be gone,
 * or it can wait for Replies, so the connection stays open. When the service or the client's
 * address reaches its limit, the half-closed connection with the oldest unanswered Call is evicted,
 * if that Call is CONN_LIMITS_HALF_CLOSED_US old.
 *
 * Each connection has a slot from accept() on the main thread until it is freed. The thread that
 * owns the connection reports its state changes; any thread can evict it. An evicted connection
 * stops counting immediately, so its replacement never exceeds a limit. It moves to a list of its
 * own thread, and that thread is woken to close it.
 *
 * The lock is taken about five times per connection, each time for a few stores.
 */
#ifndef DAEMON_SERVICE_CONN_LIMITS_H
#define DAEMON_SERVICE_CONN_LIMITS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/state_machine.h"
#include "daemon/base/min_heap.h"
#include "daemon/config/config.h"
#include "daemon/service/client_limits.h"
#include "leg/leg.h"

/* limit of half-open connections; the share of the service if that is larger */
#define CONN_LIMITS_HALF_OPEN_MIN 64u
#define CONN_LIMITS_GRACE_US      100000u /* a half-open connection is not evicted before this */
#define CONN_LIMITS_TARPIT_MAX    256u
#define CONN_LIMITS_TARPIT_US     500000u /* how long a rejected connection stays open */
/* minimum age of the oldest Call for an eviction */
#define CONN_LIMITS_HALF_CLOSED_US 5000000u

#define CONN_SLOT_STATES(X)                                                                        \
	X(CONN_SLOT_HALF_OPEN, "half_open", "the first Call, or the choice of a server",           \
	  TO(CONN_SLOT_HAS_CALL) | TO(CONN_SLOT_CONNECTING) | TO(CONN_SLOT_TARPIT) |               \
		  TO(CONN_SLOT_EVICTED) | TO(CONN_SLOT_SUPERSEDED))                                \
	X(CONN_SLOT_HAS_CALL, "has_call", "the choice of a server",                                \
	  TO(CONN_SLOT_CONNECTING) | TO(CONN_SLOT_TARPIT) | TO(CONN_SLOT_SUPERSEDED))              \
	X(CONN_SLOT_CONNECTING, "connecting", "the connection to the server",                      \
	  TO(CONN_SLOT_IDLE) | TO(CONN_SLOT_ACTIVE) | TO(CONN_SLOT_TARPIT) |                       \
		  TO(CONN_SLOT_EVICTED) | TO(CONN_SLOT_SUPERSEDED))                                \
	X(CONN_SLOT_IDLE, "idle", "the first Call",                                                \
	  TO(CONN_SLOT_ACTIVE) | TO(CONN_SLOT_TARPIT) | TO(CONN_SLOT_EVICTED) |                    \
		  TO(CONN_SLOT_SUPERSEDED))                                                        \
	X(CONN_SLOT_ACTIVE, "active", "the end of the connection",                                 \
	  TO(CONN_SLOT_TARPIT) | TO(CONN_SLOT_EVICTED) | TO(CONN_SLOT_SUPERSEDED))                 \
	X(CONN_SLOT_TARPIT, "tarpit", "the end of the delay", TO(CONN_SLOT_EVICTED))               \
	X(CONN_SLOT_EVICTED, "evicted", "its thread to close it",                                  \
	  TO(CONN_SLOT_TARPIT) | TO(CONN_SLOT_SUPERSEDED))                                         \
	X(CONN_SLOT_SUPERSEDED, "superseded", "the end of the connection", 0)
STATE_ENUM(conn_slot_state, CONN_SLOT_STATES);
#define CONN_SLOT_STATES_COUNT (CONN_SLOT_SUPERSEDED + 1u)
extern const struct state_table conn_slot_states;

struct conn_slot {
	TAILQ_ENTRY(conn_slot) link;
	struct conn_limits *limits;
	struct conn_limits_thread *thread;
	void *owner; /* on its thread; NULL: not handed over yet */
	struct state state;
	bool had_call; /* its client has sent a Call */
	/* half-closed: when its oldest unanswered Call arrived; 0: it cannot be evicted */
	uint64_t oldest_call_us;
	/*
	 * In the heap of the service and in that of its client, while the connection counts against
	 * a limit and oldest_call_us is set.
	 */
	struct heap_node by_wait, by_wait_of_client;
	/* in the list of its state; not after conn_limits_next_evicted() returned it */
	bool listed;
	enum leg_close why; /* if evicted */
	struct client_limit *client;
};
TAILQ_HEAD(conn_slot_list, conn_slot);

/* The evicted connections of one thread. */
struct conn_limits_thread {
	struct conn_slot_list evicted;
	/* Called from any thread when conn_limits_next_evicted() has a connection. */
	void (*wake)(void *arg);
	void *arg;
};

struct conn_limits {
	pthread_mutex_t lock; /* guards what follows, and the slots */
	const struct service_config *config;
	struct conn_slot_list lists[CONN_SLOT_STATES_COUNT]; /* oldest first */
	unsigned counts[CONN_SLOT_STATES_COUNT];
	struct min_heap half_closed; /* slots by oldest_call_us */
	struct client_limits clients;
};

/* Numbers of connections. */
struct conn_limits_counts {
	unsigned half_open, active, tarpit;
};

/** conn_limits_init - Initializes the limits, without connections. Returns 0 or -ENOMEM. */
int conn_limits_init(struct conn_limits *limits, const struct service_config *config) MUST_CHECK;
/**
 * conn_limits_fini - Frees the limits after the last slot was freed. Accepts an all-zero @limits.
 */
void conn_limits_fini(struct conn_limits *limits);
/**
 * conn_limits_thread_init - Initializes the list of one thread. Without @wake the thread polls
 * conn_limits_next_evicted() itself.
 */
void conn_limits_thread_init(struct conn_limits_thread *thread, void (*wake)(void *arg), void *arg);

/* ---- main thread ---- */

/**
 * conn_limits_can_accept - Returns whether a connection can be accepted now
 *
 * Returns false while half-open connections are at their limit and the oldest is younger than
 * CONN_LIMITS_GRACE_US. Then connections wait in the kernel's queue.
 */
bool conn_limits_can_accept(struct conn_limits *limits, uint64_t now_us);
/**
 * conn_limits_add - Counts a new connection
 * @thread:   the thread that will own it
 * @now_us: of the main thread's loop
 * @why:    set on failure
 *
 * If the client's address is at its limit, evicts the half-closed connection of that address that
 * has waited longest. Returns the slot, half-open; or NULL with LEG_CLOSE_PER_CLIENT or
 * LEG_CLOSE_RESOURCES.
 */
struct conn_slot *conn_limits_add(struct conn_limits *limits, struct conn_limits_thread *thread,
				  const struct sockaddr *client, uint64_t now_us,
				  enum leg_close *why) MUST_CHECK;
/**
 * conn_limits_add_tarpit - Counts a rejected connection in the tarpit. Returns its slot, or NULL
 * without memory.
 */
struct conn_slot *conn_limits_add_tarpit(struct conn_limits *limits,
					 struct conn_limits_thread *thread, void *owner,
					 uint64_t now_us) MUST_CHECK;
/**
 * conn_limits_evict_half_open - Evicts the oldest half-open connection if it is @age_us old.
 * Returns whether it did.
 */
bool conn_limits_evict_half_open(struct conn_limits *limits, uint64_t now_us, uint64_t age_us);
/**
 * conn_limits_evict_half_closed - Evicts the half-closed connection that has waited longest.
 * Returns whether it did.
 */
bool conn_limits_evict_half_closed(struct conn_limits *limits, uint64_t now_us);

/* ---- the thread that owns the connection ---- */

/** conn_slot_may_stay - Returns true; or false and sets @why if the connection is evicted. */
bool conn_slot_may_stay(struct conn_slot *slot, enum leg_close *why) MUST_CHECK;
/**
 * conn_slot_connecting - Counts the connection against max_connections, before a server is chosen
 * for it
 *
 * At the limit, evicts the oldest idle connection, or else the half-closed one that has waited
 * longest. Returns false and sets @why if no connection can be evicted, or if this one is.
 */
bool conn_slot_connecting(struct conn_slot *slot, uint64_t now_us, enum leg_close *why) MUST_CHECK;
/**
 * conn_slot_connected - Records that the server is connected: the connection becomes active, or
 * idle without a Call. Does nothing if it is evicted.
 */
void conn_slot_connected(struct conn_slot *slot);
/**
 * conn_slot_first_call - Records that the client has sent a Call. Returns false if the connection
 * is evicted.
 */
bool conn_slot_first_call(struct conn_slot *slot) MUST_CHECK;
/**
 * conn_slot_half_closed - Records that the client has closed its sending side; call it again after
 * each Reply
 * @oldest_call_us: when its oldest unanswered Call arrived; 0: no Call is unanswered, so it cannot
 *                  be evicted
 */
void conn_slot_half_closed(struct conn_slot *slot, uint64_t oldest_call_us);
/**
 * conn_slot_superseded - Records that the client has reconnected: this connection stops counting
 * while it closes.
 */
void conn_slot_superseded(struct conn_slot *slot);
/**
 * conn_slot_tarpit - Moves a rejected connection to the tarpit; it counts against no other limit
 * any more.
 */
void conn_slot_tarpit(struct conn_slot *slot);
/** conn_slot_free - Frees the slot of a connection that is gone. */
void conn_slot_free(struct conn_slot *slot);
/**
 * conn_limits_next_evicted - Returns the next evicted connection of a thread, each once; NULL: no
 * more.
 */
struct conn_slot *conn_limits_next_evicted(struct conn_limits *limits,
					   struct conn_limits_thread *thread);

/* ---- any thread ---- */

/** conn_limits_counts_get - Gets the numbers of connections. */
void conn_limits_counts_get(struct conn_limits *limits, struct conn_limits_counts *counts);

#endif
