/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closes a TCP leg: tcp_close() is the only way, at any depth of calls.
 *
 * It marks the connection and closes its stream, immediately or after the queued output was sent;
 * nothing else. Everything that the leg holds stays valid until the task frees it. So the caller of
 * a function that failed just returns; it continues only while tcp_conn_is_open().
 */
#ifndef RPCTCP_TCP_CLOSE_H
#define RPCTCP_TCP_CLOSE_H

#include "base/compiler.h"
#include "rpctcp/tcp_leg_priv.h"

/*
 * How to end the stream. Both values reset a connection if a partly sent record can never be
 * completed. They also reset a connection to a server: its output is not wanted, and its source
 * port must be free for the client's next connection. Exception: for LEG_CLOSE_LOCAL and
 * LEG_CLOSE_SHUTDOWN a server connection is closed gracefully.
 */
enum tcp_close_how {
	TCP_CLOSE_FLUSH, /* the owner closes: a client first gets the queued output */
	TCP_CLOSE_NOW,   /* immediately; a server that has ended the stream itself is not reset */
};

/**
 * tcp_close - Closes the connection for @why; the task calls closing() and closed()
 * @err: the socket's errno that caused it, or 0
 * @fmt: a sentence for the log, or "%s" and ""
 *
 * Only the first reason counts. If the leg is closing already, TCP_CLOSE_NOW ends the stream
 * immediately, and TCP_CLOSE_FLUSH for LEG_CLOSE_SHUTDOWN limits the time of the close.
 */
void tcp_close(struct tcp_leg *leg, enum leg_close why, enum tcp_close_how how, int err,
	       const char *fmt, ...) PRINTF_LIKE(5, 6);
/**
 * tcp_close_broken - Calls tcp_close() immediately for @err, the errno of a stream that was
 * connected.
 */
void tcp_close_broken(struct tcp_leg *leg, int err);
/**
 * tcp_close_peer_ended - Calls tcp_close() immediately: the peer has ended its stream and awaits
 * nothing.
 */
void tcp_close_peer_ended(struct tcp_leg *leg);

/** tcp_close_check_done - OPEN and DRAINING: closes if required and everything was answered. */
void tcp_close_check_done(struct tcp_leg *leg);
/** tcp_close_check_flushed - FLUSHING: ends our side of the stream when everything was sent. */
void tcp_close_check_flushed(struct tcp_leg *leg);
/** tcp_close_linger - LINGERING: discards what the peer still sends, up to its end of stream. */
void tcp_close_linger(struct tcp_leg *leg);
/** tcp_close_expired - FLUSHING, LINGERING: the time is over, unless the peer is still reading. */
void tcp_close_expired(struct tcp_leg *leg);
/** tcp_close_notify - Calls closing() if it is due. */
void tcp_close_notify(struct tcp_leg *leg);

#endif
