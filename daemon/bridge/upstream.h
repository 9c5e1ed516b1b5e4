/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way to a service's server for one client, or to that which has MOUNT: a target is chosen (daemon/service/targets.h), its name is resolved
 * (daemon/service/server_name.h), its addresses are attempted in turn (daemon/bridge/attempts.h), and the leg of the
 * first attempt that succeeds is the bridge's. When all have failed another target has its turn, while there is time.
 *
 * Here live the time limits of all that, and the avoiding of verbs after it failed. It comes from the source port
 * by which the server knows the client again, if that can be had (daemon/service/clients.h), and from an address that
 * daemon/bridge/sources.h chooses.
 *
 * An upstream is embedded in its bridge and lives on the worker's thread. Nothing is called back from
 * inside a call into it.
 */
#ifndef DAEMON_BRIDGE_UPSTREAM_H
#define DAEMON_BRIDGE_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/state.h"
#include "daemon/bridge/upstream_impl.h"
#include "daemon/service/clients.h"
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

/**
 * upstream_init - nothing is done before upstream_start()
 * @leg_config: for the legs to be made; copied. Its events and arg are not used, and neither is its time
 *              limit
 * @log:        for what is worth a line on the way; from the start on it names the server that is tried or reached
 *
 * Returns 0 or -ENOMEM.
 */
int upstream_init(struct upstream *upstream, struct worker_service *ws,
		  const struct leg_config *leg_config, struct log_ctx *log,
		  const struct upstream_events *events, void *arg) MUST_CHECK;
/** upstream_fini - free the leg, if there is one; only while upstream_is_closed() or before the start. */
void upstream_fini(struct upstream *upstream);

/** upstream_reverse - what the client takes of reverse Calls, as in its leg_config; before the start. */
void upstream_reverse(struct upstream *upstream, const struct reply_room *room, uint32_t max_bytes);
/**
 * upstream_serve - whose way it is: other connections of that address lead to the same target; before the start
 * @at:	 where that client has connected to, which the server may be told, too
 * @keeps_port: where the server is to see the client's own address it sees its port, too
 */
void upstream_serve(struct upstream *upstream, const struct sockaddr_storage *client,
		    const struct sockaddr_storage *at, bool keeps_port);
/** upstream_keep_no_port - its client has no port that a server could see; before the start. */
static inline void upstream_keep_no_port(struct upstream *upstream)
{
	upstream->keeps_port = false;
}

/** upstream_privilege - its client is privileged on its host (daemon/service/incoming.h); before the start. */
static inline void upstream_privilege(struct upstream *upstream)
{
	upstream->privileged = true;
}

/** upstream_lead_to_mount - it is to lead where Calls of MOUNT go; before the start. */
void upstream_lead_to_mount(struct upstream *upstream);
/** upstream_renew - have one that is closed be as before its start; not from inside an event of it. */
void upstream_renew(struct upstream *upstream);
/** upstream_come_from - where it is to come from, also if it never starts: copied. At first from anywhere. */
void upstream_come_from(struct upstream *upstream, const struct client_pin *pin);
/**
 * upstream_start - begin to reach the server, which may take @timeout_us
 *
 * connecting(), opened() or failed() follow.
 */
void upstream_start(struct upstream *upstream, uint64_t timeout_us);

/**
 * upstream_close - give it up, whatever it is doing; an open leg closes for @why
 *
 * Neither opened() nor failed() nor the leg's closing() comes any more. closed() follows, unless
 * upstream_is_closed() already.
 */
void upstream_close(struct upstream *upstream, enum leg_close why);
/** upstream_was_down - once it is open: whether nobody had an answer of its target lately. */
bool upstream_was_down(const struct upstream *upstream);
/** upstream_target - the target that it leads to, or tries, or tried last; NULL: none yet. */
const struct target *upstream_target(const struct upstream *upstream);
/** upstream_is_closed - whether nothing is left that could call back. */
bool upstream_is_closed(const struct upstream *upstream);

/** upstream_leg - the leg that is being tried or is open, for a look; NULL if there is none. */
const struct leg *upstream_leg(const struct upstream *upstream);

#endif
