/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ends of a chain in a storm (random load with fault injection): clients that reconnect and
 * repeat each unanswered Call, and a server that executes no Call twice.
 *
 * The server has a duplicate request cache as knfsd has, keyed by XID, client address and client
 * port. The proxy gives a reconnecting client the same port again. Storms have no ports, so the
 * XIDs identify the clients.
 *
 * Some Calls use RPCSEC_GSS, with another sequence number in each transmission (RFC 2203 section
 * 5.3.3.1).
 *
 * Clients answer some reverse Calls late, and some never: these fail. The server answers some Calls
 * before it has received all of them.
 *
 * At times the server answers no client for some seconds. Clients then connect that send one Call,
 * shut down their sending side and disconnect.
 *
 * Assertions check each RPC where a violation shows: every answer belongs to a Call on that
 * connection; no Call has two answers; no Call is forwarded again while it is in flight; every byte
 * is correct.
 */
#ifndef TESTS_SIM_STORM_H
#define TESTS_SIM_STORM_H

#include <sys/queue.h>

#include "tests/sim/chain.h"
#include "tests/sim/storm_counts.h"
#include "tests/sim/storm_plan.h"
#include "tests/sim/storm_rpc.h"

#define STORM_CLIENTS_MAX 4u
#define STORM_WINDOW_MAX  64u
#define STORM_REVERSE_MAX 4u  /* reverse Calls in flight on one connection */
#define STORM_AGAIN_MAX   32u /* Calls of a client that can be answered once more */
#define STORM_LATE_MAX    16u /* reverse Calls that a client answers later */
#define STORM_SPOILED_MAX 64u /* unusable Calls and Replies whose clients have no answer yet */

/* A Call, and its sequence number if it is of RPCSEC_GSS. */
struct storm_asked {
	uint32_t xid, seq;
};

/* A Call between the gates, and whether it had a reply chunk. */
#define STORM_OFFERED_MAX 1024u
struct storm_offer {
	uint32_t xid;
	bool has_reply_chunk;
};

/* A reverse Call that is not answered immediately. */
struct storm_late {
	struct storm_asked asked;
	uint64_t due_us;
};

struct storm_client {
	struct storm *storm;
	uint32_t first_xid, next_xid, end_xid;
	unsigned window;         /* Calls in flight at most */
	struct record_end *wire; /* NULL: not connected */
	bool shut;               /* it has shut down its sending side */
	uint64_t back_us;        /* when it connects again */
	unsigned nout;
	uint32_t out[STORM_WINDOW_MAX]; /* sent and not answered */
	unsigned nagain;
	uint32_t again[STORM_AGAIN_MAX]; /* sent twice on this connection */
	unsigned nlate;
	struct storm_late late[STORM_LATE_MAX]; /* reverse Calls to answer on this connection */
};

/* One connection to the server. */
struct storm_session {
	TAILQ_ENTRY(storm_session) entry;
	struct storm *storm;
	struct record_end wire;
	unsigned nheld;
	struct storm_asked
		held[STORM_WINDOW_MAX + STORM_AGAIN_MAX]; /* executed, not answered here */
	/*
	 * The Call that is still arriving, whether it was parsed, and whether it has been answered.
	 */
	bool looked_at, is_early;
	uint32_t coming_xid;
	uint32_t next_reverse;
	unsigned nreverse;
	struct storm_asked reverse[STORM_REVERSE_MAX]; /* received and not answered */
};

/* A connection whose client has shut down its sending side after one Call, and is gone. */
struct storm_gone_wire {
	TAILQ_ENTRY(storm_gone_wire) entry;
	struct record_end wire;
	bool shut;
};

/* Clients of one Call each that connect while the server hangs (storm_gone.c). */
struct storm_gone {
	uint64_t hang_end_us; /* when the server answers again; 0: it does */
	uint32_t called;      /* how many have connected so far */
	TAILQ_HEAD(, storm_gone_wire) wires;
};

