/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries the rpcbind of a host over TCP for the port of a program.
 *
 * It opens a connection, sends one Call and waits for the Reply, on the loop. A timeout is reported
 * as an error.
 *
 * Threads: the loop's thread.
 */
#ifndef DAEMON_RPCBIND_RPCB_GETADDR_H
#define DAEMON_RPCBIND_RPCB_GETADDR_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/loop.h"

struct rpcb_getaddr;

struct rpcb_getaddr_config {
	struct loop *loop;
	const struct sockaddr *rpcbind; /* address and port of rpcbind */
	uint32_t program, version;      /* the program, over TCP of the same address family */
	uint64_t timeout_us;
	/*
	 * Called once, after rpcb_getaddr_new(), with the port, or with 0 and a static error text.
	 * Frees the query.
	 */
	void (*done)(void *arg, uint16_t port, const char *error);
	void *arg;
};

/** rpcb_getaddr_new - Starts a query. Returns 0 or a negative errno. */
int rpcb_getaddr_new(const struct rpcb_getaddr_config *config,
		     struct rpcb_getaddr **out) MUST_CHECK;
/** rpcb_getaddr_free - Cancels a query: done() is not called. Accepts NULL. */
void rpcb_getaddr_free(struct rpcb_getaddr *query);

#endif
