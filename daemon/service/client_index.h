/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Indexes clients by address and port, by address alone, and by their Calls. Only for
 * client_affinity.c, which locks it.
 */
#ifndef DAEMON_SERVICE_CLIENT_INDEX_H
#define DAEMON_SERVICE_CLIENT_INDEX_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/hash_table.h"
#include "base/state_machine.h"
#include "daemon/service/call_fingerprint.h"
#include "daemon/service/client_owner.h"

#define CLIENT_STATES(X)                                                                           \
	X(CLIENT_CONNECTED, "connected",                                                           \
	  "the end of the connection, or of the client's sending side",                            \
	  TO(CLIENT_HALF_CLOSED) | TO(CLIENT_CLOSING))                                             \
	X(CLIENT_HALF_CLOSED, "half_closed",                                                       \
	  "the end of the connection, or the client's next connection", TO(CLIENT_CLOSING))        \
	X(CLIENT_CLOSING, "closing", "the end of the upstream connection",                         \
	  TO(CLIENT_RETAINED) | TO(CLIENT_FREE))                                                   \
	X(CLIENT_RETAINED, "retained", "the client to reconnect, for two minutes",                 \
	  TO(CLIENT_FREE))                                                                         \
	X(CLIENT_FREE, "free", "the last reference to be dropped", 0)
STATE_ENUM(client_state, CLIENT_STATES);
extern const struct state_table client_states;

struct affinity_client;
struct client_affinity;

/* A fingerprint of a client, in the index. */
struct client_fingerprint {
	struct hash_node node;
	/* NULL: not indexed, because too many others have the same hash */
	struct affinity_client *client;
	struct call_fingerprint call;
};

TAILQ_HEAD(client_list, affinity_client);

/* A loop that has connections of an address. */
struct client_addr_loop {
	LIST_ENTRY(client_addr_loop) entry;
	struct client_owner owner;  /* the owner of any of these connections */
	unsigned connected;         /* connected and half_closed clients: their number … */
	struct client_list clients; /* … and the list; only their thread changes it */
	/* client_affinity.c's pointer to this entry, cleared when it is freed; NULL: none */
	struct client_addr_loop **round_ref;
};

/* All clients of one address that are privileged on their host, or all that are not. */
struct client_addr {
	struct hash_node node;
	struct in6_addr addr; /* IPv4 as v4-mapped */
	bool privileged;
	unsigned connected;           /* connected and half_closed */
	unsigned nclosing, nretained; /* closing, retained: their numbers … */
	struct client_list closing;   /* … and the lists, the latest last */
	struct client_list retained;
	LIST_HEAD(, client_addr_loop) loops;
};

/* One end of a connection, for comparison. */
struct client_endpoint {
	struct in6_addr addr;
	uint32_t scope; /* link of a link-local IPv6 address; else 0 */
	uint16_t port;  /* host order */
};

struct affinity_client {
	struct client_affinity *clients;
	struct client_index_partition *partition;
	unsigned refs; /* one for the index or the owner, and one for each posted message */
	unsigned state;
	struct client_endpoint peer, local;
	const void *fabric;
	struct client_owner owner;
	bool owned; /* client_affinity_release() has not been called; owner's thread only */
	/*
	 * successor: the client that waits for this one; predecessor: the client that this one
	 * waits for; inherited: the retained client that this one matched.
	 */
	struct affinity_client *successor, *predecessor, *inherited;
	bool timed_out;     /* its wait has timed out */
	bool loops_queried; /* it has asked the loops of its address to check their connections … */
	unsigned queries;   /* … and so many have not answered */
	struct client_addr *host;
	struct client_addr_loop *client_addr_loop; /* connected, half_closed */
	TAILQ_ENTRY(affinity_client) loop_entry;   /* connected, half_closed */
	TAILQ_ENTRY(affinity_client) host_entry;   /* closing, retained */
	TAILQ_ENTRY(affinity_client) age_entry;    /* retained, oldest first */
	struct hash_node by_peer;
	struct client_fingerprint *calls;
	size_t ncalls;
	bool calls_indexed;    /* its calls are indexed: half_closed, closing, retained */
	bool keeps_port;       /* it uses its own port upstream: no affinity is kept or looked up */
	bool privileged;       /* privileged on its host: `host` has only such clients */
	bool needs_first_call; /* its address alone never selects a retained client */
	uint16_t port, source; /* of its upstream connection, if retained */
	uint64_t left_us;
};

#define CLIENT_INDEX_NONE_RETAINED UINT64_MAX

/* The clients of some addresses, under one lock. */
struct client_index_partition {
	pthread_mutex_t lock;
	unsigned refs; /* one for client_affinity.c, and one for each round of queries */
	/* when the first of `retained` was retained; atomic, since it is read without the lock */
	_Atomic uint64_t oldest_us;
	struct hash_key key;
	struct hash_table hosts, by_peer, calls;
	struct client_list retained;
};

/** client_endpoint_of - Returns the address and port of @addr, IPv4 as v4-mapped. */
struct client_endpoint client_endpoint_of(const struct sockaddr_storage *addr);
/**
 * client_index_partition_new - Creates an empty partition with one reference. Returns NULL without
 * memory.
 */
struct client_index_partition *client_index_partition_new(const struct hash_key *key);
/**
 * client_index_partition_put - Drops a reference, without the lock; the last one frees the empty
 * partition. Accepts NULL.
 */
void client_index_partition_put(struct client_index_partition *partition);

/** client_index_add - Adds a client in CLIENT_CONNECTED. Returns 0 or -ENOMEM. */
int client_index_add(struct affinity_client *client) MUST_CHECK;
/**
 * client_index_set_privileged - Moves a client in CLIENT_CONNECTED or CLIENT_HALF_CLOSED to the
 * privileged ones. Returns 0 or -ENOMEM.
 */
int client_index_set_privileged(struct affinity_client *client) MUST_CHECK;
/**
 * client_index_set_state - Sets the state of a client and indexes it accordingly; CLIENT_FREE
 * removes it.
 */
void client_index_set_state(struct affinity_client *client, enum client_state state);
/**
 * client_index_set_calls - Sets its fingerprints, indexed unless it is in CLIENT_CONNECTED. Takes
 * ownership of @calls.
 */
void client_index_set_calls(struct affinity_client *client, struct client_fingerprint *calls,
			    size_t ncalls);

/**
 * client_index_find_endpoints - Returns another client with the same endpoints, not retained,
 * without successor; or NULL.
 */
struct affinity_client *client_index_find_endpoints(const struct affinity_client *client);
/**
 * client_index_find_peer - Returns the retained client with the same address, port and privilege;
 * or NULL.
 */
struct affinity_client *client_index_find_peer(const struct affinity_client *client);
/**
 * client_index_find_call - Returns the likeliest sender of this Call, of the same address and
 * privilege; or NULL.
 */
struct affinity_client *client_index_find_call(const struct affinity_client *client,
					       const struct call_fingerprint *call);

#endif
