/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams on TCP sockets, accepted and connecting. */
#ifndef STREAM_TCP_STREAM_H
#define STREAM_TCP_STREAM_H

#include "stream/reserved_ports.h"
#include "stream/stream.h"

/*
 * The kernel's timeout is this much longer than the owner's stall timeout. So the owner closes the
 * connection first, and logs a better reason.
 */
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
 * tcp_stream_net_init - Initializes the TCP streams of a loop
 * @reserved_ports:   of the process; outlives the streams
 * @stall_timeout_us: time after which the owners of the streams close a stalled connection
 * @keepalive_s:      longest idle time before a peer is probed
 *
 * TCP_USER_TIMEOUT is slightly longer than @stall_timeout_us. Linux closes a connection whose data
 * stay unacknowledged for that time. If an idle peer does not answer, Linux sends at least two
 * probes, and closes the connection at the first probe after that time.
 */
void tcp_stream_net_init(struct tcp_stream_net *net, struct loop *loop,
			 struct reserved_ports *reserved_ports, uint64_t stall_timeout_us,
			 unsigned keepalive_s);

/**
 * tcp_stream_tune_listener - Sets the socket options of accepted streams on their listener @fd
 *
 * Accepted sockets inherit TCP_NODELAY, keepalive and TCP_USER_TIMEOUT, so these are set once, to
 * the values of tcp_stream_net_init(). tcp_stream_adopt() then gives each socket its own idle time.
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
