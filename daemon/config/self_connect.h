/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects connections of this daemon to itself, from its listening addresses.
 *
 * If a daemon connected to itself, a Call would hold memory and credits that the same Call needs
 * when it arrives again: a permanent deadlock. Two daemons can be connected in any way.
 */
#ifndef DAEMON_CONFIG_SELF_CONNECT_H
#define DAEMON_CONFIG_SELF_CONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/config/config.h"

struct self_connect_addr;

/* All zero: empty. */
struct self_connect {
	size_t count;
	struct self_connect_addr *listeners;
};

/**
 * self_connect_add - Adds a listening address.
 * @transport: TRANSPORT_RDMA: all RDMA fabrics of the host
 * @addr:      with its port; [::] includes IPv4
 *
 * Returns 0 or -ENOMEM.
 */
int self_connect_add(struct self_connect *listeners, enum transport transport,
		     const struct sockaddr *addr) MUST_CHECK;
/**
 * self_connect_replace - Replaces the set by @by and empties @by, while other threads can use the
 * set.
 */
void self_connect_replace(struct self_connect *listeners, struct self_connect *by);
/** self_connect_fini - Frees the set and leaves it empty. */
void self_connect_fini(struct self_connect *listeners);

/**
 * self_connect_matches - Returns whether a connection to @to by @transport could reach a listener
 * of the set; any thread.
 *
 * Uses the addresses that this host has at the moment. Returns false for an empty set or NULL.
 */
bool self_connect_matches(const struct self_connect *listeners, enum transport transport,
			  const struct sockaddr *to);

/** self_connect_is_local - Returns whether this host has the address now; ignores the port. */
bool self_connect_is_local(const struct sockaddr *addr);

/**
 * self_connect_find - Returns the service of the file that listens where @connect leads, or NULL.
 *
 * It does not resolve names: those are checked at run time.
 */
const struct service_config *self_connect_find(const struct config *config,
					       const struct config_uri *connect);

#endif
