/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resolves names by getaddrinfo(), each on a thread of its own that lives until the answer arrives.
 *
 * A lookup cannot be cancelled. daemon/service/dns_cache.h keeps the connections that wait, and the
 * answers.
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
	const char *error; /* NULL, or why there are none; do not free */
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
 * Call it before freeing what a done() needs. Returns false after @timeout_ms: then nothing of it
 * may be freed.
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
