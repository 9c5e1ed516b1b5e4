/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The servers of a service: selects one for each client, and keeps the state of each.
 *
 * They are several addresses of one server, or a cluster that shares its state. Each client address has a *home*
 * server: all its connections go there, so that those of `nconnect` stay together. The home changes when an attempt
 * fails and another server is tried. It is kept for a while after the last connection. Live connections never move.
 *
 * Order of selection among the servers that take new connections: the home, while a connection to it is open; the home,
 * if it has not failed recently; the other servers that have not failed recently, by `balance`; then failed servers,
 * least recently failed first.
 *
 * Threads: any; it has its own lock, and parts of each server have theirs.
 */
#ifndef DAEMON_SERVICE_TARGETS_H
#define DAEMON_SERVICE_TARGETS_H

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
#include "daemon/service/server_name.h"
#include "daemon/service/server_state.h"
#include "rpcrdma/peer_profile.h"
#include "rpcrdma/v2/version_cache.h"

#define TARGETS_LAST_US     10000000u  /* a failed server is tried last for this long */
#define TARGETS_REMEMBER_US 120000000u /* a home is kept this long after the last connection */

/* Orders of the administrator; the words are TARGET_ORDERS. */
#define TARGET_ORDERS(X)                                                                           \
	X(UP, "up")                                                                                \
	X(DRAIN, "drain") /* no new connections */                                                 \
	X(DOWN, "down")   /* no connections at all */

enum target_order {
#define TARGET_ORDER_ENUM(name, text) TARGET_##name,
	TARGET_ORDERS(TARGET_ORDER_ENUM)
#undef TARGET_ORDER_ENUM
};

struct target {
	unsigned index;
	struct config_uri uri;
	char text[CONFIG_URI_TEXT_BYTES];
	struct server_name name;
	struct server_state server;
	struct peer_memory peer_memory; /* of an RDMA server */
	struct version_cache versions;  /* of the addresses of an RDMA server; has a lock */
	_Atomic enum target_order order;
	/* Guarded by the lock of the list. */
	bool probe_failed; /* the last health check failed */
	bool has_failed;   /* no Reply since the last failure, at failed_us */
	uint64_t failed_us;
	unsigned connections; /* open connections */
	uint64_t connections_total, attempts, failures;
	char error[LEG_DETAIL_BYTES]; /* last failure; empty: none yet */
	uint64_t error_us;
};

/* What is shown of a server in addition to its server_state. */
struct target_info {
	enum target_order order;
	uint64_t last_us; /* how much longer it is tried last; 0: it is not */
	unsigned connections;
	uint64_t connections_total, attempts, failures;
	char error[LEG_DETAIL_BYTES];
	uint64_t error_age_us;
};

struct target_home;
TAILQ_HEAD(target_home_list, target_home);

struct targets {
	unsigned count;
	struct target *list;
	enum balance balance;
	atomic_uint orders;       /* number of orders so far */
	void (*doubt)(void *arg); /* from targets_on_doubt(); NULL: none */
	void *doubt_arg;
	pthread_mutex_t lock;
	struct hash_key key;
	struct hash_table homes;
	struct target_home_list
		left; /* homes without connections, oldest first; their number is bounded */
	unsigned nleft, left_max;
};

/* The server chosen for a connection; all zero: none yet. Owner's thread only. */
struct target_seat {
	struct targets *targets;
	struct target *target; /* the last choice; NULL: none */
	struct target_home *home;
	uint32_t tried; /* bit mask */
	bool open;
	bool waits;  /* counted as waiting for the server's first Reply */
	bool served; /* has had that Reply, and is counted as served */
};

/* URIs of servers; the configuration owns the strings. */
struct server_uris {
	struct config_uri list[CONFIG_MAX_SERVERS];
	unsigned count;
};

/** server_uris_of - Returns the NFS servers of a service, in the order of the file. */
struct server_uris server_uris_of(const struct service_config *config);
/**
 * mount_servers_of - Returns the servers for Calls of MOUNT; none if those go to the NFS server or nowhere (`mount`)
 *
 * For "rpcbind" that is one for each NFS server, with the same host and the port of rpcbind; else it is the address in
 * the file. Their state is separate, since NFS can work where mountd does not run. An administrator's order for a
 * server applies to both.
 */
struct server_uris mount_servers_of(const struct service_config *config);

/**
 * targets_init - Initializes the list, all servers in SERVER_UNKNOWN
 * @uris:   at least one
 * @config: of the service; outlives them
 * @lines:  log bucket for their names; outlives them. NULL: for a health check, nothing is logged
 *
 * Returns 0, or -ENOMEM: then targets_fini() is not due.
 */
int targets_init(struct targets *targets, const struct server_uris *uris,
		 const struct service_config *config, struct log_limit *lines) MUST_CHECK;
/** targets_fini - Frees the list. Every choice must be released, and no connection may wait for a name. */
void targets_fini(struct targets *targets);

