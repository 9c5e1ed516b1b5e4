/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reserved port of a connection over iwarp. Of a TCP connection its stream holds the port (stream/socket.h), but
 * lib/fabric knows nothing of stream/ports.h, so the owner of the leg holds it, until the leg says closed().
 */
#ifndef DAEMON_UPSTREAM_HELD_PORT_H
#define DAEMON_UPSTREAM_HELD_PORT_H

#include <stdint.h>

#include "stream/ports.h"

/* All zero: none is held. */
struct held_port {
	struct ports_map *map;
	uint16_t port;
};

/** held_port_give - the leg is over, and so its port is free; nothing if none is held. */
static inline void held_port_give(struct held_port *held, uint64_t now_us)
{
	if (held->port)
		ports_give(held->map, held->port, now_us);
	ports_map_put(held->map, now_us);
	*held = (struct held_port){0};
}

#endif
