/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries the rpcbind of a host over TCP for the port of a program.
 *
 * One connection, one Call and one Reply, on the loop. A timeout is a result too.
 *
 * Threads: the loop's thread.
 */
#ifndef DAEMON_RPCBIND_PORT_QUERY_H
#define DAEMON_RPCBIND_PORT_QUERY_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/loop.h"

struct port_query;

struct port_query_config {
	struct loop *loop;
	const struct sockaddr *rpcbind; /* address and port of rpcbind */
	uint32_t program, version;      /* the program, over TCP of the same address family */
	uint64_t timeout_us;
	/* Called once, after port_query_new(), with the port, or with 0 and a static error text. Frees the query. */
	void (*done)(void *arg, uint16_t port, const char *error);
	void *arg;
};

/** port_query_new - Starts a query. Returns 0 or a negative errno. */
int port_query_new(const struct port_query_config *config, struct port_query **out) MUST_CHECK;
/** port_query_free - Cancels a query: done() is not called. Accepts NULL. */
void port_query_free(struct port_query *query);

#endif
