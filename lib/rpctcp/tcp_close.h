/* SPDX-License-Identifier: BSD-3-Clause */
/* How a TCP leg ends: in good order, when its time is up, and when all has been answered. */
#ifndef RPCTCP_TCP_CLOSE_H
#define RPCTCP_TCP_CLOSE_H

#include "rpctcp/tcp_leg_priv.h"

/** tcp_close_for - close for @why; if it is closing, LEG_CLOSE_SHUTDOWN sets a limit to that. */
void tcp_close_for(struct tcp_leg *leg, enum leg_close why);
/** tcp_close_check_done - OPEN and DRAINING: end if that is due and all has been answered. */
void tcp_close_check_done(struct tcp_leg *leg);
/** tcp_close_check_flushed - FLUSHING: our end of the stream, when all is sent. */
void tcp_close_check_flushed(struct tcp_leg *leg);
/** tcp_close_say - closing() and closed() as they are due; the leg may be freed in there. */
void tcp_close_say(struct tcp_leg *leg);
/** tcp_close_expired - a deadline has passed, of the leg @arg. */
void tcp_close_expired(void *arg, enum tcp_due which);

#endif
