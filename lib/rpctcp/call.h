/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP leg's messages: what each record is, what memory it may have, and who gets it.
 *
 * A Call that is in the input from end to end is looked at before it takes any memory, so that it claims
 * no more than it can need. A longer one is received in place, for a claim by its length and the service's
 * limits, and looked at when it is complete.
 *
 * A server's Calls are few and small (TCP_REVERSE_*), and take nothing from the budget: their Replies may
 * stand behind clients' Calls that wait for it, and neither would ever go on.
 */
#ifndef RPCTCP_CALL_H
#define RPCTCP_CALL_H

#include "rpctcp/flight.h"
#include "rpctcp/input.h"
#include "rpctcp/output.h"

#define TCP_REVERSE_CALLS_MAX 64u
#define TCP_REVERSE_MAX_BYTES (16u * 1024u) /* of a reverse Call, and of its Reply */

/* What is known of the record that is being received, and what it holds. */
struct tcp_calls {
	struct tcp_conn *conn;
	struct tcp_flight *flight;
	struct tcp_output *out;
	struct tcp_input *in;
	enum rpc_msg_type type;
	struct budget_claim claim; /* for a Call and its Reply, until the exchange gets it */
	struct exchange *call;     /* of the Call that is taken in, once it has been looked at */
	struct exchange *x;        /* a reference to that whose Reply it is */
};

/** tcp_calls_init - what tcp_calls_events are for, when @in is initialized with it. */
void tcp_calls_init(struct tcp_calls *calls, struct tcp_conn *conn, struct tcp_flight *flight,
		    struct tcp_output *out, struct tcp_input *in);
/** tcp_calls_fini - let go of what the record holds; once is enough. */
void tcp_calls_fini(struct tcp_calls *calls);
/** tcp_calls_drain - take no further Call, not even one that has come in part. */
void tcp_calls_drain(struct tcp_calls *calls);

extern const struct tcp_input_events tcp_calls_events;

#endif
