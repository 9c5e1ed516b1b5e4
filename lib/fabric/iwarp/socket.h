/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP sockets of the iwarp fabric, and what endpoints and listeners have of them. */
#ifndef FABRIC_IWARP_SOCKET_H
#define FABRIC_IWARP_SOCKET_H

#include <netinet/in.h>

#include "fabric/iwarp/engine.h"

struct iwarp_incoming {
	struct fabric_incoming in;
	int fd;
};

/*
 * TCP's segment size: it grows with the peer's window, and follows the path. It is asked for before something is
 * sent, ever more seldom as it stays. All zero: it is to be asked for as soon as there is a connection.
 */
struct iwarp_segment {
	int mss_bytes;                  /* when it was last asked for; 0: it was never known */
	size_t sent_bytes, every_bytes; /* since then; when to ask again */
};

struct iwarp_ep {
	struct fabric_ep ep;
	struct iwarp_engine *engine;
	int fd;
	struct loop_io *io;
	struct loop_timer *timer;
	uint64_t timer_at; /* UINT64_MAX: not set */
	struct loop_task flush;
	bool connecting; /* TCP is not up yet */
	bool blocked;    /* the socket takes no more for now */
	bool fin_sent;
	bool end_due; /* the peer's end has come: what is here is read in one go */
	bool closed;  /* closed() has been or is being called */
	unsigned watched;
	struct iwarp_segment segment;
	struct sockaddr_storage local, peer;
};

#define IWARP_KEEPALIVE_S 30u /* unless the configuration says otherwise */

/**
 * iwarp_socket_tune - TCP_NODELAY, keepalive and the bound on unanswered data; best effort
 * @fd: one that connects, or a listener: what is accepted there inherits them
 */
void iwarp_socket_tune(int fd, const struct iwarp_config *config);
/** iwarp_socket_spread - ask the peer at @fd, which was accepted, when not all others are asked. */
void iwarp_socket_spread(int fd, const struct iwarp_config *config);
/**
 * iwarp_socket_connect - a TCP connection on its way
 * @params: where it comes from
 *
 * Returns the descriptor, or a negative errno; of a port that cannot be had -EADDRINUSE or -EADDRNOTAVAIL.
 */
int iwarp_socket_connect(const struct sockaddr *addr,
			 const struct fabric_ep_params *params) MUST_CHECK;
/** iwarp_socket_why - what @err, an errno, says of a socket that is @connecting, or that was up. */
enum fabric_close iwarp_socket_why(bool connecting, int err);
/** iwarp_socket_has_ended - whether the peer has ended or reset the connection at @fd, whatever is unread before that. */
bool iwarp_socket_has_ended(int fd);
/** iwarp_segment_sent - the socket has taken @len_bytes. */
void iwarp_segment_sent(struct iwarp_segment *segment, size_t len_bytes);
/** iwarp_segment_changed - ask @fd, if it is time to; returns whether mss_bytes has another value now. */
bool iwarp_segment_changed(struct iwarp_segment *segment, int fd);

#endif
