/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The private structure and the states of a bridge. The comment of each substructure names the one
 * file that writes it; the other files of this directory only read it.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_STATE_H
#define DAEMON_BRIDGE_BRIDGE_STATE_H

#include "base/state_machine.h"
#include "daemon/base/log.h"
#include "daemon/service/client_affinity.h"
#include "daemon/service/worker_service.h"
#include "daemon/upstream/upstream_connect.h"
#include "leg/leg.h"
#include "nfs/nfs.h"

#define BRIDGE_CONNECT_TIMEOUT_US 10000000u /* to connect to a server, and to accept a client */

#define BRIDGE_STATES(X)                                                                           \
	X(BRIDGE_WAIT_FIRST_BYTE, "waiting", "the client's first byte, or its RDMA request",       \
	  TO(BRIDGE_WAIT_FIRST_CALL) | TO(BRIDGE_WAIT_OLD_CONN) | TO(BRIDGE_RESOLVING) |           \
		  TO(BRIDGE_CLOSING))                                                              \
	X(BRIDGE_WAIT_FIRST_CALL, "reading",                                                       \
	  "the client's first Call, which can identify the client",                                \
	  TO(BRIDGE_WAIT_OLD_CONN) | TO(BRIDGE_RESOLVING) | TO(BRIDGE_TARPIT) |                    \
		  TO(BRIDGE_CLOSING))                                                              \
	X(BRIDGE_WAIT_OLD_CONN, "reclaiming",                                                      \
	  "the client's previous connection to close, to reuse its source port",                   \
	  TO(BRIDGE_WAIT_FIRST_CALL) | TO(BRIDGE_RESOLVING) | TO(BRIDGE_TARPIT) |                  \
		  TO(BRIDGE_CLOSING))                                                              \
	X(BRIDGE_RESOLVING, "resolving", "the addresses of the server's name",                     \
	  TO(BRIDGE_CONNECTING) | TO(BRIDGE_TARPIT) | TO(BRIDGE_CLOSING))                          \
	X(BRIDGE_CONNECTING, "connecting", "the server leg to open, then the client leg",          \
	  TO(BRIDGE_OPEN) | TO(BRIDGE_TARPIT) | TO(BRIDGE_CLOSING))                                \
	X(BRIDGE_OPEN, "open", "either leg to close",                                              \
	  TO(BRIDGE_REROUTING) | TO(BRIDGE_TARPIT) | TO(BRIDGE_CLOSING))                           \
	X(BRIDGE_REROUTING, "rerouting",                                                           \
	  "the server leg to be closed, since the client's first Call goes to MOUNT",              \
	  TO(BRIDGE_RESOLVING) | TO(BRIDGE_TARPIT) | TO(BRIDGE_CLOSING))                           \
	X(BRIDGE_TARPIT, "held",                                                                   \
	  "the end of the delay that keeps a rejected client from reconnecting immediately",       \
	  TO(BRIDGE_CLOSING))                                                                      \
	X(BRIDGE_CLOSING, "closing", "both legs to be closed", 0)
STATE_ENUM(bridge_state, BRIDGE_STATES);
extern const struct state_table bridge_states;

struct bridge_side {
	struct bridge *bridge;
	struct bridge_side *other;
	struct leg *leg;           /* server side: NULL before it opens and after it closed */
	struct exchange_hook hook; /* for the Calls of this side's peer (reply_delivery.h) */
};

/* Replies that the client has not acknowledged, oldest first (reply_delivery.h). */
struct unacked_replies {
	TAILQ_ENTRY(bridge) entry; /* in the queue of `interval`; queued while `first` is set */
	struct delivery_wait *first, *last; /* last: valid while first is set */
	/* first one added since the last query; NULL: none */
	struct delivery_wait *first_unchecked;
	uint64_t check_us; /* time of the next query; 0: none is due */
	unsigned interval;
};

/* Progress of opening (bridge_open.c). */
struct bridge_open {
	bool trusted;          /* over iWARP the client counts as privileged, whatever its port */
	bool protocol_unknown; /* TCP or iWARP; treated as TCP until the first bytes decide */
	bool accepted;         /* the client leg was accepted before the server leg opened */
	bool forwarding;       /* a server leg accepts the client's Calls */
	bool open_logged;      /* the line that the bridge is open was logged */
	struct loop_task detect_protocol; /* of a client that may be TCP or iWARP */
	struct loop_task reroute;         /* starts the upstream to a MOUNT server */
};

