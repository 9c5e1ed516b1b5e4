/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fabrics, sockets and counters of the legs of a service on one thread: one per worker, and one per
 * health check.
 */
#ifndef DAEMON_SERVICE_SERVICE_NET_H
#define DAEMON_SERVICE_SERVICE_NET_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/base/resolver.h"
#include "daemon/service/service.h"
#include "daemon/tap/tap.h"
#include "fabric/buf_pool.h"
#include "fabric/fabric.h"
#include "rpcrdma/rdma_leg.h"
#include "rpctcp/tcp_leg.h"
#include "stream/tcp_stream.h"
#include "tls/tls_stream.h"

struct job_queue;
struct job_threads;
struct leg_factory_ops;
struct service_tls;
struct worker_service;

/* What all modules on one thread share; tests put a fake loop and their own legs here. */
struct worker_env {
	unsigned worker; /* number of the worker, for the log */
	struct loop *loop;
	struct buf_pool *pool;
	struct freelists *freelists;
	const struct resolver *resolver;
	const struct leg_factory_ops *legs; /* daemon/upstream/leg_factory.h */
	int (*post)(struct loop *loop, void (*fn)(void *arg), void *arg); /* event_loop_post() */
	struct tap_subscribers taps; /* subscribed taps (daemon/tap/tap.h) */
	/* of the process; can be NULL if `legs` is not leg_factory_system */
	struct reserved_ports *reserved_ports;
	struct job_threads *jobs; /* likewise; for TLS handshakes */
	/* A bridge of @ws was freed. */
	void (*bridge_freed)(void *arg, struct worker_service *ws);
	/*
	 * Any thread: requests backend_woken(), bridge_limits_close_evicted() and
	 * bridge_limits_close_disabled() on this thread.
	 */
	void (*wake)(void *arg);
	void *arg;
};

struct service_net {
	const struct worker_env *env;
	const struct service_config *config;
	/* for the log and source addresses; NULL: a health check, which logs nothing */
	struct service *service;
	struct fabric *iwarp;
	struct fabric *verbs; /* NULL: not configured, or no device on this host */
	/* after verbs failed, rdma:// uses iwarp until then */
	uint64_t verbs_avoided_until_us;
	struct tcp_stream_net sockets; /* of its TCP legs */
	/* Counters of client legs; server legs have the others. */
	struct tcp_worker tcp;
	struct rdma_leg_counters rdma;
	struct tcp_leg_counters tcp_upstream;
	struct rdma_leg_counters rdma_upstream;
	uint64_t fabric_fallbacks; /* connections by iwarp because verbs had failed */
	/* TLS of its TCP legs; not used by a service without TLS. */
	struct service_tls *tls_contexts; /* not owned */
	struct job_queue *tls_jobs; /* handshakes, which tls_worker gives to the job threads */
	struct tls_worker tls_worker;
	struct tls_counters tls, tls_upstream; /* of client legs, of server legs */
};

/**
 * service_net_init - Opens the fabrics and sockets that @config needs, as far as this host has them
 * @env:     outlives it, like @config
 * @service: has @config, and outlives it; NULL: for a health check
 * @tls:     the certificates of the service; outlives it
 * @verbs:   whether the RDMA devices of this host are needed
 *
 * service_net_fini() is due even on failure. Returns 0 or -ENOMEM.
 */
int service_net_init(struct service_net *net, const struct worker_env *env,
		     const struct service_config *config, struct service *service,
		     struct service_tls *tls, bool verbs) MUST_CHECK;
/**
 * service_net_fini - Frees it; no leg may be left. Waits for the end of the TLS handshakes that the
 * job threads execute for closed legs. Accepts an all-zero @net.
 */
void service_net_fini(struct service_net *net);

#endif
