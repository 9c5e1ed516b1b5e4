/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where clients are found: by their address and port, by their address alone, and by the marks of their Calls. For
 * clients.c, which guards it.
 */
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
	X(CLIENT_LIVE, "live", "its end, or that of its sending side",                             \
	  TO(CLIENT_HALF) | TO(CLIENT_ENDING))                                                     \
	X(CLIENT_HALF, "half", "its end, or its next connection", TO(CLIENT_ENDING))               \
	X(CLIENT_ENDING, "ending", "its upstream connection to be over",                           \
	  TO(CLIENT_PINNED) | TO(CLIENT_LEFT))                                                     \
	X(CLIENT_PINNED, "pinned", "the client to come back, for a while", TO(CLIENT_LEFT))        \
	X(CLIENT_LEFT, "left", "whoever still holds it to let go", 0)
STATE_ENUM(client_state, CLIENT_STATES);
extern const struct state_table client_states;

struct client;
struct clients;

/* A mark of a client, as it is found. */
struct client_mark {
	struct hash_node node;
	struct client
		*client; /* NULL: so many others have one like it that this one is not found */
	struct call_mark call;
};

TAILQ_HEAD(client_list, client);

/* A loop that has connections of a place. */
struct place_loop {
	LIST_ENTRY(place_loop) entry;
	struct client_owner owner;    /* any of theirs */
	unsigned connected;           /* LIVE and HALF: how many … */
	struct client_list clients;   /* … and which; it changes on their thread alone */
	struct place_loop **asked_by; /* clients.c: the pointer to it that ends with it; NULL */
};

/* All clients of one address that are privileged on their host, or all that are not. */
struct place {
	struct hash_node node;
	struct in6_addr addr; /* IPv4 as v4-mapped */
	bool privileged;
	unsigned connected;        /* LIVE and HALF */
	unsigned nending, npins;   /* ENDING, PINNED: how many … */
	struct client_list ending; /* … and which, the latest last */
	struct client_list pins;
	LIST_HEAD(, place_loop) loops;
};

/* Where a connection ends, for comparison. */
struct client_end {
	struct in6_addr addr;
	uint32_t
		scope; /* on which link an address of IPv6 is that other links may have too; else 0 */
	uint16_t port; /* host order */
};

struct client {
	struct clients *clients;
	struct client_part *part;
	unsigned refs; /* the table's or the owner's, and one for each message on its way */
	unsigned state;
	struct client_end peer, local;
	const void *fabric;
	struct client_owner owner;
	bool owned; /* on the owner's thread only: not left yet */
	/* A connection that waits for another's end, and the other; `gift`: it is over, and this is its pin. */
	struct client *heir, *awaited, *gift;
	bool waited; /* as long as it may */
	bool looked; /* it has asked the loops whose ends of connections it may have overtaken … */
	unsigned looks; /* … of which so many have not answered */
	struct place *place;
	struct place_loop *place_loop;   /* LIVE, HALF */
	TAILQ_ENTRY(client) loop_entry;  /* LIVE, HALF */
	TAILQ_ENTRY(client) place_entry; /* ENDING, PINNED */
	TAILQ_ENTRY(client) age_entry;   /* PINNED, the oldest first */
	struct hash_node by_peer;
	struct client_mark *marks;
	size_t nmarks;
	bool marks_are_found;  /* HALF, ENDING, PINNED */
	bool keeps_port;       /* nothing is kept of it, nor sought for it */
	bool privileged;       /* its place is that of these */
	bool asks;             /* no pin is for it by its address alone */
	uint16_t port, source; /* PINNED: of its upstream connection */
	uint64_t left_us;
};

#define CLIENT_PART_NO_PIN UINT64_MAX

/* The clients of some addresses. */
struct client_part {
	pthread_mutex_t lock;
	unsigned refs; /* that of clients.c, and one for each round of clients.c */
	_Atomic uint64_t
		oldest_us; /* when the first of `pins` left, or CLIENT_PART_NO_PIN; read without the lock */
	struct hash_key key;
	struct hash_table places, by_peer, marks;
	struct client_list pins;
};

/** client_end_of - the address and port of @addr, IPv4 as v4-mapped. */
struct client_end client_end_of(const struct sockaddr_storage *addr);
/** client_part_new - an empty part with one reference; NULL without memory. */
struct client_part *client_part_new(const struct hash_key *key);
/** client_part_put - drop a reference, without its lock; the last one frees it, when nobody is in. Accepts NULL. */
void client_part_put(struct client_part *part);

/** client_table_add - enter a client in CLIENT_LIVE. Returns 0 or -ENOMEM. */
int client_table_add(struct client *client) MUST_CHECK;
/** client_table_privilege - take one in CLIENT_LIVE or CLIENT_HALF to those that are privileged. Returns 0 or -ENOMEM. */
int client_table_privilege(struct client *client) MUST_CHECK;
/** client_table_set - give it another state, and be found as that asks; CLIENT_LEFT takes it out. */
void client_table_set(struct client *client, enum client_state state);
/** client_table_mark - these are its marks now, by which it is found unless LIVE; it takes @marks over. */
void client_table_mark(struct client *client, struct client_mark *marks, size_t nmarks);

/** client_table_same_ends - another with the same four addresses that is not PINNED, and has no heir; NULL. */
struct client *client_table_same_ends(const struct client *client);
/** client_table_same_peer - the pin of its kind that its address and port has; NULL. */
struct client *client_table_same_peer(const struct client *client);
/** client_table_by_mark - of others of its address and kind the best to have sent this Call, without an heir; NULL. */
struct client *client_table_by_mark(const struct client *client, const struct call_mark *call);

#endif
