/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The servers of a service: selects one for each client, and keeps the state of each.
 *
 * The list has several addresses of one server, or the members of a cluster that share their state.
 * Each client address has a *home* server for all its connections, so that those of `nconnect` stay
 * together. If an attempt fails, the server tried next becomes the home. The home is kept for
 * SERVERS_HOME_KEPT_US after the last connection has closed. Open connections never move.
 *
 * Order of selection among the servers that accept new connections:
 *
 *  1. the home, while a connection to it is open or if it has not failed recently;
 *  2. the other servers that have not failed recently, by `balance`;
 *  3. failed servers, least recently failed first.
 *
 * Threads: any; it has its own lock, and parts of each server have theirs.
 */
#ifndef DAEMON_SERVICE_SERVERS_H
#define DAEMON_SERVICE_SERVERS_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/hash_table.h"
#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/service/dns_cache.h"
#include "daemon/service/server_health.h"
#include "rpcrdma/peer_profile.h"
#include "rpcrdma/v2/version_cache.h"

#define SERVERS_TRY_LAST_US  10000000u  /* a failed server is tried last for this long */
#define SERVERS_HOME_KEPT_US 120000000u /* a home is kept this long after the last connection */

/* Orders of the administrator; the words are SERVER_ORDERS. */
#define SERVER_ORDERS(X)                                                                           \
	X(UP, "up")                                                                                \
	X(DRAIN, "drain") /* no new connections */                                                 \
	X(DOWN, "down")   /* no connections at all */

enum server_order {
#define SERVER_ORDER_ENUM(name, text) SERVER_ORDER_##name,
	SERVER_ORDERS(SERVER_ORDER_ENUM)
#undef SERVER_ORDER_ENUM
};

struct nfs_server {
	unsigned index;
	struct config_uri uri;
	char text[CONFIG_URI_TEXT_BYTES];
	struct dns_cache name;
	struct server_health health;
	struct peer_cache peer_cache;  /* of an RDMA server */
	struct version_cache versions; /* of the addresses of an RDMA server; has a lock */
	_Atomic enum server_order order;
	/* Guarded by the lock of the list. */
	bool check_failed; /* the last health check failed */
	bool has_failed;   /* no Reply since the last failure, at failed_us */
	uint64_t failed_us;
	unsigned connections; /* open connections */
	uint64_t connections_total, attempts, failures;
	char error[LEG_DETAIL_BYTES]; /* last failure; empty: none yet */
	uint64_t error_us;
};

/* What commands and metrics show of a server in addition to its server_health. */
struct server_stats {
	enum server_order order;
	uint64_t try_last_us; /* remaining time that it is tried last; 0: none */
	unsigned connections;
	uint64_t connections_total, attempts, failures;
	char error[LEG_DETAIL_BYTES];
	uint64_t error_age_us;
};

struct server_home;
TAILQ_HEAD(server_home_list, server_home);

struct servers {
	unsigned count;
	struct nfs_server *list;
	enum balance balance;
	atomic_uint orders;       /* number of orders so far */
	void (*doubt)(void *arg); /* from servers_on_doubt(); NULL: none */
	void *doubt_arg;
	pthread_mutex_t lock;
	struct hash_key key;
	struct hash_table homes;
	/* homes without connections, oldest first; at most idle_homes_max */
	struct server_home_list idle_homes;
	unsigned nidle_homes, idle_homes_max;
};

/* The server chosen for a connection; all zero: none yet. Owner's thread only. */
struct server_choice {
	struct servers *servers;
	struct nfs_server *server; /* the last choice; NULL: none */
	struct server_home *home;
	uint32_t tried; /* bit mask */
	bool open;
	bool awaits_reply; /* counted as waiting for the server's first Reply */
	bool served;       /* has had that Reply, and is counted as served */
};

/* URIs of servers; the configuration owns the strings. */
struct server_uris {
	struct config_uri list[CONFIG_MAX_SERVERS];
	unsigned count;
};

/** server_uris_of - Returns the NFS servers of a service, in the order of the file. */
struct server_uris server_uris_of(const struct service_config *config);
/**
 * mount_servers_of - Returns the servers for Calls of MOUNT; none if those go to the NFS server or
 * nowhere (`mount`)
 *
 * mount = "rpcbind" has one MOUNT server for each NFS server: the same host, at the port of
 * rpcbind. Otherwise it is the address in the file. A MOUNT server has its own health, since NFS
 * can work where mountd does not run. An administrator's order for a server applies to both.
 */
struct server_uris mount_servers_of(const struct service_config *config);

/**
 * servers_init - Initializes the list, all servers in SERVER_UNKNOWN
 * @uris:   at least one
 * @config: of the service; outlives them
 * @lines:  log bucket for their names; outlives them. NULL: for a health check, nothing is logged
 *
 * Returns 0, or -ENOMEM: then servers_fini() is not due.
 */
int servers_init(struct servers *servers, const struct server_uris *uris,
		 const struct service_config *config, struct log_limit *lines) MUST_CHECK;
/**
 * servers_fini - Frees the list. Every choice must be released, and no connection may wait for a
 * name.
 */
void servers_fini(struct servers *servers);

/**
 * servers_exclude - Never connects to the addresses in @listen_addrs, which outlive the list. Call
 * it before the first server_choice_next().
 */
void servers_exclude(struct servers *servers, const struct self_connect *listen_addrs);

/**
 * servers_on_doubt - Sets the callback for a server that becomes doubtful; called on any thread.
 * Call this before the first choice.
 */
