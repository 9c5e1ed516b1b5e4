/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies to the TCP leg's Calls: whose they are, and whether they may be passed on. */
#ifndef RPCTCP_RX_REPLY_H
#define RPCTCP_RX_REPLY_H

#include "rpctcp/message.h"

/** rx_reply_begin - the record is a Reply to @xid: receive it, or throw it away. */
void rx_reply_begin(struct tcp_messages *msgs, uint32_t xid);
/** rx_reply_overflow - it is longer than it may be. */
void rx_reply_overflow(struct tcp_messages *msgs);
/** rx_reply_grown - more of it is here: the owner gets what there is, if it may. */
void rx_reply_grown(struct tcp_messages *msgs);
/** rx_reply_end - it is complete: the owner gets it, or a fault. */
void rx_reply_end(struct tcp_messages *msgs);

#endif
