/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time limit for reverse Calls to a TCP client (D4.2-2): each fails for EXCHANGE_FAULT_LATE if the client has not begun to
 * answer it within reverse_timeout_us of when it came here, so that it gives its server's credit back. If nothing of it has been
 * sent yet, since the client reads slowly, it is not sent any more. A Reply that comes later matches no Call, and is thrown
 * away.
 */
#ifndef RPCTCP_LATE_H
#define RPCTCP_LATE_H

#include "rpctcp/message.h"

/** tcp_late_watch - a Call to the peer has come into flight; nothing for one to a server, or without a time limit. */
void tcp_late_watch(struct tcp_messages *msgs);
/** tcp_late_expired - TCP_DUE_REVERSE has passed: fail the Calls that are late, and set it for the next one. */
void tcp_late_expired(struct tcp_messages *msgs);

#endif
