/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses of the names at which services listen, looked up before anything is opened.
 *
 * getaddrinfo() blocks for as long as name servers are silent, so the main thread never calls it while the daemon serves: a
 * thread of its own does, and the main thread opens listeners with what came of it (daemon/service/listener.h). As for
 * the names of servers (daemon/service/server_name.h), an old answer serves while name servers are silent or fail; but that
 * a name has no address is an answer.
 *
 * A set of names is not changed once it is resolved, so that any thread can read it.
 */
#ifndef DAEMON_SERVICE_LISTEN_NAMES_H
#define DAEMON_SERVICE_LISTEN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "daemon/base/resolver.h"
#include "daemon/config/config.h"

#define LISTEN_NAMES_MS     15000u /* how long a look-up may take … */
#define LISTEN_NAMES_OLD_MS 1000u  /* … where old answers will do for all names */

struct listen_names;

/* One name. */
struct listen_name {
	char *host;
	struct resolver_answer answer; /* without ports; error: it cannot be listened at */
	const char *old_why; /* the answer is an old one: why there is no new one; else NULL */
};

/** listen_names_new - an empty set, with a reference that is the caller's; NULL without memory. */
struct listen_names *listen_names_new(void) MUST_CHECK;
/**
 * listen_names_add - add the names at which @service listens, those that the set does not have yet
 *
 * Literal addresses are no names. Returns 0 or -ENOMEM.
 */
int listen_names_add(struct listen_names *names, const struct service_config *service) MUST_CHECK;
/**
 * listen_names_resolve - look up all names of a set, which nobody else has yet; blocks, for LISTEN_NAMES_MS at most
 * @resolver: with which
 * @old:      the set that was made before, of which answers serve; NULL: none
 *
 * Returns 0 or -ENOMEM.
 */
int listen_names_resolve(struct listen_names *names, const struct resolver *resolver,
			 const struct listen_names *old) MUST_CHECK;
/** listen_names_are_none - whether the set is empty. */
bool listen_names_are_none(const struct listen_names *names);
/** listen_names_find - the name @host of a set; NULL if it is none of it, or @names is NULL. */
const struct listen_name *listen_names_find(const struct listen_names *names, const char *host);
/** listen_names_tell_old - log for which names old addresses are used. */
void listen_names_tell_old(const struct listen_names *names);
/** listen_names_ref - one more reference; any thread. Accepts and returns NULL. */
struct listen_names *listen_names_ref(struct listen_names *names);
/** listen_names_put - give a reference back; any thread. Accepts NULL. */
void listen_names_put(struct listen_names *names);

#endif