void servers_on_doubt(struct servers *servers, void (*doubt)(void *arg), void *arg);

/**
 * server_choice_next - Selects the next server for a connection, and counts an attempt
 * @choice: all zero the first time
 * @client: the client's address
 *
 * Returns NULL if every server that takes new connections was tried. server_choice_release() is due
 * in any case.
 */
struct nfs_server *server_choice_next(struct servers *servers, struct server_choice *choice,
				      const struct sockaddr *client, uint64_t now_us);
/** servers_client_hash - Returns a hash of the address of @client, the same in every daemon. */
uint64_t servers_client_hash(const struct sockaddr *client);
/** server_choice_remaining - Returns how many servers server_choice_next() can still select. */
unsigned server_choice_remaining(const struct server_choice *choice);
/**
 * server_choice_unreached - Records that the selected server cannot be reached, or refused the
 * connection
 * @addr:   the last address tried; NULL: the name has none
 * @client: as in server_health_unreached(), which decides whether the server failed
 *
 * Returns whether it counts as the server's failure. If so, it is logged, and the caller need not.
 */
bool server_choice_unreached(struct server_choice *choice, const struct sockaddr *addr,
			     const struct sockaddr *client, enum leg_close why, const char *detail,
			     uint64_t now_us);
/** server_choice_failed - Records a failure of the selected server. */
void server_choice_failed(struct server_choice *choice, const char *error, uint64_t now_us);
/**
 * server_choice_unanswered - Records that the connection to the selected server closed without a
 * Reply
 * @addr:   the server's address
 * @client: as in server_health_unanswered(), which decides whether the server failed
 *
 * Returns as server_choice_unreached().
 */
bool server_choice_unanswered(struct server_choice *choice, const struct sockaddr *addr,
			      const struct sockaddr *client, enum leg_close why, const char *detail,
			      uint64_t now_us);
/** server_choice_connected - Records that the selected server is connected. */
void server_choice_connected(struct server_choice *choice);
/** server_choice_first_reply - Records the first Reply of the selected server, from @addr. */
void server_choice_first_reply(struct server_choice *choice, const struct sockaddr *addr,
			       uint64_t now_us);
/** server_choice_stop_waiting - Stops counting the connection as waiting for the first Reply. */
void server_choice_stop_waiting(struct server_choice *choice);
/**
 * server_choice_release - Releases the choice: the connection is over, or was never opened. Accepts
 * a released choice.
 */
void server_choice_release(struct server_choice *choice, uint64_t now_us);

/** servers_in_use - Returns the servers with open connections, as a bit mask. */
uint32_t servers_in_use(struct servers *servers);
/**
 * servers_checked - Records the result of a health check
 * @why, @error: as in server_health_failed(); NULL: the server replied
 *
 * A server that failed is tried last until it passes a check or replies to a client.
 */
void servers_checked(struct servers *servers, unsigned server, enum leg_close why,
		     const char *error, uint64_t now_us);

/**
 * servers_take_doubts - Returns the servers that have become doubtful since the last call, as a bit
 * mask. Check them.
 */
uint32_t servers_take_doubts(struct servers *servers);
/** servers_put_doubts - Undoes servers_take_doubts() for servers that cannot be checked now. */
void servers_put_doubts(struct servers *servers, uint32_t doubts);
/**
 * servers_doubt_checked - Records the check of a doubtful server; @why and @error as above. A
 * failure counts like a client's.
 */
void servers_doubt_checked(struct servers *servers, unsigned server, enum leg_close why,
			   const char *error, uint64_t now_us);

/** server_order_parse - Parses "up", "drain" or "down". Returns 0 or -EINVAL. */
int server_order_parse(const char *text, enum server_order *order) MUST_CHECK;
/** server_order_name - Returns the word for an order. */
const char *server_order_name(enum server_order order);
/**
 * servers_find - Returns a server by its URI from the file, by HOST:PORT, or by HOST if
 * unambiguous; or NULL.
 */
struct nfs_server *servers_find(struct servers *servers, const char *text);
/**
 * server_order_set - Applies an order. After SERVER_ORDER_DOWN, every worker must call
 * bridge_limits_close_disabled().
 */
void server_order_set(struct servers *servers, struct nfs_server *server, enum server_order order);
/** servers_clear_orders - Cancels all orders. */
void servers_clear_orders(struct servers *servers);
/** server_is_ordered_down - Returns whether its connections must close. */
static inline bool server_is_ordered_down(const struct nfs_server *server)
{
	return atomic_load(&server->order) == SERVER_ORDER_DOWN;
}
/** server_stats_get - Copies what is shown of a server. */
void server_stats_get(struct servers *servers, const struct nfs_server *server, uint64_t now_us,
		      struct server_stats *info);

/**
 * servers_best - Finds the first server in the best state: ok, else unknown, else down.
 * @ordered_up: ignore servers that an order has taken out of use
 * @best:       set to its state, with the waiting clients of all servers
 *
 * Returns NULL if all are ignored.
 */
struct nfs_server *servers_best(struct servers *servers, bool ordered_up, uint64_t now_us,
				struct server_health_info *best);

/**
 * servers_are_resolving - Returns whether a DNS lookup of a server is running, which will access
 * the list.
 */
bool servers_are_resolving(struct servers *servers);
/** servers_tick - Calls server_health_tick() for each server. */
void servers_tick(struct servers *servers, uint64_t now_us);

#endif
