/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses of the host names that services listen on, resolved before any listener opens.
 *
 * getaddrinfo() blocks while name servers do not respond. So another thread calls it, and the main
 * thread opens listeners with the result (daemon/service/listener.h). While name servers time out
 * or fail, the old answer is used, but not after NXDOMAIN (as in daemon/service/dns_cache.h).
 *
 * A set of names does not change once resolved, so any thread can read it.
 */
#ifndef DAEMON_SERVICE_LISTEN_NAMES_H
#define DAEMON_SERVICE_LISTEN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "daemon/base/resolver.h"
#include "daemon/config/config.h"

#define LISTEN_NAMES_MS     15000u /* time limit of a lookup … */
#define LISTEN_NAMES_OLD_MS 1000u  /* … if all names have an old answer */

struct listen_names;

struct listen_name {
	char *host;
	struct resolver_answer answer; /* without ports; with error: no address to listen on */
	const char *stale_why; /* the answer is stale: why the new lookup failed; else NULL */
};

/**
 * listen_names_new - Creates an empty set; the caller gets its reference. Returns NULL without
 * memory.
 */
struct listen_names *listen_names_new(void) MUST_CHECK;
/**
 * listen_names_add - Adds the host names that @service listens on, if the set lacks them
 *
 * Skips literal addresses. Returns 0 or -ENOMEM.
 */
int listen_names_add(struct listen_names *names, const struct service_config *service) MUST_CHECK;
/**
 * listen_names_resolve - Resolves all names of a set that only this thread uses; blocks for up to
 * LISTEN_NAMES_MS
 * @resolver: does the lookups
 * @old:      the set before, whose answers are used if new lookups fail; NULL: none
 *
 * Returns 0 or -ENOMEM.
 */
int listen_names_resolve(struct listen_names *names, const struct resolver *resolver,
			 const struct listen_names *old) MUST_CHECK;
/** listen_names_is_empty - Returns whether the set is empty. */
bool listen_names_is_empty(const struct listen_names *names);
/**
 * listen_names_find - Returns the name @host of a set; NULL if the set lacks it or @names is NULL.
 */
const struct listen_name *listen_names_find(const struct listen_names *names, const char *host);
/** listen_names_log_stale - Logs the names that use stale addresses. */
void listen_names_log_stale(const struct listen_names *names);
/** listen_names_ref - Adds a reference; any thread. Accepts and returns NULL. */
struct listen_names *listen_names_ref(struct listen_names *names);
/** listen_names_put - Drops a reference; any thread. Accepts NULL. */
void listen_names_put(struct listen_names *names);

#endif