struct storm {
	uint64_t random;
	uint32_t seq; /* used sequence numbers: each transmission of a Call has one of its own */
	struct storm_plan plan;
	struct chain *chain;
	bool resting; /* no new load, every Call is answered, nothing fails */
	unsigned nclients;
	struct storm_client clients[STORM_CLIENTS_MAX];
	TAILQ_HEAD(, storm_session) sessions;
	struct chain_tap *drained; /* the leg that was drained last … */
	uint64_t drain_end_us;     /* … and when it is closed, whatever is in flight */
	uint64_t silence_end_us; /* when a connection whose peer receives nothing breaks; 0: none */
	struct storm_gone gone;
	uint8_t *executed[STORM_CLIENTS_MAX]; /* by the index of the XID: the server's cache */
	struct storm_msg call, reply;         /* for whoever builds one */
	unsigned spoils;                      /* number of Replies to spoil: storm_spoil.h */
	unsigned misplaces;                   /* … and of read chunks to misplace */
	struct storm_offer
		offered[STORM_OFFERED_MAX]; /* by XID, of the last Calls between the gates */
	unsigned nspoiled;
	uint32_t spoiled
		[STORM_SPOILED_MAX]; /* XIDs of clients' Calls that were misplaced, or whose Reply was spoiled */
	struct storm_counts counts;
};

/** storm_below - Returns a random number below @n. */
uint32_t storm_below(struct storm *storm, uint32_t n);

/** storm_client_init - Initializes client @number of the storm, which makes @rpcs Calls. */
void storm_client_init(struct storm_client *client, struct storm *storm, unsigned number,
		       uint32_t rpcs);
/**
 * storm_may_fail - Returns whether a failure can come instead of the Reply with this XID
 *
 * This is so if a peer claimed unwritten bytes, or if there was no space for the Reply: it needed a
 * read chunk, or it is longer than is allowed to a Call whose encrypted arguments do not say how
 * long its Reply can get.
 */
bool storm_may_fail(const struct storm *storm, uint32_t xid, const struct storm_msg *reply);

/**
 * storm_fail_something - Breaks a connection, drains a leg, makes an end receive nothing for a
 * while …
 */
void storm_fail_something(struct storm *storm);
/** storm_faults_turn - Ends the faults that last for a while. */
void storm_faults_turn(struct storm *storm);
/** storm_faults_last - Returns whether any such fault is active. */
bool storm_faults_last(const struct storm *storm);

/** storm_client_turn - Reconnects if it is time, and sends the Calls that it can. */
void storm_client_turn(struct storm_client *client);
/** storm_client_is_quiet - Returns whether each of its sent Calls has an answer. */
bool storm_client_is_quiet(const struct storm_client *client);
/** storm_client_is_done - Returns whether all of its Calls have been answered. */
bool storm_client_is_done(const struct storm_client *client);
/** storm_client_shut - Shuts down sending on this connection, if nothing is queued. */
void storm_client_shut(struct storm_client *client);
/** storm_client_close - Closes its connection. */
void storm_client_close(struct storm_client *client, bool reset);
/** storm_client_fini - Frees it after storm_client_close(). */
void storm_client_fini(struct storm_client *client);

/**
 * storm_gone_init - Gives the first gate so few connection slots that disconnected clients use all
 * of them.
 */
void storm_gone_init(struct storm *storm);
/**
 * storm_gone_begin - Makes the server hang for a while, and connects clients that disconnect before
 * they are answered.
 */
void storm_gone_begin(struct storm *storm);
/** storm_gone_hangs - Returns whether the server hangs now. */
bool storm_gone_hangs(const struct storm *storm);
/** storm_gone_turn - Connects and disconnects such clients, and ends the hang when it is time. */
void storm_gone_turn(struct storm *storm);
/**
 * storm_gone_lasts - Returns whether the server hangs or a connection of such a client still
 * exists.
 */
bool storm_gone_lasts(const struct storm *storm);
/** storm_gone_knows - Returns whether a Call of such a client has this XID. */
bool storm_gone_knows(const struct storm *storm, uint32_t xid);
/** storm_gone_close - Closes what is left of their connections. */
void storm_gone_close(struct storm *storm);
/** storm_gone_counts - Adds how the first gate closed them to the counts. */
void storm_gone_counts(struct storm *storm);

/** storm_server_accepted - Accepts a connection; @arg is the storm. */
void storm_server_accepted(void *arg, struct stream *stream);
/** storm_server_turn - Answers some held Calls, calls some clients, and frees ended connections. */
void storm_server_turn(struct storm *storm);
/** storm_server_is_quiet - Returns whether no session holds a Call, or waits for a Reply. */
bool storm_server_is_quiet(const struct storm *storm);

#endif
