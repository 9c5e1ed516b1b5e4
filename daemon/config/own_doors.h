/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects connections of this daemon to itself, from its listening addresses.
 *
 * If a daemon connects to itself, each Call at its first end holds the memory and credits that the same Call needs at
 * the second end: a permanent deadlock. Two daemons can be connected in any way.
 */
#ifndef DAEMON_CONFIG_OWN_DOORS_H
#define DAEMON_CONFIG_OWN_DOORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/config/config.h"

struct own_door;

/* All zero: empty. */
struct own_doors {
	size_t count;
	struct own_door *doors;
};

/**
 * own_doors_add - Adds a listening address.
 * @transport: TRANSPORT_RDMA: all RDMA fabrics of the host
 * @addr:      with its port; [::] includes IPv4
 *
 * Returns 0 or -ENOMEM.
 */
int own_doors_add(struct own_doors *doors, enum transport transport,
		  const struct sockaddr *addr) MUST_CHECK;
/** own_doors_replace - Replaces the set by @by and empties @by. Other threads can use the set meanwhile. */
void own_doors_replace(struct own_doors *doors, struct own_doors *by);
/** own_doors_fini - Frees the set and leaves it empty. */
void own_doors_fini(struct own_doors *doors);

/**
 * own_doors_take - Returns whether a connection to @to by @transport could reach a listener of the set; any thread.
 *
 * Uses the addresses that this host has at the moment. Returns false for an empty set or NULL.
 */
bool own_doors_take(const struct own_doors *doors, enum transport transport,
		    const struct sockaddr *to);

/** own_doors_is_ours - Returns whether this host has the address now; ignores the port. */
bool own_doors_is_ours(const struct sockaddr *addr);

/**
 * own_doors_find - Returns the service of the file that listens where @connect leads, or NULL.
 *
 * It does not resolve names: those are checked at run time.
 */
const struct service_config *own_doors_find(const struct config *config,
					    const struct config_uri *connect);

#endif
