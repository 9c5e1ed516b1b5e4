/* SPDX-License-Identifier: BSD-3-Clause */
/* The record that a TCP leg is receiving: what it holds, and the ways to be rid of it. */
#ifndef RPCTCP_MESSAGE_H
#define RPCTCP_MESSAGE_H

#include "rpctcp/inflight.h"
#include "rpctcp/record_rx.h"
#include "rpctcp/record_tx.h"

/* What is known of the record that is being received, and what it holds. */
struct tcp_messages {
	struct tcp_conn *conn;
	struct inflight *flight;
	struct record_tx *out;
	struct record_rx *in;
	uint32_t limit_bytes; /* of a Call, and of a Reply to one */
	enum rpc_msg_type type;
	struct budget_claim claim; /* for a Call and its Reply; see call_admission.h */
	bool claim_is_exact;       /* for no more than is known to be needed */
	struct exchange *call;     /* of the Call that is taken in, once it has been looked at */
	uint32_t ceiling_bytes;    /* of its Reply: what is claimed for */
	struct exchange *x;        /* a reference to that whose Reply it is */
	/* What keeps Calls from being passed on, and those that wait. See call_admission.h. */
	bool paused;             /* leg_pause() */
	bool full;               /* TCP_CALLS_MAX are in flight */
	bool reverse;            /* a Call to the peer is out, on an accepted leg */
	bool stuck;              /* the Call that comes can neither be passed on nor parked */
	struct exchange *parked; /* the first; all behind it in flight->in_list are parked too */
	unsigned nparked;
	size_t parked_bytes; /* of their buffers */
};

/** tcp_message_is_given - whether the Call that is taken in has been given up already, and goes on to grow. */
static inline bool tcp_message_is_given(const struct tcp_messages *msgs)
{
	return msgs->call && msgs->call->call.buf;
}

/** tcp_message_let_go - give back what is held for the record; once is enough. */
void tcp_message_let_go(struct tcp_messages *msgs);
/** tcp_message_skip - throw away the rest of the record, and let go of it. */
void tcp_message_skip(struct tcp_messages *msgs);
/** tcp_message_answer - skip it, and send a Reply of our own; fails the leg without memory. */
void tcp_message_answer(struct tcp_messages *msgs, const uint8_t *reply, size_t len_bytes);
/** tcp_message_body - receive it into memory for @cap_bytes; fails the leg without memory. */
void tcp_message_body(struct tcp_messages *msgs, enum rpc_msg_type type, uint32_t cap_bytes);

#endif