/* Where the client's Calls go (bridge_route.c). */
enum bridge_route {
	ROUTE_UNDECIDED, /* the first Call decides */
	ROUTE_CONNECT,   /* to a server of the service */
	ROUTE_MOUNT,     /* to a MOUNT server */
	ROUTE_NONE,      /* of a Call that is rejected; a connection never has this route */
};

struct bridge_routing {
	enum bridge_route route;
	bool rejection_logged; /* a rejected Call was logged; only the first one is */
};

/* State for the connection limits of the service (bridge_limits.c). */
struct bridge_limits {
	struct conn_slot *slot;  /* the connection slot; NULL: both legs have closed */
	bool had_call;           /* a Call has arrived from either end */
	bool half_closed;        /* the client has closed its sending side */
	uint64_t received_bytes; /* received from the client at the last check */
	uint64_t acked_bytes;    /* half_closed: acknowledged by the client at the last check */
	struct tls_handshake tls_handshake; /* of the client, while it lasts (bridge_tls.c) */
};

/* The client's last Call, for the log. */
struct last_call {
	uint32_t xid, prog, vers, proc;
	const char *program, *procedure;
	uint64_t start_us;
};

/* The client's Calls (bridge_affinity.c; `late`: late_call_scan.c). */
struct bridge_calls {
	struct exchange_list list; /* unanswered Calls, linked by owner_entry */
	bool late;                 /* the last scan found one that had waited long */
	uint64_t total;
	struct last_call last;
	/* ring of the last ones */
	struct call_fingerprint answered[CALL_FINGERPRINTS_ANSWERED_MAX];
	unsigned nanswered;
};

/* Identifies the client when it reconnects (bridge_affinity.c; first_source: bridge_open.c). */
struct bridge_affinity {
	struct affinity_client *client; /* NULL: it was released */
	/* Source of the upstream that a MOUNT upstream replaced; port 0: none. */
	struct source_affinity first_source;
};

/* Progress of closing (bridge_close.c). */
struct bridge_close_state {
	enum leg_close why; /* valid from BRIDGE_TARPIT or BRIDGE_CLOSING on */
	bool draining;      /* the bridge closes once no Call is in flight */
	/* the client leg closes: acknowledgements are not queried any more */
	bool client_closing;
	bool client_leg_closed;
	struct loop_task reaper;
};

struct bridge {
	TAILQ_ENTRY(bridge) entry;
	struct worker_service *ws;
	uint64_t id, start_us;
	struct state state; /* bridge_set_state() */
	struct sockaddr_storage peer;
	struct bridge_side client, server;
	bool client_is_tcp;
	struct budget_holder memory;
	struct upstream upstream;
	/* NFSv4.1 sessions seen on this connection (bridge_forward.c) */
	struct nfs_sessions sessions;
	/* in WAIT_FIRST_BYTE, WAIT_FIRST_CALL, WAIT_OLD_CONN and TARPIT, and while half-closed */
	struct loop_timer *timer;
	struct bridge_open open;
	struct bridge_routing routing;
	struct bridge_limits limits;
	struct bridge_calls calls;
	struct unacked_replies unacked;
	struct bridge_affinity affinity;
	struct bridge_close_state end;
	struct log_ctx log;
};

/* Returns whether the server sees the client's own address and port. */
static inline bool bridge_keeps_port(const struct bridge *bridge)
{
	return bridge->ws->service->config->source == SOURCE_CLIENT && bridge->client_is_tcp;
}

static inline struct loop *bridge_loop(const struct bridge *bridge)
{
	return bridge->ws->env->loop;
}

static inline struct bridge *bridge_of(struct upstream *upstream)
{
	return container_of(upstream, struct bridge, upstream);
}

/* bridge_set_state - Changes the state; the only function that does. */
void bridge_set_state(struct bridge *bridge, enum bridge_state to);

/*
 * Returns the rate limit of a kind of log line. @line: an enum service_line; for LINE_CLOSED and
 * LINE_REFUSED the reason is added to it.
 */
static inline struct log_limit *bridge_line_limit(const struct bridge *bridge, unsigned line)
{
	return &bridge->ws->service->lines[line];
}

/* Logs a step of opening or closing. */
#define bridge_debug(bridge, ...)                                                                  \
	log_limited(LOG_LEVEL_DEBUG, bridge_line_limit(bridge, LINE_DEBUG), &(bridge)->log,        \
		    __VA_ARGS__)

/* Returns true once the bridge is closing: nothing is forwarded any more. */
static inline bool bridge_is_closing(const struct bridge *bridge)
{
	return bridge->state.now >= BRIDGE_TARPIT;
}

#endif
