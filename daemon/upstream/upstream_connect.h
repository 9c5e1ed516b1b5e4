/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection to a server of a list, for one client, or for a check: a server is selected
 * (daemon/service/targets.h), its name is resolved (daemon/service/server_name.h), its addresses are attempted
 * in turn (daemon/upstream/connect_plan.h) from where daemon/upstream/source_addr.h says, and the leg of the first
 * attempt that succeeds is the owner's. When all have failed another server has its turn, while there is time.
 *
 * Here are the time limits of all that, and the avoiding of verbs after it failed. For a client it connects from the
 * source port by which the server knows it again, if that is free (daemon/service/clients.h).
 *
 * An upstream is embedded in its owner and lives on one thread. Nothing is called back from inside a call into it.
 */
#ifndef DAEMON_UPSTREAM_UPSTREAM_CONNECT_H
#define DAEMON_UPSTREAM_UPSTREAM_CONNECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/state.h"
#include "daemon/base/log.h"
#include "daemon/service/backend.h"
#include "daemon/service/service_net.h"
#include "daemon/upstream/connect_plan.h"
#include "daemon/upstream/source_addr.h"
#include "leg/leg.h"

#define UPSTREAM_STATES(X)                                                                         \
	X(UPSTREAM_IDLE, "idle", "upstream_start()", TO(UPSTREAM_RESOLVING) | TO(UPSTREAM_CLOSED)) \
	X(UPSTREAM_RESOLVING, "resolving", "the addresses of the server's name",                   \
	  TO(UPSTREAM_ASKING) | TO(UPSTREAM_CONNECTING) | TO(UPSTREAM_CLOSED))                     \
	X(UPSTREAM_ASKING, "asking", "rpcbind there to say where MOUNT listens",                   \
	  TO(UPSTREAM_RESOLVING) | TO(UPSTREAM_CONNECTING) | TO(UPSTREAM_CLOSED))                  \
	X(UPSTREAM_CONNECTING, "connecting", "the leg of an attempt to open",                      \
	  TO(UPSTREAM_RESOLVING) | TO(UPSTREAM_BETWEEN) | TO(UPSTREAM_OPEN) |                      \
		  TO(UPSTREAM_CLOSING) | TO(UPSTREAM_CLOSED))                                      \
	X(UPSTREAM_BETWEEN, "between", "the leg that failed to be over, for the next attempt",     \
	  TO(UPSTREAM_RESOLVING) | TO(UPSTREAM_CONNECTING) | TO(UPSTREAM_CLOSING) |                \
		  TO(UPSTREAM_CLOSED))                                                             \
	X(UPSTREAM_OPEN, "open", "the leg to close", TO(UPSTREAM_CLOSING))                         \
	X(UPSTREAM_CLOSING, "closing", "the leg to be over", TO(UPSTREAM_CLOSED))                  \
	X(UPSTREAM_CLOSED, "closed", "upstream_fini()", 0)
STATE_ENUM(upstream_state, UPSTREAM_STATES);
extern const struct state_table upstream_states;

struct upstream;

/* What an upstream tells its owner, which is found by container_of(). */
struct upstream_events {
	/* The name of a server is resolved, and the attempts begin; once. */
	void (*connecting)(struct upstream *upstream);
	/* The server is reached. From now on @leg calls `leg`. */
	void (*opened)(struct upstream *upstream, struct leg *leg);
	/* Returns whether a Call of the client's was sent on the leg. NULL: none was. */
	bool (*has_called)(struct upstream *upstream);
	/* The server cannot be reached; why the last attempt failed, or what else stood in the way. */
	void (*failed)(struct upstream *upstream, enum leg_close why, const char *detail);
	/* The leg that was opened closes. */
	void (*closing)(struct upstream *upstream, enum leg_close why, const char *detail);
	/* After failed(), closing() or upstream_close(): nothing is left that could call back. */
	void (*closed)(struct upstream *upstream);
	/*
	 * What the leg calls, with the upstream as its argument: UPSTREAM_LEG_EVENTS, and the owner's own call, reply,
	 * more, call_ready and note, once it is open. reply() begins with upstream_heard().
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
	struct leg_config leg_config; /* of the attempts */
	struct state state;
	struct source_addr from;
	const struct backend *backend; /* whose servers it selects from */
	struct target_seat seat;       /* the server that it has selected */
	uint64_t deadline_us;          /* for the leg to open … */
	uint64_t target_until_us;      /* … at the present server */
	bool abandoned;                /* the present server */
	bool failure_told; /* with those of the service's other clients: nobody else need */
	struct name_wait name;
	struct mount_wait place;      /* where rpcbind says that MOUNT is … */
	bool place_is_kept;           /* … which it said some time ago */
	bool asks_again;              /* it is not there any more */
	struct loop_timer *resolving; /* the time limit for the name */
	struct loop_task retry;
	struct connect_plan plan;
	const struct connect_attempt *attempt; /* the present one, until the leg opens */
	bool connecting_told;
	struct leg *leg;
	bool leg_over;         /* it may be freed */
	struct held_port held; /* of the leg */
	enum leg_close why;    /* the last attempt failed */
	char detail[LEG_DETAIL_BYTES];
};

