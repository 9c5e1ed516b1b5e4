/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names to addresses: getaddrinfo() on a thread of its own, which lasts as long as the answer takes.
 *
 * A look-up cannot be broken off. Who waits for one, and what becomes of the answer, is daemon/service/server_name.h.
 */
#ifndef DAEMON_BASE_RESOLVER_H
#define DAEMON_BASE_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define RESOLVER_MAX_ADDRS 16u /* further addresses of a name are not tried */

struct resolver_answer {
	size_t naddrs;
	struct sockaddr_storage addrs[RESOLVER_MAX_ADDRS]; /* in the order to try them */
	const char *error; /* NULL, or why there is none; not to be freed */
	bool is_final;     /* whoever knows the name says that it has no address */
};

/**
 * resolver_literal - the address that a literal stands for
 * @port: decimal
 *
 * Returns false, and has not touched @answer, for a name.
 */
bool resolver_literal(const char *host, const char *port, struct resolver_answer *answer);

/**
 * resolver_start - look up a stream socket's addresses; any thread
 * @host:   name or literal; copied, as is @port
 * @port:   decimal
 * @answer: written before @done, and the look-up's until then
 * @done:   called once, from another thread
 *
 * Returns 0, -ENOMEM or -EAGAIN.
 */
int resolver_start(const char *host, const char *port, struct resolver_answer *answer,
		   void (*done)(void *arg), void *arg) MUST_CHECK;

/**
 * resolver_quiesce - wait until every look-up has come back; any thread
 *
 * To be called before what a done() needs is freed. Returns false if that took longer than @timeout_ms: then none of
 * it may be.
 */
bool resolver_quiesce(unsigned timeout_ms) MUST_CHECK;

/* A way to look names up: resolver_system, or what a test puts in its place. */
struct resolver {
	int (*start)(const char *host, const char *port, struct resolver_answer *answer,
		     void (*done)(void *arg), void *arg);
};

/* resolver_start(). */
extern const struct resolver resolver_system;

#endif
