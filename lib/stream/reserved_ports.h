/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocates reserved source ports (below 1024), and tracks which are free towards each destination.
 *
 * Servers can require a port below 1024. These are few, and each can have only one connection to a
 * destination. So this process keeps a map per destination: the ports that its connections hold,
 * and the ports that other processes use, as the kernel reported. Ports known to be in use are not
 * tried.
 *
 * A released port is allocated again only after all other free ports, because its client can
 * reconnect and need it: the server recognises the client's retransmissions by the port.
 *
 * The process has one `struct reserved_ports`. Any thread can call any function. Allocating and
 * releasing take no lock. Finding the map of a destination takes a lock, so do it only at connect
 * and close.
 */
#ifndef STREAM_RESERVED_PORTS_H
#define STREAM_RESERVED_PORTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define RESERVED_PORTS_FIRST 1023u
#define RESERVED_PORTS_LAST  665u /* lower ones are left to the host's services */
#define RESERVED_PORTS_COUNT (RESERVED_PORTS_FIRST - RESERVED_PORTS_LAST + 1)
#define RESERVED_PORTS_IN_USE_US                                                                   \
	10000000u /* how long a port in use by another process is skipped */
#define RESERVED_PORTS_KEEP_US  120000000u /* how long a map is kept without users … */
#define RESERVED_PORTS_IDLE_MAX 64u        /* … and how many such maps at most */

struct reserved_ports;
struct reserved_ports_map;

/** reserved_ports_new - Returns an allocator without destinations, or NULL without memory. */
struct reserved_ports *reserved_ports_new(void);
/** reserved_ports_free - Frees all maps, which must have no users. Accepts NULL. */
void reserved_ports_free(struct reserved_ports *reserved_ports);
/**
 * reserved_ports_rr_start - Returns a round-robin start index, so that concurrent users try
 * different ports first.
 */
unsigned reserved_ports_rr_start(struct reserved_ports *reserved_ports);

/**
 * reserved_ports_map_get - Returns the map of a destination, for one connection
 * @dest:   IPv4 or IPv6 address and port
 * @source: source address of the connection, its port ignored; AF_UNSPEC: chosen by the host
 * @now_us: monotonic time, here and below
 *
 * Release it by reserved_ports_map_put(). Returns NULL without memory.
 */
struct reserved_ports_map *reserved_ports_map_get(struct reserved_ports *reserved_ports,
						  const struct sockaddr_storage *dest,
						  const struct sockaddr_storage *source,
						  uint64_t now_us);
/** reserved_ports_map_put - Releases the map after its port was released. Accepts NULL. */
void reserved_ports_map_put(struct reserved_ports_map *map, uint64_t now_us);

/**
 * reserved_ports_take_any - Allocates the free port that was released longest ago
 * @rr_start: from reserved_ports_rr_start()
 *
 * Returns 0 if none is free. Release the port by reserved_ports_release() or
 * reserved_ports_set_in_use().
 */
uint16_t reserved_ports_take_any(struct reserved_ports_map *map, unsigned rr_start,
				 uint64_t now_us);
/**
 * reserved_ports_take_port - Allocates @port itself, even if another process used it recently
 *
 * Returns false if another connection of this process holds it. A port outside the map is always
 * allowed.
 */
bool reserved_ports_take_port(struct reserved_ports_map *map, uint16_t port);
/** reserved_ports_release - Releases @port. Does nothing for a port outside the map. */
void reserved_ports_release(struct reserved_ports_map *map, uint16_t port, uint64_t now_us);
/**
 * reserved_ports_set_in_use - Releases @port and marks it as in use by another process, as bind()
 * or connect() reported. Does nothing for a port outside the map.
 */
void reserved_ports_set_in_use(struct reserved_ports_map *map, uint16_t port, uint64_t now_us);

#endif
