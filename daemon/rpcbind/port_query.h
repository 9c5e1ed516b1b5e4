/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One question to the rpcbind of some host, over TCP: at which port a program listens there.
 *
 * A connection of its own, one Call, one Reply, on the loop; whatever does not come in time is an answer, too.
 *
 * Concurrency: the loop's thread.
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
	const struct sockaddr *rpcbind; /* its address, with its port */
	uint32_t program, version;      /* which is asked for, over TCP of the same family */
	uint64_t timeout_us;
	/* Once: @port, or 0 and why in a few words, which last. Frees the query; never from port_query_new(). */
	void (*done)(void *arg, uint16_t port, const char *error);
	void *arg;
};

/** port_query_new - ask. Returns 0 or a negative errno. */
int port_query_new(const struct port_query_config *config, struct port_query **out) MUST_CHECK;
/** port_query_free - done() will not be called; accepts NULL. */
void port_query_free(struct port_query *query);

#endif
