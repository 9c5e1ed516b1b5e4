/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of a TCP connection: its socket, and the choice of the port that it comes from. */
#ifndef STREAM_START_H
#define STREAM_START_H

#include "stream/ports.h"
#include "stream/stream.h"

/* What became of it. Of a connection that is on its way, the port is held until start_end(). */
struct start {
	int fd;                /* on its way; or a negative errno */
	unsigned retries;      /* ports that were taken when they were wanted */
	bool shortfall;        /* a reserved port was wanted, and none was to be had */
	uint16_t port;         /* held in the map; 0: none */
	struct ports_map *map; /* NULL: nothing is held */
};

/**
 * start_connection - a connection to @target, from the first port that it may have
 * @ports:  of the process
 * @turn:   of ports_turn()
 * @now_us: monotonic time
 *
 *	                 auto                       reserved    any
 *	first            the preferred port, if it is below 1024 …
 *	                 … or preferred_above                   … or above
 *	then             each reserved port that may be free
 *	then             the preferred port
 *	at last          what the kernel gives                  what the kernel gives
 *
 * Each source address has its own reserved ports, and those of all are tried, from the first one on.
 *
 * In start.fd is a descriptor, or -ENOMEM, -EACCES (no reserved port is for this process), -EADDRINUSE (they are
 * all taken), -EBUSY (the only one that may be had is), -ENODEV (this host has none of the source addresses, or they are of another family), or the errno
 * of what failed with any port.
 */
struct start start_connection(struct ports *ports, unsigned turn,
			      const struct stream_target *target, uint64_t now_us);
/**
 * start_may_be_reserved - whether this process may have a port below 1024, as CAP_NET_BIND_SERVICE lets it
 *
 * Asks the kernel, so not for every connection.
 */
bool start_may_be_reserved(void);
/** start_end - the connection is over and its socket closed, or there is none: the port is free. */
void start_end(struct start *start, uint64_t now_us);

#endif
