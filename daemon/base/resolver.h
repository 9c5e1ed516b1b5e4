/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resolves names by getaddrinfo(), each on a thread of its own that lives until the answer arrives.
 *
 * A lookup cannot be cancelled. daemon/service/dns_cache.h caches the answers and has the list of
 * waiting connections.
 */
#ifndef DAEMON_BASE_RESOLVER_H
#define DAEMON_BASE_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define RESOLVER_MAX_ADDRS 16u /* further addresses of a name are ignored */

struct resolver_answer {
	size_t naddrs;
	struct sockaddr_storage addrs[RESOLVER_MAX_ADDRS]; /* in the order to try */
	const char *error; /* why there is no address, constant; else NULL */
	bool is_final;     /* authoritative: the name has no address */
};

/**
 * resolver_literal - Gets the address of a literal
 * @port: decimal
 *
 * Returns false for a name, and leaves @answer unchanged.
 */
bool resolver_literal(const char *host, const char *port, struct resolver_answer *answer);

/**
 * resolver_start - Resolves the addresses of a stream socket; any thread
 * @host:   name or literal; copied, like @port
 * @port:   decimal
 * @answer: owned by the lookup until @done, and set before it
 * @done:   called once, on another thread
 *
 * Returns 0, -ENOMEM or -EAGAIN.
 */
int resolver_start(const char *host, const char *port, struct resolver_answer *answer,
		   void (*done)(void *arg), void *arg) MUST_CHECK;

/**
 * resolver_quiesce - Waits until every lookup has ended; any thread
 *
 * Call it before freeing objects that a done() uses. Returns true, or false after @timeout_ms; then
 * do not free them.
 */
bool resolver_quiesce(unsigned timeout_ms) MUST_CHECK;

/* A way to resolve names: resolver_system, or a replacement in tests. */
struct resolver {
	int (*start)(const char *host, const char *port, struct resolver_answer *answer,
		     void (*done)(void *arg), void *arg);
};

/* resolver_start(). */
extern const struct resolver resolver_system;

#endif
