/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the legs of a service stand on in one thread: its fabrics, its sockets, and what they count. A worker has one for
 * each service, a check one while it lasts.
 */
#ifndef DAEMON_SERVICE_SERVICE_NET_H
#define DAEMON_SERVICE_SERVICE_NET_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/base/resolver.h"
#include "daemon/service/service.h"
#include "daemon/tap/tap.h"
#include "fabric/fabric.h"
#include "fabric/pool.h"
#include "rpcrdma/rdma_leg.h"
#include "rpctcp/tcp_leg.h"
#include "stream/socket.h"

struct leg_maker;
struct worker_service;

/* What everything in a thread stands on; the tests have a fake loop and legs of their own here. */
struct worker_ground {
	unsigned worker; /* its number, for the log */
	struct loop *loop;
	struct pool *pool;
	struct spares *spares;
	const struct resolver *resolver;
	const struct leg_maker *legs; /* daemon/upstream/leg_factory.h */
	int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg); /* event_loop_post() */
	struct tap_seats taps; /* that are open (daemon/tap/tap.h) */
	struct ports *ports;   /* of the process; may be NULL with other legs than legs_system */
	/* A bridge of @ws has been freed. */
	void (*bridge_gone)(void *arg, struct worker_service *ws);
	/*
	 * From any thread: backend_woken(), bridges_end_expelled() and bridges_end_ordered() are due for what is in
	 * this one.
	 */
	void (*wake)(void *arg);
	void *arg;
};

struct service_net {
	const struct worker_ground *ground;
	const struct service_config *config;
	struct service
		*service; /* whose log and turns these are; NULL: a check, which logs nothing */
	struct fabric *iwarp;
	struct fabric *verbs;            /* NULL: not asked for, or no device here */
	uint64_t verbs_avoided_until_us; /* rdma:// connects by iwarp until then: verbs failed */
	struct socket_net sockets;       /* of its TCP legs */
	/* Of clients' legs; those that connect count apart. */
	struct tcp_worker tcp;
	struct rdma_leg_counters rdma;
	struct tcp_leg_counters tcp_upstream;
	struct rdma_leg_counters rdma_upstream;
	uint64_t fabric_fallbacks; /* connections that went by iwarp since verbs had failed */
};

/**
 * service_net_init - the fabrics and sockets that @config asks for, as far as this host has them
 * @ground:  outlives it, as does @config
 * @service: made from @config, and outlives it; NULL: a check's
 * @verbs:   whether the RDMA devices of this host are of use
 *
 * To be undone by service_net_fini(), also on failure. Returns 0 or -ENOMEM.
 */
int service_net_init(struct service_net *net, const struct worker_ground *ground,
		     const struct service_config *config, struct service *service,
		     bool verbs) MUST_CHECK;
/** service_net_fini - no leg may be left. Accepts one that is all zero. */
void service_net_fini(struct service_net *net);

#endif
