/* SPDX-License-Identifier: BSD-3-Clause */
/* Several names looked up at the same time, by a thread that can wait. */
#ifndef DAEMON_BASE_RESOLVE_ALL_H
#define DAEMON_BASE_RESOLVE_ALL_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/resolver.h"

/* What came of a look-up. */
enum resolve_result {
	RESOLVE_ADDRESSES, /* answer.addrs has them */
	RESOLVE_ERROR,     /* answer.error says why there are none */
	RESOLVE_SILENT,    /* no answer came in time */
	RESOLVE_NOT_ASKED, /* memory or threads are short */
};

struct resolve_lookup {
	const char *host, *port;
	enum resolve_result result;
	struct resolver_answer answer; /* of RESOLVE_ADDRESSES and RESOLVE_ERROR */
};

/**
 * resolve_all - look up all hosts of @lookups, and wait for the answers
 * @resolver:   with which
 * @lookups:    @n of them: host and port are read, result and answer written
 * @timeout_ms: the longest time to wait
 *
 * What is late is not waited for, and its answer goes nowhere.
 */
void resolve_all(const struct resolver *resolver, struct resolve_lookup *lookups, size_t n,
		 unsigned timeout_ms);

#endif
