/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bridge is made of: for the files of this folder that are one. */
#ifndef DAEMON_BRIDGE_BRIDGE_IMPL_H
#define DAEMON_BRIDGE_BRIDGE_IMPL_H

#include "daemon/base/log.h"
#include "daemon/bridge/bridge.h"
#include "daemon/service/clients.h"
#include "daemon/upstream/upstream_connect.h"
#include "nfs/nfs.h"

#define BRIDGE_CONNECT_TIMEOUT_US                                                                  \
	10000000u /* for the server to be reached, and for a client to be accepted */

struct side {
	struct bridge *bridge;
	struct side *other;
	struct leg *leg;             /* the server's: NULL until it is open, and when it is over */
	struct exchange_watch watch; /* of its peer's Calls (taking.h) */
};

/* Replies that the client has not taken, the oldest first (taking.h). */
struct untaken {
	TAILQ_ENTRY(bridge) entry;       /* in the queue of its interval, if there are any */
	struct taking_end *first, *last; /* last: good while there is a first */
	struct taking_end *news; /* the first that has come since it was asked last; NULL: none */
	uint64_t ask_us;         /* when to ask; 0: there are none */
	unsigned interval;
};

/* What the log says of the Call that came last from the client. */
struct last_call {
	uint32_t xid, prog, vers, proc;
	const char *program, *procedure;
	uint64_t start_us;
};

/* Where its Calls go (routing.h). */
enum bridge_route {
	ROUTE_OPEN,    /* its first Call is to decide */
	ROUTE_CONNECT, /* to the service's server */
	ROUTE_MOUNT,   /* where MOUNT is */
	ROUTE_NOWHERE, /* of a Call alone */
};

struct bridge {
	TAILQ_ENTRY(bridge) entry;
	struct worker_service *ws;
	uint64_t id, start_us;
	struct state state;
	enum leg_close why; /* from HELD or CLOSING on */
	struct sockaddr_storage peer;
	struct side client, server;
	bool client_is_tcp;
	bool trusted; /* over iwarp it is privileged, whatever its port */
	bool either;  /* so it is taken for now: its first bytes tell */
	bool client_over;
	bool accepted; /* the client, before its server was sought */
	bool passing;  /* there is a server for the client's Calls */
	enum bridge_route route;
	bool refusal_told; /* of a Call that goes elsewhere: to the log */
	bool open_told;    /* to the log, that it is */
	bool drains;       /* it ends between Calls */
	bool client_ends;  /* its leg closes by itself: what it takes is not asked any more */
	bool half_closed;  /* the client has ended its sending side */
	bool late;         /* it has let one wait for long, when it was last looked at */
	struct budget_holder memory;
	struct upstream upstream;
	struct nfs_sessions sessions; /* that this connection has shown */
	struct client *self;          /* among those of the service; NULL: its port is given back */
	struct exchange_list calls;   /* the client's, without a Reply; by owner_entry */
	struct call_mark answered[CLIENTS_ANSWERED_MAX]; /* the last ones, as a ring */
	unsigned nanswered;
	struct guest *guest; /* of the service's door; NULL: both legs are over */
	bool carried;        /* a Call, from either end */
	uint64_t ncalls;     /* from the client */
	struct last_call last_call;
	struct untaken untaken;
	uint64_t heard_bytes;     /* from the client, when it was last looked at */
	uint64_t taken_bytes;     /* half_closed: by the client, when it was last looked at */
	struct loop_timer *timer; /* WAITING, READING, RECLAIMING, HELD, and while half_closed */
	struct client_pin
		first_pin; /* of an upstream that was replaced by that to MOUNT; port 0: none */
	struct loop_task settle;  /* either */
	struct loop_task reroute; /* the upstream is over that its first Call does not go to */
	struct loop_task reaper;
	struct log_ctx log;
};

static inline bool bridge_client_is_tcp(const struct bridge *bridge)
{
	return bridge->client_is_tcp;
}

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
