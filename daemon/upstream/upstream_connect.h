/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens one connection to a server out of a list, for one client or for a health check:
 *
 *   1. Select a server (daemon/service/servers.h).
 *   2. Resolve its name (daemon/service/dns_cache.h).
 *   3. Try its addresses in order (daemon/upstream/connect_plan.h). daemon/upstream/source_addr.h
 *      chooses the source address and port.
 *   4. Hand the leg of the first successful attempt to the owner. If all fail and time is left,
 *      select the next server.
 *
 * This module enforces the time limits and avoids verbs for a while after it failed. A reconnecting
 * client gets its previous source port if that is free, so that the server recognizes
 * retransmissions (daemon/service/client_affinity.h).
 *
 * An upstream is embedded in its owner and runs on one thread. No function here calls back before
 * it returns.
 */
#ifndef DAEMON_UPSTREAM_UPSTREAM_CONNECT_H
#define DAEMON_UPSTREAM_UPSTREAM_CONNECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/state_machine.h"
#include "daemon/base/log.h"
#include "daemon/service/backend.h"
#include "daemon/service/service_net.h"
#include "daemon/upstream/connect_plan.h"
#include "daemon/upstream/source_addr.h"
#include "leg/leg.h"

#define UPSTREAM_STATES(X)                                                                         \
	X(UPSTREAM_IDLE, "idle", "upstream_start()", TO(UPSTREAM_RESOLVING) | TO(UPSTREAM_CLOSED)) \
	X(UPSTREAM_RESOLVING, "resolving", "the addresses of the server's name",                   \
	  TO(UPSTREAM_QUERYING_RPCBIND) | TO(UPSTREAM_CONNECTING) | TO(UPSTREAM_CLOSED))           \
	X(UPSTREAM_QUERYING_RPCBIND, "asking",                                                     \
	  "rpcbind of the server to return the port of MOUNT",                                     \
	  TO(UPSTREAM_RESOLVING) | TO(UPSTREAM_CONNECTING) | TO(UPSTREAM_CLOSED))                  \
	X(UPSTREAM_CONNECTING, "connecting", "the leg of an attempt to open",                      \
	  TO(UPSTREAM_RESOLVING) | TO(UPSTREAM_WAIT_RETRY) | TO(UPSTREAM_OPEN) |                   \
		  TO(UPSTREAM_CLOSING) | TO(UPSTREAM_CLOSED))                                      \
	X(UPSTREAM_WAIT_RETRY, "between", "the failed leg's closed(), before the next attempt",    \
	  TO(UPSTREAM_RESOLVING) | TO(UPSTREAM_CONNECTING) | TO(UPSTREAM_CLOSING) |                \
		  TO(UPSTREAM_CLOSED))                                                             \
	X(UPSTREAM_OPEN, "open", "the end of the connection to the server", TO(UPSTREAM_CLOSING))  \
	X(UPSTREAM_CLOSING, "closing", "the leg's closed()", TO(UPSTREAM_CLOSED))                  \
	X(UPSTREAM_CLOSED, "closed", "upstream_fini()", 0)
STATE_ENUM(upstream_state, UPSTREAM_STATES);
extern const struct state_table upstream_states;

struct upstream;

/* Callbacks into the owner. It contains the upstream: see container_of(). */
struct upstream_events {
	/* Called once: the first name is resolved and the attempts start. */
	void (*connecting)(struct upstream *upstream);
	/* The server is connected. From now on @leg calls the events in `leg`. */
	void (*opened)(struct upstream *upstream, struct leg *leg);
	/* Returns whether a Call of the client was sent on the leg. NULL: never. */
	bool (*has_called)(struct upstream *upstream);
	/* No server is reachable. @why, @detail: of the last attempt, or of another obstacle. */
	void (*failed)(struct upstream *upstream, enum leg_close why, const char *detail);
	/* The open leg closes. */
	void (*closing)(struct upstream *upstream, enum leg_close why, const char *detail);
	/* Follows failed(), closing() or upstream_close(); the last callback. */
	void (*closed)(struct upstream *upstream);
	/*
	 * Events of the leg, whose arg is the upstream: UPSTREAM_LEG_EVENTS, and for the open leg
	 * the owner's call, reply, more, call_ready and note. reply() must first call
	 * upstream_reply_received().
	 */
	const struct leg_events *leg;
};
#define UPSTREAM_LEG_EVENTS                                                                        \
	.opened = upstream_leg_opened, .closing = upstream_leg_closing,                            \
	.closed = upstream_leg_closed

struct upstream {
	struct service_net *net;
	struct log_ctx *log;
	const struct upstream_events *events;
	struct leg_config leg_config; /* for the legs of the attempts */
	struct state state;
	struct source_addr from;
	uint32_t program;              /* upstream_set_program() */
	const struct backend *backend; /* the servers to select from */
	struct server_choice choice;   /* the selected server */
	uint64_t deadline_us;          /* for the leg to open */
	uint64_t server_deadline_us;   /* the same, for the current server */
	bool abandoned;                /* the current server failed */
	bool failure_logged;           /* the service has logged the failure: the owner need not */
	struct dns_wait name;
	struct mountd_wait mountd_wait; /* for the address of MOUNT from rpcbind */
	bool mountd_is_cached;          /* that address is a cached answer */
	bool ask_rpcbind_again;         /* the cached answer was wrong: query rpcbind again */
	struct loop_timer *resolving;   /* time limit of the name resolution */
	struct loop_task retry;
	struct connect_plan plan;
	const struct connect_attempt *attempt; /* the current one, until the leg opens */
	bool connecting_reported;
	struct leg *leg;
	bool leg_has_closed;            /* the leg has closed and can be freed */
	struct held_port reserved_port; /* the reserved port of the leg */
	enum leg_close why;             /* why the last attempt failed */
	char detail[LEG_DETAIL_BYTES];
};

