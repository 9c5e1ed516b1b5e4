/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bridge: one client connection, its own upstream connection, one fate.
 *
 *	client leg ◀── exchanges ──▶ server leg
 *
 * The client leg is what a listener took; the server leg is what the bridge has an upstream connect for it
 * (daemon/upstream/upstream_connect.h). The Calls of one leg are delivered to the other, Replies go back to the
 * leg that the Call came from; both directions work alike. Each leg closes with the other, and the reason
 * of the first to close is the bridge's.
 *
 * A bridge belongs to one worker and lives on its thread. This is its interface with closing.h and standing.h, which end
 * bridges; bridge_state.h has what it is made of.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_H
#define DAEMON_BRIDGE_BRIDGE_H

#include <stdint.h>

#include "base/account.h"
#include "base/compiler.h"
#include "daemon/bridge/closing.h"
#include "daemon/bridge/standing.h"
#include "daemon/service/incoming.h"
#include "daemon/service/worker_service.h"
#include "leg/leg.h"
#include "nfs/operation.h"

struct bridge;

/* What is added up over many of them. */
struct bridge_load {
	bool has_client, has_server;
	struct leg_load client, server;
	uint64_t oldest_us; /* as of bridge_oldest_call_us() */
};

/* A snapshot for the control socket. */
struct bridge_info {
	uint64_t id;
	const char *state;
	uint64_t state_since_us, start_us; /* on the worker's loop */
	struct sockaddr_storage client_peer;
	bool has_client, has_server;
	uint64_t calls_total;    /* of the client's, so far */
	bool has_call;           /* of the client's, without a Reply … */
	uint64_t oldest_call_us; /* … since when: the oldest */
	enum nfs_operation oldest_operation;
	enum call_stage oldest_stage;
	bool has_untaken;    /* a Reply that the client has not taken, TCP only … */
	uint64_t untaken_us; /* … since when: the oldest */
	enum nfs_operation untaken_operation;
	struct leg_info client, server;
};

/**
 * bridge_new - take over a connection from a listener
 * @ws: the service as this worker sees it; the bridge enters its list and leaves it when it is freed
 * @in: taken with its guest, also on failure
 * @id: number of the connection, for logs and the control socket
 *
 * The bridge frees itself once both legs have closed, and says so by bridge_gone() of the worker's ground.
 * Returns 0 or a negative errno: then bridge_gone() is not called.
 */
int bridge_new(struct worker_service *ws, const struct incoming *in, uint64_t id) MUST_CHECK;

/** bridge_memory_bytes - what its RPCs hold of the budget. */
size_t bridge_memory_bytes(const struct bridge *bridge);

/** bridge_info_get - a snapshot. */
void bridge_info_get(const struct bridge *bridge, struct bridge_info *info);

/** bridge_oldest_call_us - how long the oldest Call of its client without a Reply has been here, 1 at least; 0: none. */
uint64_t bridge_oldest_call_us(const struct bridge *bridge, uint64_t now_us);

/** bridge_load_get - what it is about now. */
void bridge_load_get(const struct bridge *bridge, uint64_t now_us, struct bridge_load *load);

/** bridge_next - the bridge after @bridge in the list of its service; the first one for NULL. */
struct bridge *bridge_next(struct worker_service *ws, struct bridge *bridge);

/** shortage_log - log that a claim has waited long; @arg is the worker_service. For budget_account.late. */
void shortage_log(void *arg, const struct budget_claim *claim);

#endif
