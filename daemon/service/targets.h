/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The servers of a service, its targets: which of them a client is given, and what is known of each.
 *
 * One server in several places, or a cluster that shares its state. A client, that is an address, has its home at one
 * of them: all connections that come from there lead to the same, so that those of `nconnect` stay together. The home
 * moves when an attempt to reach it fails and another target is tried, and is kept for a while behind the last
 * connection. No connection that lives is ever moved.
 *
 * Of the targets that take new connections a client is given, in this order: its home while a connection lives there;
 * its home, if that has not failed of late; the others that have not, as `balance` says; and then those that have,
 * the one first that has failed longest ago.
 *
 * Threads: any; under a lock of its own, but for what a target has a lock for itself.
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

#define TARGETS_LAST_US     10000000u  /* so long one that has failed is tried last */
#define TARGETS_REMEMBER_US 120000000u /* so long a home is kept behind the last connection */

/* What an administrator has said; as the words of TARGET_ORDERS. */
#define TARGET_ORDERS(X)                                                                           \
	X(UP, "up")                                                                                \
	X(DRAIN, "drain") /* no new connections */                                                 \
	X(DOWN, "down")   /* nor old ones */

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
	struct version_cache versions;  /* of an RDMA server's addresses; it has a lock */
	_Atomic enum target_order order;
	/* Under the lock of its targets. */
	bool probe_failed; /* the last one that was no client's */
	bool has_failed;   /* since one answered last … */
	uint64_t failed_us;
	unsigned connections; /* that are open */
	uint64_t connections_total, attempts, failures;
	char error[LEG_DETAIL_BYTES]; /* of the last failure; empty: none yet */
	uint64_t error_us;
};

/* What is shown of one, beside what its server_state says. */
struct target_info {
	enum target_order order;
	uint64_t last_us; /* how long it is still tried last; 0: it is not */
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
	atomic_uint orders;       /* how many were given */
	void (*doubt)(void *arg); /* of targets_on_doubt(); NULL: nobody asks */
	void *doubt_arg;
	pthread_mutex_t lock;
	struct hash_key key;
	struct hash_table homes;
	struct target_home_list left; /* without connections, the oldest first … */
	unsigned nleft, left_max;
};

/* A connection's part in it; all zero: none yet. Its owner's thread only. */
struct target_seat {
	struct targets *targets;
	struct target *target; /* that was given last; NULL: none */
	struct target_home *home;
	uint32_t tried; /* a bit each */
	bool open;
	bool waits;  /* for the target's first Reply, as its state counts */
	bool served; /* it has had that, and is counted with those who have */
};

/* Addresses of servers, whose texts the configuration has. */
struct server_uris {
	struct config_uri list[CONFIG_MAX_SERVERS];
	unsigned count;
};

/** server_uris_of - those of a service, in the order of the file. */
struct server_uris server_uris_of(const struct service_config *config);
/**
 * mount_servers_of - the servers to which Calls of MOUNT go; none where they go where everything does, or nowhere (`mount`)
 *
 * By "rpcbind" there is one for each of the service's servers, on the same host, known by rpcbind's address there; else it
 * is the one address that the file names. What is known of them is kept apart: where mountd does not run, NFS may be
 * served all the same. What an administrator orders of a server holds for both.
 */
struct server_uris mount_servers_of(const struct service_config *config);

/**
 * targets_init - servers that nobody has asked yet
 * @uris:   where they are; at least one
 * @config: of their service; outlives them
 * @lines:  what the log says of their names; outlives them. NULL: no client has them, and the log says nothing of them
 *
 * Returns 0 or -ENOMEM; then targets_fini() is not due.
 */
int targets_init(struct targets *targets, const struct server_uris *uris,
		 const struct service_config *config, struct log_limit *lines) MUST_CHECK;
/** targets_fini - every seat has been left, and no desk waits for their names. */
void targets_fini(struct targets *targets);

/** targets_avoid - no name leads to @doors, which outlive them; before anybody seeks. */
void targets_avoid(struct targets *targets, const struct own_doors *doors);

/** targets_on_doubt - @doubt is called from any thread when targets_take_doubts() has one; before anybody seeks. */
void targets_on_doubt(struct targets *targets, void (*doubt)(void *arg), void *arg);