/**
 * upstream_init - nothing is done before upstream_start()
 * @net, @backend: on what its legs stand, and the servers that it selects from; outlive it
 * @leg_config: for the legs to be made; copied. Its events, arg and time limit are not used
 * @log:        for what is worth a line on the way; from the start on it names the server that is tried or reached
 *
 * Returns 0 or -ENOMEM.
 */
int upstream_init(struct upstream *upstream, struct service_net *net, const struct backend *backend,
		  const struct leg_config *leg_config, struct log_ctx *log,
		  const struct upstream_events *events) MUST_CHECK;
/** upstream_fini - free the leg, if there is one; only while upstream_is_closed() or before the start. */
void upstream_fini(struct upstream *upstream);

/** upstream_reverse - what the client takes of reverse Calls, as in its leg_config; before the start. */
void upstream_reverse(struct upstream *upstream, const struct reply_room *room, uint32_t max_bytes);
/**
 * upstream_serve - for which client: other connections of that address lead to the same server; before the start
 * @at:	 where that client has connected to, which the server may be told, too
 * @keeps_port: where the server is to see the client's own address it sees its port, too
 */
void upstream_serve(struct upstream *upstream, const struct sockaddr_storage *client,
		    const struct sockaddr_storage *at, bool keeps_port);
/** upstream_keep_no_port - its client has no port that a server could see; before the start. */
static inline void upstream_keep_no_port(struct upstream *upstream)
{
	upstream->from.keeps_port = false;
}

/** upstream_privilege - its client is privileged on its host (daemon/service/incoming.h); before the start. */
static inline void upstream_privilege(struct upstream *upstream)
{
	upstream->from.privileged = true;
}

/** upstream_lead_to - select from the servers of MOUNT instead, which get no PROXY header; before the start. */
void upstream_lead_to_mount(struct upstream *upstream, const struct backend *mount_servers);
/** upstream_renew - have one that is closed be as before its start, from any port; not from inside an event of it. */
void upstream_renew(struct upstream *upstream);
/** upstream_connect_from - where to connect from, also if it never starts: copied. At first from anywhere. */
void upstream_connect_from(struct upstream *upstream, const struct client_pin *pin);
/**
 * upstream_start - begin to reach a server, which may take @timeout_us
 *
 * connecting(), opened() or failed() follow.
 */
void upstream_start(struct upstream *upstream, uint64_t timeout_us);

/**
 * upstream_close - end it, whatever it is doing; an open leg closes for @why
 *
 * Neither opened() nor failed() nor closing() comes any more. closed() follows, unless upstream_is_closed() already.
 */
void upstream_close(struct upstream *upstream, enum leg_close why);
/** upstream_was_down - once it is open: whether nobody had an answer of its server lately. */
bool upstream_was_down(const struct upstream *upstream);
/** upstream_server - the server that it leads to, or tries, or tried last; NULL: none yet. */
const struct target *upstream_server(const struct upstream *upstream);
/** upstream_is_closed - whether nothing is left that could call back. */
bool upstream_is_closed(const struct upstream *upstream);
/** upstream_leg - the leg that is being tried or is open, for a look; NULL if there is none. */
const struct leg *upstream_leg(const struct upstream *upstream);

/* upstream_first_reply - the first Reply of this connection, or since the server was down: for upstream_heard(). */
void upstream_first_reply(struct upstream *upstream);

/**
 * upstream_heard - the leg delivers a Reply: what that says of the server
 *
 * A proxy in front of a server that is down may accept connections all the same: only a Reply is an answer. Returns
 * whether it is the first one of this connection.
 */
static inline bool upstream_heard(struct upstream *upstream, const struct exchange *x)
{
	/* It is the leg's own word: the server has not seen the Call. */
	if (x->fault == EXCHANGE_FAULT_CANT_SEND)
		return false;
	if (!upstream->seat.waits) {
		server_state_heard(&upstream->seat.target->server);
		return false;
	}
	upstream_first_reply(upstream);
	return true;
}

/* Events of its leg, for UPSTREAM_LEG_EVENTS. */
void upstream_leg_opened(void *arg);
void upstream_leg_closing(void *arg, enum leg_close why, const char *detail);
void upstream_leg_closed(void *arg);

#endif
