/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a bridge is made of, and its states: for the files of this folder that are one. Each part of it is written by one
 * of these files alone; the others look.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_STATE_H
#define DAEMON_BRIDGE_BRIDGE_STATE_H

#include "base/state.h"
#include "daemon/base/log.h"
#include "daemon/service/clients.h"
#include "daemon/service/worker_service.h"
#include "daemon/upstream/upstream_connect.h"
#include "leg/leg.h"
#include "nfs/nfs.h"

#define BRIDGE_CONNECT_TIMEOUT_US                                                                  \
	10000000u /* for the server to be reached, and for a client to be accepted */

#define BRIDGE_STATES(X)                                                                           \
	X(BRIDGE_WAITING, "waiting", "the client's first byte, or its RDMA request",               \
	  TO(BRIDGE_READING) | TO(BRIDGE_RECLAIMING) | TO(BRIDGE_RESOLVING) | TO(BRIDGE_CLOSING))  \
	X(BRIDGE_READING, "reading", "the client's first Call, by which it may be known",          \
	  TO(BRIDGE_RECLAIMING) | TO(BRIDGE_RESOLVING) | TO(BRIDGE_HELD) | TO(BRIDGE_CLOSING))     \
	X(BRIDGE_RECLAIMING, "reclaiming",                                                         \
	  "the client's old connection to end, whose source port this one is to have",             \
	  TO(BRIDGE_READING) | TO(BRIDGE_RESOLVING) | TO(BRIDGE_HELD) | TO(BRIDGE_CLOSING))        \
	X(BRIDGE_RESOLVING, "resolving", "the addresses of the server's name",                     \
	  TO(BRIDGE_CONNECTING) | TO(BRIDGE_HELD) | TO(BRIDGE_CLOSING))                            \
	X(BRIDGE_CONNECTING, "connecting", "the server leg to open, then the client leg",          \
	  TO(BRIDGE_OPEN) | TO(BRIDGE_HELD) | TO(BRIDGE_CLOSING))                                  \
	X(BRIDGE_OPEN, "open", "either leg to close",                                              \
	  TO(BRIDGE_REROUTING) | TO(BRIDGE_HELD) | TO(BRIDGE_CLOSING))                             \
	X(BRIDGE_REROUTING, "rerouting",                                                           \
	  "the server leg to be over, since the client's first Call goes to MOUNT",                \
	  TO(BRIDGE_RESOLVING) | TO(BRIDGE_HELD) | TO(BRIDGE_CLOSING))                             \
	X(BRIDGE_HELD, "held",                                                                     \
	  "a moment to pass, so that a client without a server does not come back at once",        \
	  TO(BRIDGE_CLOSING))                                                                      \
	X(BRIDGE_CLOSING, "closing", "both legs to be over", 0)
STATE_ENUM(bridge_state, BRIDGE_STATES);
extern const struct state_table bridge_states;

struct bridge_side {
	struct bridge *bridge;
	struct bridge_side *other;
	struct leg *leg;             /* the server's: NULL until it is open, and when it is over */
	struct exchange_watch watch; /* of its peer's Calls (taking.h) */
};

/* Replies that the client has not taken, the oldest first (taking.h). */
struct unacked_replies {
	TAILQ_ENTRY(bridge) entry;       /* in the queue of its interval, if there are any */
	struct taking_end *first, *last; /* last: good while there is a first */
	struct taking_end *news; /* the first that has come since it was asked last; NULL: none */
	uint64_t ask_us;         /* when to ask; 0: there are none */
	unsigned interval;
};

/* How it opens (opening.c). */
struct bridge_open {
	bool trusted;             /* over iwarp it is privileged, whatever its port */
	bool either;              /* TCP or iWARP: TCP until its first bytes decide */
	bool accepted;            /* the client, before its server was sought */
	bool passing;             /* there is a server for the client's Calls */
	bool told;                /* to the log, that it is open */
	struct loop_task settle;  /* either */
	struct loop_task reroute; /* the upstream is over that its first Call does not go to */
};

/* Where its Calls go (routing.c). */
enum bridge_route {
	ROUTE_OPEN,    /* its first Call is to decide */
	ROUTE_CONNECT, /* to the service's server */
	ROUTE_MOUNT,   /* where MOUNT is */
	ROUTE_NOWHERE, /* of a Call alone */
};

struct bridge_routing {
	enum bridge_route route;
	bool refusal_told; /* of a Call that goes elsewhere: to the log */
};

/* What it is at the limits of its service (standing.c). */
struct bridge_limits {
	struct guest *guest;  /* of the service's door; NULL: both legs are over */
	bool carried;         /* a Call, from either end */
	bool half_closed;     /* the client has ended its sending side */
	uint64_t heard_bytes; /* from the client, when it was last looked at */
	uint64_t taken_bytes; /* half_closed: by the client, when it was last looked at */
};

/* What the log says of the Call that came last from the client. */
struct last_call {
	uint32_t xid, prog, vers, proc;
	const char *program, *procedure;
	uint64_t start_us;
};

/* The client's Calls (returning.c; `late`: call_watch.c). */
struct bridge_calls {
	struct exchange_list list; /* without a Reply; by owner_entry */
	bool late; /* one of them had waited for long, when they were last looked at */
	uint64_t total;
	struct last_call last;
	struct call_mark answered[CLIENTS_ANSWERED_MAX]; /* the last ones, as a ring */
	unsigned nanswered;
};

/* By what its client is known when it comes back (returning.c; first_pin: opening.c). */
struct bridge_affinity {
	struct client *client; /* among those of the service; NULL: its port is given back */
	struct client_pin
		first_pin; /* of an upstream that was replaced by that to MOUNT; port 0: none */
};

/* How it ends (closing.c). */
struct bridge_end {
	enum leg_close why;  /* from HELD or CLOSING on */
	bool drains;         /* it ends between Calls */
	bool client_closing; /* its leg closes by itself: what it takes is not asked any more */
	bool client_over;
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
	struct nfs_sessions sessions; /* that this connection has shown (passing.c) */
	struct loop_timer *timer; /* WAITING, READING, RECLAIMING, HELD, and while half-closed */
	struct bridge_open open;
	struct bridge_routing routing;
	struct bridge_limits limits;
	struct bridge_calls calls;
	struct unacked_replies untaken;
	struct bridge_affinity affinity;
	struct bridge_end end;
	struct log_ctx log;
};

/* Whether its server is to see the client's own address and port. */
static inline bool bridge_keeps_port(const struct bridge *bridge)
{
	return bridge->ws->service->config->source == SOURCE_CLIENT && bridge->client_is_tcp;
}

static inline struct loop *bridge_loop(const struct bridge *bridge)
{
	return bridge->ws->ground->loop;
}

static inline struct bridge *bridge_of(struct upstream *upstream)
{
	return container_of(upstream, struct bridge, upstream);
}

/* bridge_set_state - the one way to another state. */
void bridge_set_state(struct bridge *bridge, enum bridge_state to);

/* @line: one of enum service_line, whose last two kinds have reasons added. */
static inline struct log_limit *bridge_line_limit(const struct bridge *bridge, unsigned line)
{
	return &bridge->ws->service->lines[line];
}

/* How it comes about and ends. */
#define bridge_debug(bridge, ...)                                                                  \
	log_limited(LOG_LEVEL_DEBUG, bridge_line_limit(bridge, LINE_DEBUG), &(bridge)->log,        \
		    __VA_ARGS__)

/* Whether its end is: nothing is passed on any more. */
static inline bool bridge_is_decided(const struct bridge *bridge)
{
	return bridge->state.now >= BRIDGE_HELD;
}

#endif
