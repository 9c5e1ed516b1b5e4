/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reserved ports that connections may come from, and which of them are free towards each destination.
 *
 * Servers ask for a port below 1024, of which there are few; one serves any number of destinations, but one
 * connection to each. So this process keeps a map of its own for each: which ports its connections have, and
 * which ones the kernel said somebody else has. No port is tried of which that is known.
 *
 * A port that a connection has given back is taken again after all others that are free. Its client may come
 * back and want it: the server knows what it was asked from there.
 *
 * There is one `struct ports` for the process, and any thread may call anything. Taking and giving back have no
 * lock; finding the map of a destination has one, and so is for connect and close.
 */
#ifndef STREAM_PORTS_H
#define STREAM_PORTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define PORTS_FIRST    1023u
#define PORTS_LAST     665u /* those below are left to the services of the host */
#define PORTS_COUNT    (PORTS_FIRST - PORTS_LAST + 1)
#define PORTS_AVOID_US 10000000u  /* what somebody else has is not tried again for so long */
#define PORTS_KEEP_US  120000000u /* a map is kept for so long after its last user … */
#define PORTS_IDLE_MAX 64u        /* … and so many at most that have no user */

struct ports;
struct ports_map;

/** ports_new - no destination is known. Returns NULL without memory. */
struct ports *ports_new(void);
/** ports_free - free all maps, which nobody may have any more; accepts NULL. */
void ports_free(struct ports *ports);
/** ports_turn - where the next user is to begin among ports that are equally good: not where another does. */
unsigned ports_turn(struct ports *ports);

/**
 * ports_map_get - the map of a destination, for one connection
 * @dest:   an IPv4 or IPv6 address and a port
 * @source: the address that the connection comes from; its port is not looked at. AF_UNSPEC: the host's choice
 * @now_us: monotonic time, here and below
 *
 * To be given back by ports_map_put(). Returns NULL without memory.
 */
struct ports_map *ports_map_get(struct ports *ports, const struct sockaddr_storage *dest,
				const struct sockaddr_storage *source, uint64_t now_us);
/** ports_map_put - the connection is over, and its port given back; accepts NULL. */
void ports_map_put(struct ports_map *map, uint64_t now_us);

/**
 * ports_take - the free port that was given back longest ago
 * @turn: of ports_turn()
 *
 * Returns 0 if none is free. The port is to be given back by ports_give() or ports_avoid().
 */
uint16_t ports_take(struct ports_map *map, unsigned turn, uint64_t now_us);
/**
 * ports_take_this - @port itself, also if somebody else had it a while ago
 *
 * Returns false if another connection of this process has it. A port of no map may always be taken.
 */
bool ports_take_this(struct ports_map *map, uint16_t port);
/** ports_give - @port is free now; nothing for a port of no map. */
void ports_give(struct ports_map *map, uint16_t port, uint64_t now_us);
/** ports_avoid - somebody else has @port, as bind() or connect() said; nothing for a port of no map. */
void ports_avoid(struct ports_map *map, uint16_t port, uint64_t now_us);

#endif