/** targets_avoid - Excludes the addresses in @doors, which outlive the list; before the first targets_seek(). */
void targets_avoid(struct targets *targets, const struct own_doors *doors);

/** targets_on_doubt - Sets @doubt, called on any thread if targets_take_doubts() has a server; before any choice. */
void targets_on_doubt(struct targets *targets, void (*doubt)(void *arg), void *arg);

/**
 * targets_seek - Selects the next server for a connection, and counts an attempt
 * @choice: all zero the first time
 * @client: the client's address
 *
 * Returns NULL if every server that takes new connections was tried. targets_leave() is due in any case.
 */
struct target *targets_seek(struct targets *targets, struct target_seat *seat,
			    const struct sockaddr *client, uint64_t now_us);
/** targets_client_number - Returns a hash of the address of @client, the same in every daemon. */
uint64_t targets_client_number(const struct sockaddr *client);
/** targets_left - Returns how many servers targets_seek() can still select. */
unsigned targets_left(const struct target_seat *seat);
/**
 * targets_unreached - The selected server cannot be reached for @why, or refused the connection
 * @addr:   the last address tried; NULL: the name has none
 * @client: as in server_state_unreached(), which decides whether the server failed
 *
 * Returns whether it counts as the server's failure. If so it is logged, and the caller need not log it.
 */
bool targets_unreached(struct target_seat *seat, const struct sockaddr *addr,
		       const struct sockaddr *client, enum leg_close why, const char *detail,
		       uint64_t now_us);
/** targets_failed - Records a failure of the selected server. */
void targets_failed(struct target_seat *seat, const char *error, uint64_t now_us);
/**
 * targets_unanswered - The connection to the selected server ends for @why without a Reply
 * @addr:   the server's address
 * @client: as in server_state_unanswered(), which decides whether the server failed
 *
 * Returns as targets_unreached().
 */
bool targets_unanswered(struct target_seat *seat, const struct sockaddr *addr,
			const struct sockaddr *client, enum leg_close why, const char *detail,
			uint64_t now_us);
/** targets_opened - The selected server is connected. */
void targets_opened(struct target_seat *seat);
/** targets_answered - The selected server has sent its first Reply, from @addr. */
void targets_answered(struct target_seat *seat, const struct sockaddr *addr, uint64_t now_us);
/** targets_wait_no_longer - Stops counting the connection as waiting for the first Reply. */
void targets_wait_no_longer(struct target_seat *seat);
/** targets_leave - Releases the choice: the connection is over, or was never opened. Accepts a released choice. */
void targets_leave(struct target_seat *seat, uint64_t now_us);

/** targets_in_use - Returns the servers with open connections, as a bit mask. */
uint32_t targets_in_use(struct targets *targets);
/**
 * targets_probed - Records the result of a health check
 * @why, @error: as in server_state_failed(); NULL: the server replied
 *
 * A server that failed is tried last until it passes a check or replies to a client.
 */
void targets_probed(struct targets *targets, unsigned target, enum leg_close why, const char *error,
		    uint64_t now_us);

/** targets_take_doubts - Returns the servers that have become doubtful since, as a bit mask; check them. */
uint32_t targets_take_doubts(struct targets *targets);
/** targets_put_doubts - Undoes targets_take_doubts() for servers that cannot be checked now. */
void targets_put_doubts(struct targets *targets, uint32_t doubts);
/** targets_asked - Records the check of a doubtful server; @why and @error as above. A failure counts like a client's. */
void targets_asked(struct targets *targets, unsigned target, enum leg_close why, const char *error,
		   uint64_t now_us);

/** target_order_parse - Parses "up", "drain" or "down". Returns 0 or -EINVAL. */
int target_order_parse(const char *text, enum target_order *order) MUST_CHECK;
/** target_order_name - Returns the word for an order. */
const char *target_order_name(enum target_order order);
/** target_find - Returns a server by its URI from the file, by HOST:PORT, or by HOST if unambiguous; or NULL. */
struct target *target_find(struct targets *targets, const char *text);
/** target_set - Applies an order. After TARGET_DOWN, bridges_end_ordered() is due on every worker. */
void target_set(struct targets *targets, struct target *target, enum target_order order);
/** targets_all_up - Cancels all orders. */
void targets_all_up(struct targets *targets);
/** target_is_down - Returns whether its connections must close. */
static inline bool target_is_down(const struct target *target)
{
	return atomic_load(&target->order) == TARGET_DOWN;
}
/** target_info_get - Copies what is shown of a server. */
void target_info_get(struct targets *targets, const struct target *target, uint64_t now_us,
		     struct target_info *info);

/** targets_are_sought - Returns whether a DNS lookup of a server is running, which will access the list. */
bool targets_are_sought(struct targets *targets);
/** targets_look - Calls server_state_look() for each server. */
void targets_look(struct targets *targets, uint64_t now_us);

#endif
