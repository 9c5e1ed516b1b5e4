/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reserved source port of an iWARP connection. The owner of the leg holds it until the leg
 * calls closed(), because lib/fabric does not use stream/reserved_ports.h. (A TCP stream holds its
 * own port.)
 */
#ifndef DAEMON_UPSTREAM_HELD_PORT_H
#define DAEMON_UPSTREAM_HELD_PORT_H

#include <stdint.h>

#include "stream/reserved_ports.h"

/* All zero: no port. */
struct held_port {
	struct reserved_ports_map *map;
	uint16_t port;
};

/** held_port_release - Releases the port after the leg has closed. Does nothing without a port. */
static inline void held_port_release(struct held_port *held, uint64_t now_us)
{
	if (held->port)
		reserved_ports_release(held->map, held->port, now_us);
	reserved_ports_map_put(held->map, now_us);
	*held = (struct held_port){0};
}

#endif
