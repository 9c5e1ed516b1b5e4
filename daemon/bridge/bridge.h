/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bridge: one client connection and the upstream connection that serves it alone.
 *
 *	client leg ◀── exchanges ──▶ server leg
 *
 * A listener accepts the client leg. An upstream connects the server leg
 * (daemon/upstream/upstream_connect.h). The bridge forwards the Calls of one leg to the other, and
 * each Reply back. Both directions work alike. When one leg closes, the bridge closes the other for
 * the same reason.
 *
 * A bridge belongs to one worker and runs on its thread. Other modules use this header,
 * bridge_close.h and bridge_limits.h; bridge_state.h is private to this directory.
 */
#ifndef DAEMON_BRIDGE_BRIDGE_H
#define DAEMON_BRIDGE_BRIDGE_H

#include <stdint.h>

#include "base/budget_account.h"
#include "base/compiler.h"
#include "daemon/bridge/bridge_close.h"
#include "daemon/bridge/bridge_limits.h"
#include "daemon/service/accepted_conn.h"
#include "daemon/service/worker_service.h"
#include "leg/leg.h"
#include "nfs/operation.h"

struct bridge;

/* The load of one bridge. The caller adds up the loads of many bridges. */
struct bridge_load {
	bool has_client, has_server;
	struct leg_load client, server;
	uint64_t oldest_us; /* from bridge_oldest_call_us() */
};

/* A snapshot for the control socket. */
struct bridge_info {
	uint64_t id;
	const char *state;
	uint64_t state_since_us, start_us; /* on the clock of the worker's loop */
	struct sockaddr_storage client_peer;
	bool has_client, has_server;
	uint64_t calls_total;    /* Calls received from the client */
	bool has_call;           /* the client has a Call without a Reply */
	uint64_t oldest_call_us; /* start of the oldest of these Calls */
	enum nfs_operation oldest_operation;
	enum call_stage oldest_stage;
	bool has_unacked;    /* TCP only: the client has not acknowledged all Replies */
	uint64_t unacked_us; /* when the oldest of these Replies was sent */
	enum nfs_operation unacked_operation;
	struct leg_info client, server;
};

/**
 * bridge_new - Creates a bridge for an accepted connection.
 * @ws: the service on this worker; its list contains the bridge until the bridge is freed
 * @in: the bridge owns it and its connection slot, even after an error
 * @id: number of the connection, for logs and the control socket
 *
 * The bridge frees itself once both legs have closed, and then calls worker_env.bridge_freed().
 * Returns 0, or a negative errno; after an error bridge_freed() is not called.
 */
int bridge_new(struct worker_service *ws, const struct accepted_conn *in, uint64_t id) MUST_CHECK;

/** bridge_memory_bytes - Returns the bytes of the memory budget that its RPCs use. */
size_t bridge_memory_bytes(const struct bridge *bridge);

/** bridge_info_get - Fills a snapshot of the bridge. */
void bridge_info_get(const struct bridge *bridge, struct bridge_info *info);

/**
 * bridge_oldest_call_us - Returns the age of the client's oldest unanswered Call, at least 1; 0
 * without one.
 */
uint64_t bridge_oldest_call_us(const struct bridge *bridge, uint64_t now_us);

/** bridge_load_get - Fills the current load of the bridge. */
void bridge_load_get(const struct bridge *bridge, uint64_t now_us, struct bridge_load *load);

/** bridge_next - Returns the bridge after @bridge in the list of @ws, or the first one for NULL. */
struct bridge *bridge_next(struct worker_service *ws, struct bridge *bridge);

/**
 * bridge_log_shortage - Logs that a claim has waited long for memory; for budget_account.late.
 * @arg: worker_service
 */
void bridge_log_shortage(void *arg, const struct budget_claim *claim);

#endif
