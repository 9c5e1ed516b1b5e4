/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where this daemon listens, to tell whether it would be its own upstream.
 *
 * The Calls of a daemon that connects to itself hold the memory and the credits that the same Calls wait for at its
 * other end: it locks up for good. Two daemons may be joined in any way.
 */
#ifndef DAEMON_CONFIG_OWN_DOORS_H
#define DAEMON_CONFIG_OWN_DOORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/config/config.h"

struct own_door;

/* All zero: none. */
struct own_doors {
	size_t count;
	struct own_door *doors;
};

/**
 * own_doors_add - one more place to listen
 * @transport: TRANSPORT_RDMA: on whatever fabrics there are
 * @addr:      with its port; [::] takes IPv4 too
 *
 * Returns 0 or -ENOMEM.
 */
int own_doors_add(struct own_doors *doors, enum transport transport,
		  const struct sockaddr *addr) MUST_CHECK;
/** own_doors_replace - have them be @by, which is empty then; while other threads look at them. */
void own_doors_replace(struct own_doors *doors, struct own_doors *by);
/** own_doors_fini - none any more. */
void own_doors_fini(struct own_doors *doors);

/**
 * own_doors_take - whether a connection to @to by @transport could come to one of them; any thread
 *
 * Looks at the addresses that this host has at the moment. Without any doors, NULL, none does.
 */
bool own_doors_take(const struct own_doors *doors, enum transport transport,
		    const struct sockaddr *to);

/** own_doors_is_ours - whether this host has the address now; its port does not matter. */
bool own_doors_is_ours(const struct sockaddr *addr);

/**
 * own_doors_find - which service of the file listens where @connect leads
 *
 * Returns NULL if none does, as far as the file tells: what stands behind a name is found out at run time.
 */
const struct service_config *own_doors_find(const struct config *config,
					    const struct config_uri *connect);

#endif
