/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The listeners of one service: TCP, or each fabric that can serve its URI, for each of its addresses. Where tcp:// and
 * iwarp:// have one port they have one socket, and the worker finds out what a client speaks.
 *
 * A listener takes connections on the main thread, has those found out whose client's address or port the service does
 * not admit (porch.h), and hands all on. While there is no room for more it leaves connections in the kernel's queue and
 * looks again; nothing else in the daemon notices.
 */
#ifndef DAEMON_SERVICE_LISTENER_H
#define DAEMON_SERVICE_LISTENER_H

#include <sys/socket.h>

#include "base/compiler.h"
#include "base/listen_socket.h"
#include "base/loop.h"
#include "daemon/config/config.h"
#include "daemon/config/own_doors.h"
#include "daemon/service/incoming.h"
#include "daemon/service/listen_names.h"

#define LISTENER_HOST_SOCKETS 16u /* of one host name: two fabrics on each address */
#define LISTENER_MAX_SOCKETS  (CONFIG_MAX_LISTENERS * LISTENER_HOST_SOCKETS)

struct listener_events {
	/* A connection from an address and port that may connect; the callee owns what is in it. */
	void (*incoming)(void *arg, const struct incoming *in);
	/* One that is to be turned away, as porch_events.refused(). */
	void (*refused)(void *arg, const struct incoming *in, enum leg_close why,
			const char *detail);
	/* Whether there is room for one more; if not, it waits. */
	bool (*has_room)(void *arg);
};

struct listener;

/**
 * listener_open - listen as the service's URIs say
 * @loop:    the main thread's
 * @service: outlives the listener
 * @names:   with the names at which the service listens; needed during the call only. NULL: it listens at none
 * @have:    sockets that listen already: those at the service's addresses are gone on with, and nobody who is in their
 *           queues is lost; NULL: none
 * @error:   on failure: what failed, a sentence without a full stop
 *
 * Returns 0 or a negative errno.
 */
int listener_open(struct loop *loop, const struct service_config *service,
		  const struct listen_names *names, const struct listen_sockets *have,
		  const struct listener_events *events, void *arg, char *error, size_t error_bytes,
		  struct listener **out) MUST_CHECK;
/** listener_fabrics - what an RDMA listener stands on: "iwarp", "verbs", "verbs and iwarp"; for TCP "". */
const char *listener_fabrics(const struct listener *listener);
/** listener_unnamed - how many connections wait for a proxy to say whose they are; NULL has none. */
unsigned listener_unnamed(const struct listener *listener);
/** listener_doors - add to @doors where it listens. Returns 0 or -ENOMEM. */
int listener_doors(const struct listener *listener, struct own_doors *doors) MUST_CHECK;
/**
 * listener_address - where its @i-th part listens
 * @tcp, @rdma: set: for whom; both where they share the port
 *
 * Returns NULL if it has no so many.
 */
const struct sockaddr *listener_address(const struct listener *listener, size_t i, bool *tcp,
					bool *rdma);
/**
 * listener_sockets - the sockets that it listens on, but for RDMA devices
 * @fds: LISTENER_MAX_SOCKETS of them
 *
 * Lent as long as it listens; what else listens on duplicates of them goes on. Accepts NULL.
 */
struct listen_sockets listener_sockets(const struct listener *listener, int *fds);
/** listener_on_devices - whether it listens on RDMA devices, which only one listener at an address can. */
bool listener_on_devices(const struct listener *listener);
/** listener_close - stop listening and free; accepts NULL. */
void listener_close(struct listener *listener);

#endif
