/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams on TCP sockets, accepted and connecting. */
#ifndef STREAM_TCP_STREAM_H
#define STREAM_TCP_STREAM_H

#include "stream/reserved_ports.h"
#include "stream/stream.h"

/* The kernel's timeout is this much longer than the stall timeout, which logs a better reason. */
#define TCP_STREAM_USER_TIMEOUT_MARGIN_MS 5000u

/* The TCP streams of one loop. */
struct tcp_stream_net {
	struct stream_net net;
	struct loop *loop;
	unsigned user_timeout_ms; /* for the peer to acknowledge sent data */
	unsigned keepalive_s;     /* idle time before a keepalive probe */
	struct reserved_ports *reserved_ports;
	unsigned reserved_ports_rr_start;
};

/**
 * tcp_stream_net_init - Initializes the TCP streams of a loop, whose users time peers out after
 * @stall_timeout_us
 * @reserved_ports: of the process; outlives the streams
 * @keepalive_s:    longest idle time before a peer is probed
 *
 * Data can stay unacknowledged for slightly longer than @stall_timeout_us. Linux probes an idle
 * peer for the same time, at least twice, and closes the connection at the first probe after that.
 */
void tcp_stream_net_init(struct tcp_stream_net *net, struct loop *loop,
			 struct reserved_ports *reserved_ports, uint64_t stall_timeout_us,
			 unsigned keepalive_s);

/**
 * tcp_stream_tune_listener - Sets the socket options of accepted streams on their listener @fd
 *
 * Accepted sockets inherit TCP_NODELAY, keepalive and TCP_USER_TIMEOUT, so these are set once. The
 * values are those of tcp_stream_net_init(); the idle time differs between connections.
 */
void tcp_stream_tune_listener(int fd, uint64_t stall_timeout_us, unsigned keepalive_s);

/**
 * tcp_stream_adopt - Creates a stream from an accepted connection
 * @fd: non-blocking, accepted by a listener tuned by tcp_stream_tune_listener(); closed on failure
 *
 * Returns 0 or -ENOMEM.
 */
int tcp_stream_adopt(struct tcp_stream_net *net, int fd, struct stream **out) MUST_CHECK;

/**
 * tcp_stream_set_lowat - Makes a socket readable only once @bytes have arrived, or the peer's end
 * of stream (SO_RCVLOWAT).
 */
void tcp_stream_set_lowat(int fd, unsigned bytes);
/**
 * tcp_stream_peek - Like stream_readv() for a stream on a socket, but the bytes stay unread
 *
 * From now on the socket is readable as soon as one byte has arrived.
 */
ssize_t tcp_stream_peek(struct stream *stream, uint8_t *bytes, size_t len_bytes) MUST_CHECK;
/**
 * tcp_stream_detach - Detaches the socket from an adopted stream and frees the stream
 *
 * Do not call it from an event of the stream. Returns the socket.
 */
int tcp_stream_detach(struct stream *stream) MUST_CHECK;

#endif
