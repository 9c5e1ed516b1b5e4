/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves several names in parallel, for a thread that can wait. */
#ifndef DAEMON_BASE_RESOLVE_ALL_H
#define DAEMON_BASE_RESOLVE_ALL_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/resolver.h"

/* The result of a lookup. */
enum resolve_result {
	RESOLVE_ADDRESSES,   /* see answer.addrs */
	RESOLVE_ERROR,       /* see answer.error */
	RESOLVE_TIMED_OUT,   /* no answer within the time limit */
	RESOLVE_NOT_STARTED, /* not started: no memory or threads */
};

struct resolve_lookup {
	const char *host, *port;
	enum resolve_result result;
	struct resolver_answer answer; /* set for RESOLVE_ADDRESSES and RESOLVE_ERROR */
};

/**
 * resolve_all - Resolves all hosts of @lookups and waits for the answers
 * @resolver:   does the lookups
 * @lookups:    @n entries: reads host and port, sets result and answer
 * @timeout_ms: time limit
 *
 * Later answers are ignored.
 */
void resolve_all(const struct resolver *resolver, struct resolve_lookup *lookups, size_t n,
		 unsigned timeout_ms);

#endif
