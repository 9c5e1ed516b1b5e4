/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bridge: one client connection, its own upstream connection, one fate.
 *
 *	client leg ◀── exchanges ──▶ server leg
 *
 * The client leg is what a listener took; the server leg is what the bridge connects for it. Calls
 *that one leg gives up are handed to the other, Replies go back to the leg that the Call came from;
 *both directions work alike. Each leg closes with the other, and the reason of the first is the
 *bridge's.
 *
 * A bridge belongs to one worker and lives on its thread.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_H
#define DAEMON_BRIDGE_BRIDGE_H

#include <stdint.h>

#include "base/compiler.h"
#include "daemon/service/listener.h"
#include "leg/leg.h"

struct worker_service;

#define BRIDGE_STATES(X)                                                                           \
	X(WAITING, "waiting")       /* for the client's first byte, or its RDMA request */         \
	X(RESOLVING, "resolving")   /* for the addresses of the server's name */                   \
	X(CONNECTING, "connecting") /* for the server leg to open */                               \
	X(OPEN, "open")             /* both legs are up */                                         \
	X(CLOSING, "closing")       /* for both legs to close */

enum bridge_state {
#define BRIDGE_STATE_ENUM(name, text) BRIDGE_##name,
	BRIDGE_STATES(BRIDGE_STATE_ENUM)
#undef BRIDGE_STATE_ENUM
};

struct bridge;

struct bridge_info {
	uint64_t id;
	const char *state;
	struct sockaddr_storage client_peer;
	uint64_t age_us;
	bool has_client, has_server;
	struct leg_info client, server;
};

/**
 * bridge_new - take over a connection from a listener
 * @ws: the service as this worker sees it; the bridge enters its list and leaves it when it is
 * freed
 * @in: taken, also on failure
 * @id: number of the connection, for logs and the control socket
 *
 * The bridge frees itself once both legs have closed. Returns 0 or a negative errno.
 */
int bridge_new(struct worker_service *ws, const struct incoming *in, uint64_t id) MUST_CHECK;

/** bridge_close - close both legs for @why. */
void bridge_close(struct bridge *bridge, enum leg_close why);

/** bridge_info_get - a snapshot. */
void bridge_info_get(const struct bridge *bridge, struct bridge_info *info);

/** bridge_next - the bridge after @bridge in the list of its worker's service, the first for NULL.
 */
struct bridge *bridge_next(struct worker_service *ws, struct bridge *bridge);

#endif
