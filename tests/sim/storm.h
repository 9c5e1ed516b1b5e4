/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ends of a chain in a storm: clients that come back and ask again for whatever was not answered, and a server
 * that executes no Call twice.
 *
 * The server has a cache of what it was asked, as knfsd's. That goes by XID, address and port of the client, and a
 * proxy gives a client that comes back the port that it had; nobody has a port here, so the XIDs say whose they are.
 *
 * All that must hold of one RPC is asserted where it shows: that nothing is answered which was not asked on that
 * connection, nothing answered more often than it was asked, no Call passed on again while it is in flight, and
 * every byte the one that was sent.
 */
#ifndef TESTS_SIM_STORM_H
#define TESTS_SIM_STORM_H

#include <sys/queue.h>

#include "tests/sim/chain.h"
#include "tests/sim/storm_rpc.h"

#define STORM_CLIENTS_MAX 4u
#define STORM_WINDOW_MAX  64u
#define STORM_REVERSE_MAX 4u  /* reverse Calls in flight on one connection */
#define STORM_AGAIN_MAX   32u /* Calls of a client that may be answered once more */

/* What happened in one run, or in several. */
struct storm_counts {
	uint64_t answered, reverse_answered;
	uint64_t connections, asked_again, swallowable, executed_before;
	uint64_t faults;
};

struct storm_client {
	struct storm *storm;
	uint32_t first_xid, next_xid, end_xid;
	unsigned window;         /* Calls in flight at most */
	struct record_end *wire; /* NULL: not connected */
	bool shut;               /* it has said that it sends no more */
	uint64_t back_us;        /* when it connects again */
	unsigned nout;
	uint32_t out[STORM_WINDOW_MAX]; /* asked and not answered */
	unsigned nagain;
	uint32_t again[STORM_AGAIN_MAX]; /* asked twice on this connection */
};

/* One connection to the server. */
struct storm_session {
	TAILQ_ENTRY(storm_session) entry;
	struct storm *storm;
	struct record_end wire;
	unsigned nheld;
	uint32_t held[STORM_WINDOW_MAX + STORM_AGAIN_MAX]; /* executed, not answered here */
	uint32_t next_reverse;
	unsigned nreverse;
	uint32_t reverse[STORM_REVERSE_MAX]; /* asked and not answered */
};

struct storm {
	uint64_t seed, random;
	struct chain *chain;
	unsigned nclients;
	struct storm_client clients[STORM_CLIENTS_MAX];
	TAILQ_HEAD(, storm_session) sessions;
	struct chain_tap *drained;            /* the leg that was drained last … */
	uint64_t drain_end_us;                /* … and when it is closed, whatever is in flight */
	uint8_t *executed[STORM_CLIENTS_MAX]; /* by the XID's place: the server's cache */
	struct storm_msg call, reply;         /* for whoever builds one */
	struct storm_counts counts;
};

/** storm_below - a random number below @n. */
uint32_t storm_below(struct storm *storm, uint32_t n);

/** storm_client_init - client @number of the storm, which makes @rpcs Calls. */
void storm_client_init(struct storm_client *client, struct storm *storm, unsigned number,
		       uint32_t rpcs);
/** storm_client_turn - connect again if it is time, and ask what may be asked. */
void storm_client_turn(struct storm_client *client);
/** storm_client_is_done - whether all of its Calls have been answered. */
bool storm_client_is_done(const struct storm_client *client);
/** storm_client_shut - send no more on this connection, if nothing is queued. */
void storm_client_shut(struct storm_client *client);
/** storm_client_close - end its connection. */
void storm_client_close(struct storm_client *client, bool reset);
/** storm_client_fini - after storm_client_close(). */
void storm_client_fini(struct storm_client *client);

/** storm_server_accepted - a connection came; @arg is the storm. */
void storm_server_accepted(void *arg, struct stream *stream);
/** storm_server_turn - answer some of what is held, call some clients, let go of connections that are over. */
void storm_server_turn(struct storm *storm);

#endif
