/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names to addresses, without blocking the loop: glibc's getaddrinfo_a() does the waiting.
 *
 * Threads: resolver_start(), resolver_cancel() and the answer belong to the loop's thread. glibc's own
 * thread does no more than post the answer there. A query outlives its cancellation until glibc has let
 * go of it.
 */
#ifndef DAEMON_BASE_RESOLVER_H
#define DAEMON_BASE_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/loop.h"

#define RESOLVER_MAX_ADDRS 16u /* further addresses of a name are not tried */

struct resolver_query;

/**
 * resolver_start - look up a stream socket's addresses
 * @loop: the loop on which the answer comes, an event_loop
 * @host: name or literal; literals ask no server
 * @port: decimal
 * @done: called once, never from inside resolver_start(): @naddrs addresses in the order to try them, or
 *        none and @error saying why
 *
 * Returns 0, -ENOMEM or -EAGAIN.
 */
int resolver_start(struct loop *loop, const char *host, const char *port,
		   void (*done)(void *arg, const struct sockaddr_storage *addrs, size_t naddrs,
				const char *error),
		   void *arg, struct resolver_query **out) MUST_CHECK;

/**
 * resolver_quiesce - wait until glibc has let go of every query; any thread
 *
 * To be called before a loop that queries were started on is freed. Returns false if that took
 * longer than @timeout_ms: then no such loop may be freed.
 */
bool resolver_quiesce(unsigned timeout_ms) MUST_CHECK;

/** resolver_cancel - done() will not be called; accepts NULL; not after done(). */
void resolver_cancel(struct resolver_query *query);

/* A way to look names up: resolver_system, or what a test puts in its place. */
struct resolver {
	int (*start)(struct loop *loop, const char *host, const char *port,
		     void (*done)(void *arg, const struct sockaddr_storage *addrs, size_t naddrs,
				  const char *error),
		     void *arg, struct resolver_query **out);
	void (*cancel)(struct resolver_query *query);
};

/* resolver_start() and resolver_cancel(). */
extern const struct resolver resolver_system;

#endif