/**
 * upstream_init - Initializes an upstream; upstream_start() connects it.
 * @net:        the fabrics and sockets of its legs; outlives it
 * @backend:    the servers to select from; outlives it
 * @leg_config: for its legs; copied. Its events, arg and time limit are not used
 * @log:        for log lines; after the start it names the current server
 *
 * Returns 0 or -ENOMEM.
 */
int upstream_init(struct upstream *upstream, struct service_net *net, const struct backend *backend,
		  const struct leg_config *leg_config, struct log_ctx *log,
		  const struct upstream_events *events) MUST_CHECK;
/** upstream_fini - Frees the leg, if any. Only before the start or if upstream_is_closed(). */
void upstream_fini(struct upstream *upstream);

/**
 * upstream_set_reverse_limits - Sets the limits of reverse Calls to the client, as in leg_config;
 * before the start.
 */
void upstream_set_reverse_limits(struct upstream *upstream, const struct reply_memory *reply_memory,
				 uint32_t max_bytes);
/**
 * upstream_set_client - Sets the client; before the start. Connections of one client address use
 * the same server.
 * @at: the local address that the client connected to, for the PROXY header
 * @keeps_port: with source = "client", also use the client's port
 */
void upstream_set_client(struct upstream *upstream, const struct sockaddr_storage *client,
			 const struct sockaddr_storage *at, bool keeps_port);
/**
 * upstream_clear_keeps_port - Clears keeps_port, for a client that is not TCP; before the start.
 */
static inline void upstream_clear_keeps_port(struct upstream *upstream)
{
	upstream->from.keeps_port = false;
}

/**
 * upstream_set_privileged - Marks the client as privileged on its host
 * (daemon/service/accepted_conn.h); before the start.
 */
static inline void upstream_set_privileged(struct upstream *upstream)
{
	upstream->from.privileged = true;
}

/**
 * upstream_set_program - Sets what the connection is for, if not for NFS: MOUNT or rpcbind; before
 * the start. tls_connect applies to NFS and MOUNT.
 */
static inline void upstream_set_program(struct upstream *upstream, uint32_t program)
{
	upstream->program = program;
}
/**
 * upstream_use_mount_servers - Uses the MOUNT servers instead, without a PROXY header; before the
 * start.
 */
void upstream_use_mount_servers(struct upstream *upstream, const struct backend *mount_servers);
/**
 * upstream_reset - Resets a closed upstream to its state before the start, without a preferred
 * source; not in an event.
 */
void upstream_reset(struct upstream *upstream);
/**
 * upstream_set_source - Sets the source address and port; copied. Without a call any source is
 * used.
 */
void upstream_set_source(struct upstream *upstream, const struct source_affinity *affinity);
/**
 * upstream_start - Starts connecting to a server, for at most @timeout_us.
 *
 * connecting() follows if a name resolves, and then opened() or failed().
 */
void upstream_start(struct upstream *upstream, uint64_t timeout_us);

/**
 * upstream_close - Closes in any state; the leg closes for @why.
 *
 * opened(), failed() and closing() are not called any more. closed() follows, unless
 * upstream_is_closed() already.
 */
void upstream_close(struct upstream *upstream, enum leg_close why);
/**
 * upstream_was_down - Returns whether the server of the open leg counts as down until its first
 * Reply.
 */
bool upstream_was_down(const struct upstream *upstream);
/** upstream_server - Returns the current or last server; NULL before the first. */
const struct nfs_server *upstream_server(const struct upstream *upstream);
/** upstream_is_closed - Returns whether no callback can follow. */
bool upstream_is_closed(const struct upstream *upstream);
/** upstream_leg - Returns the leg that connects or is open; NULL without one. */
const struct leg *upstream_leg(const struct upstream *upstream);

/**
 * upstream_first_reply - Reports the first Reply of this connection; only for
 * upstream_reply_received().
 */
void upstream_first_reply(struct upstream *upstream);

/**
 * upstream_reply_received - Reports a Reply of the leg as a sign that the server is up.
 *
 * Only a Reply proves that: a proxy in front of the server can accept connections while the server
 * is down. Returns whether it is the first Reply of this connection.
 */
static inline bool upstream_reply_received(struct upstream *upstream, const struct exchange *x)
{
	/* The leg made this fault: the server has not seen the Call. */
	if (x->fault == EXCHANGE_FAULT_CANT_SEND)
		return false;
	if (!upstream->choice.awaits_reply) {
		server_health_replied(&upstream->choice.server->health);
		return false;
	}
	upstream_first_reply(upstream);
	return true;
}

/* Handlers of leg events, for UPSTREAM_LEG_EVENTS. */
void upstream_leg_opened(void *arg);
void upstream_leg_closing(void *arg, enum leg_close why, const char *detail);
void upstream_leg_closed(void *arg);

#endif
