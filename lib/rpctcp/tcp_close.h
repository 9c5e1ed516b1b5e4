/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a TCP leg ends: tcp_close() is the one way, at any depth of calls.
 *
 * It marks the connection and closes its stream, now or when what is queued has been sent, and nothing else. All that the leg
 * holds stays valid until the task lets go of it, so that whoever called what failed just returns; it goes on working
 * only while tcp_conn_is_open().
 */
#ifndef RPCTCP_TCP_CLOSE_H
#define RPCTCP_TCP_CLOSE_H

#include "base/compiler.h"
#include "rpctcp/tcp_leg_priv.h"

/*
 * How the stream ends. Either manner resets a connection on which a record has left in part and will never be complete; and
 * one to a server, since nothing that it still says is wanted, and the source port is free at once for the client's next
 * connection. But a server gets an end in good order for LEG_CLOSE_LOCAL and LEG_CLOSE_SHUTDOWN.
 */
enum tcp_close_how {
	TCP_CLOSE_FLUSH, /* the owner closes: a client is sent what is queued for it, and reads to the end */
	TCP_CLOSE_NOW, /* it cannot go on; a server that has ended the stream itself is not reset */
};

/**
 * tcp_close - end the connection for @why; the task calls closing() and closed()
 * @err: the errno of its socket that ended it, or 0
 * @fmt: a sentence for the log, or "%s" and ""
 *
 * Only the first reason counts. If it is closing already, TCP_CLOSE_NOW ends that at once, and TCP_CLOSE_FLUSH for
 * LEG_CLOSE_SHUTDOWN sets a limit to it.
 */
void tcp_close(struct tcp_leg *leg, enum leg_close why, enum tcp_close_how how, int err,
	       const char *fmt, ...) PRINTF_LIKE(5, 6);
/** tcp_close_broken - tcp_close() at once, for what @err, the errno of a stream that was up, says of the peer. */
void tcp_close_broken(struct tcp_leg *leg, int err);
/** tcp_close_peer_ended - tcp_close() at once, since the peer has ended its stream and is owed nothing more. */
void tcp_close_peer_ended(struct tcp_leg *leg);

/** tcp_close_check_done - OPEN and DRAINING: end if that is due and all has been answered. */
void tcp_close_check_done(struct tcp_leg *leg);
/** tcp_close_check_flushed - FLUSHING: end our side of the stream when all is sent. */
void tcp_close_check_flushed(struct tcp_leg *leg);
/** tcp_close_linger - LINGERING: discard what the peer still sends, up to its end. */
void tcp_close_linger(struct tcp_leg *leg);
/** tcp_close_expired - FLUSHING, LINGERING: time is up, unless the peer goes on taking what is sent. */
void tcp_close_expired(struct tcp_leg *leg);
/** tcp_close_tell - call closing() if that is due. */
void tcp_close_tell(struct tcp_leg *leg);

#endif
