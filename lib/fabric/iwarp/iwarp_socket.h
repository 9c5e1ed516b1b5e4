/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP sockets of the iwarp fabric: options, connecting, structures of endpoints and listeners. */
#ifndef FABRIC_IWARP_IWARP_SOCKET_H
#define FABRIC_IWARP_IWARP_SOCKET_H

#include <netinet/in.h>

#include "fabric/iwarp/engine.h"

struct iwarp_incoming {
	struct fabric_incoming in;
	int fd;
};

/*
 * MSS of a TCP connection, which grows with the peer's window and follows the path. It is queried
 * before sending, less often while it stays the same. All zero: query as soon as the connection is
 * up.
 */
struct iwarp_tcp_mss {
	int mss_bytes;                  /* result of the last query; 0: not known yet */
	size_t sent_bytes, every_bytes; /* sent since the last query; bytes between two queries */
};

struct iwarp_ep {
	struct fabric_ep ep;
	struct iwarp_engine *engine;
	int fd;
	struct loop_io *io;
	struct loop_timer *timer;
	uint64_t timer_at; /* UINT64_MAX: not set */
	struct loop_task flush;
	bool connecting; /* the TCP connection is not up yet */
	bool blocked;    /* the socket buffer is full */
	bool fin_sent;
	bool peer_ended; /* the peer has ended the connection: read all data that has arrived */
	bool closed;     /* closed() has been called or is being called */
	unsigned watched;
	struct iwarp_tcp_mss tcp_mss;
	struct sockaddr_storage local, peer;
};

#define IWARP_KEEPALIVE_S 30u /* default */

/**
 * iwarp_socket_tune - Sets TCP_NODELAY, keepalive and the limit of unacknowledged data; best
 * effort.
 * @fd: a connecting socket, or a listener: accepted sockets inherit the options
 */
void iwarp_socket_tune(int fd, const struct iwarp_config *config);
/** iwarp_socket_spread - Offsets the keepalives of the accepted @fd from those of others. */
void iwarp_socket_spread(int fd, const struct iwarp_config *config);
/**
 * iwarp_socket_connect - Starts a TCP connection.
 * @params: the source address
 *
 * Returns the descriptor, or a negative errno. If the source port is not available that is
 * -EADDRINUSE or -EADDRNOTAVAIL.
 */
int iwarp_socket_connect(const struct sockaddr *addr,
			 const struct fabric_ep_params *params) MUST_CHECK;
/**
 * iwarp_socket_close_reason - Returns the close reason for errno @err of a @connecting or open
 * socket.
 */
enum fabric_close iwarp_socket_close_reason(bool connecting, int err);
/**
 * iwarp_socket_has_ended - Returns true if the peer has closed or reset @fd, even with unread data
 * before that.
 */
bool iwarp_socket_has_ended(int fd);
/** iwarp_tcp_mss_sent - Counts @len_bytes that the socket accepted. */
void iwarp_tcp_mss_sent(struct iwarp_tcp_mss *tcp_mss, size_t len_bytes);
/** iwarp_tcp_mss_changed - Queries @fd if it is due. Returns true if mss_bytes has changed. */
bool iwarp_tcp_mss_changed(struct iwarp_tcp_mss *tcp_mss, int fd);

#endif
