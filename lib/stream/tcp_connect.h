/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts a TCP connection: creates its socket and chooses its source address and port. */
#ifndef STREAM_TCP_CONNECT_H
#define STREAM_TCP_CONNECT_H

#include "stream/reserved_ports.h"
#include "stream/stream.h"

/* The result. A connection that was started holds its port until tcp_connect_release(). */
struct tcp_connect_result {
	int fd;                         /* connecting socket, or a negative errno */
	unsigned retries;               /* ports that turned out to be in use */
	bool shortfall;                 /* a reserved port was preferred, but none was free */
	uint16_t port;                  /* held in the map; 0: none */
	struct reserved_ports_map *map; /* NULL: no port is held */
};

/**
 * tcp_connect_start - Connects to @target from the first port that is available
 * @reserved_ports: of the process
 * @rr_start:       from reserved_ports_rr_start()
 * @now_us:         monotonic time
 *
 *	                 auto                       reserved    any
 *	first            the preferred port, if it is below 1024 …
 *	                 … or preferred_above                   … or above
 *	then             each reserved port that may be free
 *	then             the preferred port
 *	at last          a port chosen by the kernel            a port chosen by the kernel
 *
 * Each source address has its own reserved ports; those of all addresses are tried, beginning with
 * the first.
 *
 * Returns the result with a descriptor in fd, or with one of these errors there:
 *
 *	-ENOMEM      no memory
 *	-EACCES      this process may not use reserved ports
 *	-EADDRINUSE  all ports are in use
 *	-EBUSY       the only port allowed is in use
 *	-ENODEV      no source address is of the server's family, or this host has none of them
 *	another negative errno that does not depend on the port
 */
struct tcp_connect_result tcp_connect_start(struct reserved_ports *reserved_ports,
					    unsigned rr_start, const struct stream_target *target,
					    uint64_t now_us);
/**
 * tcp_connect_may_reserve - Returns whether this process may bind ports below 1024
 * (CAP_NET_BIND_SERVICE)
 *
 * Asks the kernel, so do not call it for every connection.
 */
bool tcp_connect_may_reserve(void);
/** tcp_connect_release - Releases the port after the socket was closed, or if none exists. */
void tcp_connect_release(struct tcp_connect_result *start, uint64_t now_us);

#endif