/**
 * targets_seek - the next target for a connection to try, which counts as an attempt
 * @seat:   all zero for the first one
 * @client: its address
 *
 * Returns NULL if every one that takes new connections was tried. targets_leave() is due in any case.
 */
struct target *targets_seek(struct targets *targets, struct target_seat *seat,
			    const struct sockaddr *client, uint64_t now_us);
/** targets_client_number - returns a number for the address of @client, the same in every daemon. */
uint64_t targets_client_number(const struct sockaddr *client);
/** targets_left - for how many targets targets_seek() would not return NULL now. */
unsigned targets_left(const struct target_seat *seat);
/**
 * targets_unreached - what was given last cannot be reached for @why, or has not taken the connection
 * @addr:   that was tried last; NULL: its name has none
 * @client: as of server_state_unreached(), which decides whether that is the server's failure
 *
 * Returns whether it is, and so is told: the caller need not.
 */
bool targets_unreached(struct target_seat *seat, const struct sockaddr *addr,
		       const struct sockaddr *client, enum leg_close why, const char *detail,
		       uint64_t now_us);
/** targets_failed - what was given last cannot be reached, or does not answer, for that reason. */
void targets_failed(struct target_seat *seat, const char *error, uint64_t now_us);
/**
 * targets_unanswered - the connection to what was given last ends for @why, and brought no Reply
 * @addr:   where it led
 * @client: as of server_state_unanswered(), which decides whether that is the server's failure
 *
 * Returns as targets_unreached().
 */
bool targets_unanswered(struct target_seat *seat, const struct sockaddr *addr,
			const struct sockaddr *client, enum leg_close why, const char *detail,
			uint64_t now_us);
/** targets_opened - there is a connection to what was given last. */
void targets_opened(struct target_seat *seat);
/** targets_answered - what was given last has sent its first Reply, from @addr. */
void targets_answered(struct target_seat *seat, const struct sockaddr *addr, uint64_t now_us);
/** targets_wait_no_longer - it does not wait for a first Reply any more, as it does from targets_seek() to that. */
void targets_wait_no_longer(struct target_seat *seat);
/** targets_leave - that connection is over, or there will be none; accepts a seat that was left. */
void targets_leave(struct target_seat *seat, uint64_t now_us);

/** targets_in_use - those to which there is a connection, a bit each. */
uint32_t targets_in_use(struct targets *targets);
/**
 * targets_probed - somebody who is no client has asked one whether it answers
 * @why, @error: as of server_state_failed(); NULL: it does
 *
 * One that does not is tried last until it does again, or answers a client.
 */
void targets_probed(struct targets *targets, unsigned target, enum leg_close why, const char *error,
		    uint64_t now_us);

/** targets_take_doubts - returns those that have become doubtful since, a bit each: they are to be asked. */
uint32_t targets_take_doubts(struct targets *targets);
/** targets_put_doubts - those cannot be asked now, and are doubtful as before. */
void targets_put_doubts(struct targets *targets, uint32_t doubts);
/** targets_asked - a doubtful one was asked; @why and @error as above. One that fails counts as if a client had met that. */
void targets_asked(struct targets *targets, unsigned target, enum leg_close why, const char *error,
		   uint64_t now_us);

/** target_order_parse - "up", "drain" or "down". Returns 0 or -EINVAL. */
int target_order_parse(const char *text, enum target_order *order) MUST_CHECK;
/** target_order_name - the word for it. */
const char *target_order_name(enum target_order order);
/** target_find - by its URI as the file has it, or HOST:PORT, or HOST if no other has that; NULL: none. */
struct target *target_find(struct targets *targets, const char *text);
/** target_set - from now on; for TARGET_DOWN bridges_end_ordered() is due on every worker. */
void target_set(struct targets *targets, struct target *target, enum target_order order);
/** targets_all_up - no order counts any more. */
void targets_all_up(struct targets *targets);
/** target_is_down - whether its connections have to go. */
static inline bool target_is_down(const struct target *target)
{
	return atomic_load(&target->order) == TARGET_DOWN;
}
/** target_info_get - what there is to show; copied. */
void target_info_get(struct targets *targets, const struct target *target, uint64_t now_us,
		     struct target_info *info);

/** targets_are_sought - whether a look-up of a name of theirs is out, which comes back to it. */
bool targets_are_sought(struct targets *targets);
/** targets_look - have the log say of each server what is due (server_state_look()). */
void targets_look(struct targets *targets, uint64_t now_us);

#endif
