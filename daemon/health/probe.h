/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to one server of a service that no client has: what a check goes over.
 *
 * It is made as a client's would be, by the service's keys, but stands apart from all of them: memory, counters, limits
 * and what is known of the server are its own. It takes a source port of the process while it is there.
 *
 * One Call at a time, and one connection at a time: what probe_connect() and probe_call() come to is told by told(),
 * once each, never from inside a call into the probe.
 *
 * Everything belongs to the thread of its loop.
 */
#ifndef DAEMON_HEALTH_PROBE_H
#define DAEMON_HEALTH_PROBE_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "base/state.h"
#include "daemon/config/config.h"
#include "daemon/service/worker_service.h"
#include "leg/exchange.h"
#include "leg/leg.h"

#define PROBE_STATES(X)                                                                            \
	X(PROBE_IDLE, "idle", "probe_connect()", TO(PROBE_RESOLVING))                              \
	X(PROBE_RESOLVING, "resolving", "the addresses of the server's name",                      \
	  TO(PROBE_IDLE) | TO(PROBE_ASKING) | TO(PROBE_CONNECTING))                                \
	X(PROBE_ASKING, "asking", "rpcbind there to say where MOUNT listens",                      \
	  TO(PROBE_IDLE) | TO(PROBE_CONNECTING))                                                   \
	X(PROBE_CONNECTING, "connecting", "the leg of an attempt to open, or the last to fail",    \
	  TO(PROBE_IDLE) | TO(PROBE_OPEN))                                                         \
	X(PROBE_OPEN, "open", "the leg to close", TO(PROBE_CLOSING))                               \
	X(PROBE_CLOSING, "closing", "the leg to be over", TO(PROBE_IDLE))
STATE_ENUM(probe_state, PROBE_STATES);
extern const struct state_table probe_states;

enum probe_event {
	PROBE_OPENED,    /* the server is reached */
	PROBE_UNREACHED, /* it cannot be */
	PROBE_ANSWERED,  /* the Call has a Reply, or a fault */
	PROBE_LATE,      /* it has had none in time: the connection is over */
	PROBE_LOST,      /* the connection is over, before an answer or without a Call */
};

/* All of it good while it is told. */
struct probe_news {
	enum probe_event event;
	enum leg_close why; /* of PROBE_UNREACHED and PROBE_LOST … */
	const char *detail; /* … and a sentence, or ""; of PROBE_LATE what was noted meanwhile */
	const struct exchange *x; /* of PROBE_ANSWERED */
};

struct probe_config {
	struct loop *loop;
	struct ports *ports;
	const struct resolver *resolver;
	const struct leg_maker *legs;
	int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg); /* event_loop_post() */
	const struct own_doors *doors;        /* that are no server; NULL: none */
	const struct service_config *service; /* outlives the probe, as do the others */
	unsigned server;                      /* which of its servers, from 0 … */
	const struct config_uri *instead; /* … or what else on a server's host; NULL: nothing */
	bool to_mount; /* … or where its Calls of MOUNT go, by its `mount`; @service: of a mounts_view */
	void (*told)(void *arg, const struct probe_news *news);
	void *arg;
};

struct probe;

/** probe_new - nothing is connected yet; @config is copied. Returns 0 or -ENOMEM. */
int probe_new(const struct probe_config *config, struct probe **out) MUST_CHECK;
/**
 * probe_free - close what is open, and go; told() is not called any more
 * @gone: called with @arg once nothing of it is left, and what @config named may go; now or later. NULL: nobody asks
 *
 * Accepts NULL, which is gone at once.
 */
void probe_free(struct probe *probe, void (*gone)(void *arg), void *arg);

/** probe_connect - reach the server within @timeout_us; while there is no connection. */
void probe_connect(struct probe *probe, uint64_t timeout_us);
/** probe_info - of the connection that is open. */
void probe_info(const struct probe *probe, struct leg_info *info);
/**
 * probe_call - send a Call over the connection that is open
 * @call, @len_bytes: a whole RPC message, copied
 *
 * Returns 0, also where the connection is on its way out, as will be told; or -ENOMEM, and nothing is told.
 */
int probe_call(struct probe *probe, const uint8_t *call, uint32_t len_bytes,
	       uint64_t timeout_us) MUST_CHECK;

#endif
