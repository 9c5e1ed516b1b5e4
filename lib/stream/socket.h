/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams on TCP sockets: those that a listener accepted, and those that connect. */
#ifndef STREAM_SOCKET_H
#define STREAM_SOCKET_H

#include "stream/ports.h"
#include "stream/stream.h"

/* Past the stall timeout, which names the reason better, the kernel gives a connection up. */
#define SOCKET_USER_TIMEOUT_MARGIN_MS 5000u

/* The sockets of one loop. */
struct socket_net {
	struct stream_net net;
	struct loop *loop;
	unsigned user_timeout_ms; /* for the peer to acknowledge what it was sent */
	unsigned keepalive_s;     /* of silence, and the peer is asked */
	struct ports *ports;
	unsigned ports_turn;
};

/**
 * socket_net_init - for streams whose user waits for its peers for @stall_timeout_us at most
 * @ports:       of the process; outlives the streams
 * @keepalive_s: a peer that said nothing for so long, at most, is asked whether it is there
 *
 * Linux goes on asking as long as a peer may leave data unacknowledged, which is until a little after
 * @stall_timeout_us, but at least twice: a silent peer is given up at the first question after that.
 */
void socket_net_init(struct socket_net *net, struct loop *loop, struct ports *ports,
		     uint64_t stall_timeout_us, unsigned keepalive_s);

/**
 * socket_tune_listener - give the streams that are accepted at @fd what those have that connect
 *
 * What is accepted inherits no delay, keepalive and the bound on unanswered data, so that they are set once. The values
 * are those of socket_net_init(); how soon a peer is asked differs from one to the next.
 */
void socket_tune_listener(int fd, uint64_t stall_timeout_us, unsigned keepalive_s);

/**
 * socket_adopt - make a stream of an accepted connection
 * @fd: non-blocking, accepted at a listener that was tuned; taken, also on failure
 *
 * Returns 0 or -ENOMEM.
 */
int socket_adopt(struct socket_net *net, int fd, struct stream **out) MUST_CHECK;

/** socket_await - have a socket be ready to be read once @bytes are here, or the end of what its peer sends. */
void socket_await(int fd, unsigned bytes);
/**
 * socket_first_bytes - as stream_readv(), of a stream on a socket; what is here stays unread
 *
 * From now on the socket is ready to be read as soon as one byte is here.
 */
ssize_t socket_first_bytes(struct stream *stream, uint8_t *bytes, size_t len_bytes) MUST_CHECK;
/**
 * socket_part - take the socket out of a stream that was adopted, which is freed
 *
 * Not from inside an event of it. Returns the socket.
 */
int socket_part(struct stream *stream) MUST_CHECK;

#endif
