/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams on TCP sockets: those that a listener accepted, and those that connect. */
#ifndef STREAM_SOCKET_H
#define STREAM_SOCKET_H

#include "stream/stream.h"

/* Past the stall timeout, which names the reason better, the kernel gives a connection up. */
#define SOCKET_USER_TIMEOUT_MARGIN_MS 5000u

#define SOCKET_RESERVED_PORT_FIRST    1023u
#define SOCKET_RESERVED_PORT_LAST     665u /* those below are left to the services of the host */

/* The sockets of one loop. */
struct socket_net {
	struct stream_net net;
	struct loop *loop;
	unsigned user_timeout_ms;    /* for the peer to acknowledge what it was sent */
	unsigned next_reserved_port; /* they are taken in turn */
};

/** socket_net_init - for streams whose user waits for its peers for @stall_timeout_us at most. */
void socket_net_init(struct socket_net *net, struct loop *loop, uint64_t stall_timeout_us);

/**
 * socket_adopt - make a stream of an accepted connection
 * @fd: taken, also on failure
 *
 * Returns 0 or -ENOMEM.
 */
int socket_adopt(struct socket_net *net, int fd, struct stream **out) MUST_CHECK;

#endif
