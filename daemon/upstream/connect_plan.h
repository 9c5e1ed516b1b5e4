/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ordered list of attempts to connect to a server. It is built once the name of the server is
 * resolved.
 *
 *	tcp://              each address
 *	iwarp://, verbs://  each address on that fabric
 *	rdma://             each address on verbs, if this host has a device, and then on iwarp
 *
 * Every attempt uses the source address and port of the client's previous connection, if they are
 * free. Each fabric has its own element; the elements of one address follow each other.
 *
 * For RDMA, connect_plan_next() chooses the RPC-over-RDMA version: the highest, or version one if
 * the address is known to speak only that. If a failed attempt shows this, the element is tried
 * once more, in version one.
 */
#ifndef DAEMON_UPSTREAM_CONNECT_PLAN_H
#define DAEMON_UPSTREAM_CONNECT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/service/servers.h"
#include "daemon/upstream/held_port.h"
#include "fabric/fabric.h"
#include "stream/stream.h"

#define ATTEMPT_MIN_US 500000u /* least time of an attempt on a fabric */

struct connect_attempt {
	/* The same for all attempts of a plan. */
	struct nfs_server *server;     /* server of this address; outlives the plan */
	uint64_t client;               /* servers_client_hash() of the client; 0: none */
	struct stream_sources sources; /* source addresses; the list outlives the plan */
	uint16_t source_port;          /* preferred port of the first of these; 0: any */
	bool source_above;             /* as stream_target.preferred_above */
	bool source_only;              /* fail if the preferred port is not free */
	uint32_t program;              /* what the connection is for; a TLS probe names it */
	bool privileged; /* prefer a source port below 1024, because the client is privileged */
	struct held_port
		*reserved_port; /* iWARP: holds the reserved port until the leg has closed */
	/* Of this attempt. */
	struct sockaddr_storage addr;
	struct fabric *fabric;    /* NULL: TCP */
	uint32_t rpcrdma_version; /* on a fabric: set by connect_plan_next(); else 0 */
	bool has_fallback;        /* the next element has the same address on another fabric */
};

/* All zero is a plan without attempts. */
struct connect_plan {
	struct connect_attempt *list;
	unsigned count, next; /* next: index for connect_plan_next() */
	uint32_t highest_version;
	/* try the last attempt once more: connect_plan_retry_version_one() */
	bool retry_version_one;
};

/**
 * connect_plan_init - Builds the list for the transport of a server.
 * @plan:   all zero
 * @common: the members that all attempts share
 * @iwarp, @verbs: the fabrics of this host; @verbs is NULL without a device
 * @highest_version: highest RPC-over-RDMA version to try
 * @addrs:  addresses of the server, in the order to try them
 *
 * Returns 0, -EDESTADDRREQ without an address, -ENODEV if this host lacks the transport, or
 * -ENOMEM.
 */
int connect_plan_init(struct connect_plan *plan, const struct connect_attempt *common,
		      struct fabric *iwarp, struct fabric *verbs, uint32_t highest_version,
		      const struct sockaddr_storage *addrs, size_t naddrs) MUST_CHECK;
/** connect_plan_fini - Frees the list. Accepts an all-zero plan. */
void connect_plan_fini(struct connect_plan *plan);

/**
 * connect_plan_next - Advances to the next attempt, or repeats the last one in version one.
 * @avoided: fabric to skip if another element has the same address; or NULL
 * @now_us:  time of the loop
 *
 * Chooses the RPC-over-RDMA version of the attempt. Returns the attempt, or NULL after the last
 * one.
 */
const struct connect_attempt *connect_plan_next(struct connect_plan *plan,
						const struct fabric *avoided, uint64_t now_us);
/**
 * connect_plan_retry_version_one - Decides whether to repeat the failed last attempt in version
 * one.
 *
 * It repeats the attempt if that used a higher version and the address is now known to speak only
 * version one. Such a connection was lost before a Call was sent. Returns true if
 * connect_plan_next() will repeat the attempt, in version one and from the same port.
 */
bool connect_plan_retry_version_one(struct connect_plan *plan, uint64_t now_us);
/**
 * connect_plan_last - Returns the attempt that connect_plan_next() returned last; NULL before the
 * first.
 */
const struct connect_attempt *connect_plan_last(const struct connect_plan *plan);
/**
 * connect_plan_clear_port - Lets the remaining attempts use any source port, unless source_only is
 * set.
 */
void connect_plan_clear_port(struct connect_plan *plan);
/** connect_plan_has_next - Returns whether an attempt is left for connect_plan_next(). */
bool connect_plan_has_next(const struct connect_plan *plan);

/**
 * connect_plan_attempt_timeout_us - Returns the time limit of the last attempt returned by
 * connect_plan_next().
 * @left_us: time left for all attempts
 *
 * Each address gets an equal share of the time. An attempt gets half of the share if another fabric
 * follows for the same address.
 */
uint64_t connect_plan_attempt_timeout_us(const struct connect_plan *plan, uint64_t left_us);
/** connect_plan_close_reason - Maps the negative errno of a failed connect to a close reason. */
enum leg_close connect_plan_close_reason(int rc);

#endif
