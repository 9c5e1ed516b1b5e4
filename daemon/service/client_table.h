/* SPDX-License-Identifier: BSD-3-Clause */
/* Indexes clients by address and port, by address alone, and by their Calls. Only for clients.c, which locks it. */
#ifndef DAEMON_SERVICE_CLIENT_TABLE_H
#define DAEMON_SERVICE_CLIENT_TABLE_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/hash_table.h"
#include "base/state.h"
#include "daemon/service/call_mark.h"
#include "daemon/service/client_owner.h"

#define CLIENT_STATES(X)                                                                           \
	X(CLIENT_LIVE, "connected", "the end of the connection, or of the client's sending side",  \
	  TO(CLIENT_HALF) | TO(CLIENT_ENDING))                                                     \
	X(CLIENT_HALF, "half_closed",                                                              \
	  "the end of the connection, or the client's next connection", TO(CLIENT_ENDING))         \
	X(CLIENT_ENDING, "closing", "the end of the upstream connection",                          \
	  TO(CLIENT_PINNED) | TO(CLIENT_LEFT))                                                     \
	X(CLIENT_PINNED, "retained", "the client to reconnect, for two minutes", TO(CLIENT_LEFT))  \
	X(CLIENT_LEFT, "free", "the last reference to be dropped", 0)
STATE_ENUM(client_state, CLIENT_STATES);
extern const struct state_table client_states;

struct client;
struct clients;

/* A fingerprint of a client, in the index. */
struct client_mark {
	struct hash_node node;
	struct client *client; /* NULL: not indexed, since too many others have the same hash */
	struct call_mark call;
};

TAILQ_HEAD(client_list, client);

/* A loop that has connections of an address. */
struct place_loop {
	LIST_ENTRY(place_loop) entry;
	struct client_owner owner;  /* the owner of any of these connections */
	unsigned connected;         /* connected and half_closed clients: their number … */
	struct client_list clients; /* … and the list; only their thread changes it */
	struct place_loop *
		*asked_by; /* clients.c: the pointer to this, to be cleared with it; NULL: none */
};

/* All clients of one address that are privileged on their host, or all that are not. */
struct place {
	struct hash_node node;
	struct in6_addr addr; /* IPv4 as v4-mapped */
	bool privileged;
	unsigned connected;        /* connected and half_closed */
	unsigned nending, npins;   /* closing, retained: their numbers … */
	struct client_list ending; /* … and the lists, the latest last */
	struct client_list pins;
	LIST_HEAD(, place_loop) loops;
};

/* One end of a connection, for comparison. */
struct client_end {
	struct in6_addr addr;
	uint32_t scope; /* link of an IPv6 address that other links can have too; else 0 */
	uint16_t port;  /* host order */
};

struct client {
	struct clients *clients;
	struct client_part *part;
	unsigned refs; /* one for the index or the owner, and one for each posted message */
	unsigned state;
	struct client_end peer, local;
	const void *fabric;
	struct client_owner owner;
	bool owned; /* clients_leave() has not been called; owner's thread only */
	/* The client that waits for this one, the one that this one waits for, and the retained one that it inherited. */
	struct client *heir, *awaited, *gift;
	bool waited; /* it has waited long enough */
	bool looked; /* it has queried the loops that can have undetected ends of connections … */
	unsigned looks; /* … this many have not answered */
	struct place *place;
	struct place_loop *place_loop;   /* connected, half_closed */
	TAILQ_ENTRY(client) loop_entry;  /* connected, half_closed */
	TAILQ_ENTRY(client) place_entry; /* closing, retained */
	TAILQ_ENTRY(client) age_entry;   /* retained, oldest first */
	struct hash_node by_peer;
	struct client_mark *marks;
	size_t nmarks;
	bool marks_are_found;  /* its calls are indexed: half_closed, closing, retained */
	bool keeps_port;       /* it uses its own port upstream: no affinity is kept or looked up */
	bool privileged;       /* its address entry is the privileged one */
	bool asks;             /* its address alone never selects a retained client */
	uint16_t port, source; /* of its upstream connection, if retained */
	uint64_t left_us;
};

#define CLIENT_PART_NO_PIN UINT64_MAX

/* The clients of some addresses, under one lock. */
struct client_part {
	pthread_mutex_t lock;
	unsigned refs; /* one for clients.c, and one for each round of queries */
	_Atomic uint64_t
		oldest_us; /* when the first of `retained` was retained, or CLIENT_PART_NO_PIN; read without the lock */
	struct hash_key key;
	struct hash_table places, by_peer, marks;
	struct client_list pins;
};

/** client_end_of - Returns the address and port of @addr, IPv4 as v4-mapped. */
struct client_end client_end_of(const struct sockaddr_storage *addr);
/** client_part_new - Creates an empty shard with one reference. Returns NULL without memory. */
struct client_part *client_part_new(const struct hash_key *key);
/** client_part_put - Drops a reference, without the lock; the last one frees the empty shard. Accepts NULL. */
void client_part_put(struct client_part *part);

/** client_table_add - Adds a client in CLIENT_LIVE. Returns 0 or -ENOMEM. */
int client_table_add(struct client *client) MUST_CHECK;
/** client_table_privilege - Moves a client in CLIENT_LIVE or CLIENT_HALF to the privileged ones. Returns 0 or -ENOMEM. */
int client_table_privilege(struct client *client) MUST_CHECK;
/** client_table_set - Sets the state of a client and indexes it accordingly; CLIENT_LEFT removes it. */
void client_table_set(struct client *client, enum client_state state);
/** client_table_mark - Sets its fingerprints, indexed unless it is in CLIENT_LIVE. Takes ownership of @calls. */
void client_table_mark(struct client *client, struct client_mark *marks, size_t nmarks);

/** client_table_same_ends - Returns another client with the same endpoints, not retained, without successor; or NULL. */
struct client *client_table_same_ends(const struct client *client);
/** client_table_same_peer - Returns the retained client with the same address, port and privilege; or NULL. */
struct client *client_table_same_peer(const struct client *client);
/** client_table_by_mark - Returns the likeliest sender of this Call, of the same address and privilege; or NULL. */
struct client *client_table_by_mark(const struct client *client, const struct call_mark *call);

#endif
