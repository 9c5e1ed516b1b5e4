/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP leg's messages: what each record is, and who deals with it. */
#ifndef RPCTCP_MESSAGES_H
#define RPCTCP_MESSAGES_H

#include "rpctcp/message.h"

/** tcp_messages_init - what tcp_messages_events are for, when @in is initialized with it. */
void tcp_messages_init(struct tcp_messages *msgs, struct tcp_conn *conn, struct inflight *flight,
		       struct record_tx *out, struct record_rx *in);
/** tcp_messages_fini - let go of what the record holds; once is enough. */
void tcp_messages_fini(struct tcp_messages *msgs);
/** tcp_messages_drain - take no further Call, not even one that has come in part. */
void tcp_messages_drain(struct tcp_messages *msgs);

extern const struct record_rx_events tcp_messages_events;

#endif
