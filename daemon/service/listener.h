/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listens for the clients of one service. Each address has a TCP socket, or a listener of each
 * fabric that the URI allows. If tcp:// and iwarp:// use the same port they share one socket, and
 * the worker detects the client's protocol.
 *
 * A listener accepts connections on the main thread, checks the client (accept_filter.h), and
 * delivers the connection by incoming(). While can_accept() returns false, connections stay in the
 * kernel's queue, and the listener checks again every 100 ms.
 */
#ifndef DAEMON_SERVICE_LISTENER_H
#define DAEMON_SERVICE_LISTENER_H

#include <sys/socket.h>

#include "base/compiler.h"
#include "base/listen_socket.h"
#include "base/loop.h"
#include "daemon/config/config.h"
#include "daemon/config/self_connect.h"
#include "daemon/service/accepted_conn.h"
#include "daemon/service/listen_names.h"

#define LISTENER_HOST_SOCKETS 16u /* for one host name: two fabrics on each address */
#define LISTENER_MAX_SOCKETS  (CONFIG_MAX_LISTENERS * LISTENER_HOST_SOCKETS)

struct listener_events {
	/* @in is allowed to connect. The callee owns what it contains. */
	void (*incoming)(void *arg, const struct accepted_conn *in);
	/* @in is rejected, as in accept_filter_events.refused(). */
	void (*refused)(void *arg, const struct accepted_conn *in, enum leg_close why,
			const char *detail);
	/* Returns whether another connection can be accepted now; if not, it waits. */
	bool (*can_accept)(void *arg);
};

struct listener;

/**
 * listener_open - Listens on the service's URIs
 * @loop:    the main thread's
 * @service: outlives the listener
 * @names:   addresses of the host names that the service listens on; not kept. NULL: it has no
 *           names
 * @have:    sockets that already listen; NULL: none. The listener uses those at the service's
 *           addresses, so that clients in their queues are not lost
 * @error:   on failure: what failed, without a full stop
 *
 * Returns 0 or a negative errno.
 */
int listener_open(struct loop *loop, const struct service_config *service,
		  const struct listen_names *names, const struct listen_sockets *have,
		  const struct listener_events *events, void *arg, char *error, size_t error_bytes,
		  struct listener **out) MUST_CHECK;
/**
 * listener_fabrics - Returns the fabrics of an RDMA listener: "iwarp", "verbs", "verbs and iwarp";
 * for TCP "".
 */
const char *listener_fabrics(const struct listener *listener);
/**
 * listener_awaiting_header - Returns how many connections wait for their PROXY header; 0 for NULL.
 */
unsigned listener_awaiting_header(const struct listener *listener);
/** listener_add_addresses - Adds the listening addresses to @listen_addrs. Returns 0 or -ENOMEM. */
int listener_add_addresses(const struct listener *listener,
			   struct self_connect *listen_addrs) MUST_CHECK;
/**
 * listener_address - Returns the listening address number @i, or NULL past the last
 * @tcp, @rdma: set: which protocols it serves; both if they share the port
 */
const struct sockaddr *listener_address(const struct listener *listener, size_t i, bool *tcp,
					bool *rdma);
/**
 * listener_absent_address - Returns a listening address that this host has lacked since
 * listener_open(), or NULL.
 */
const struct sockaddr *listener_absent_address(const struct listener *listener);
/**
 * listener_sockets - Gets the listening sockets, without those of RDMA devices
 * @fds: array of LISTENER_MAX_SOCKETS
 *
 * The sockets stay the listener's. Duplicates continue to listen after listener_close(). Accepts
 * NULL.
 */
struct listen_sockets listener_sockets(const struct listener *listener, int *fds);
/**
 * listener_on_devices - Returns whether it listens on RDMA devices, where only one listener can use
 * an address.
 */
bool listener_on_devices(const struct listener *listener);
/** listener_close - Stops listening and frees the listener. Accepts NULL. */
void listener_close(struct listener *listener);

#endif
